#!/usr/bin/env bats
# probe on real servers: healthy ones fail nothing, and their caps are met where they are.

load lib

setup_file() {
	gym_start newest D gym_lake.py
	gym_start c C gym_lake.py
	gym_start b B gym_lake.py
	gym_start a A gym_lake.py
}

# probed NAME EXIT_CODE OPTIONS..: the lines in NAME.lines.
probed() {
	local name=$1 wanted=$2 got=0
	shift 2
	"$ROLLDBG" probe --json "$@" >"$name.lines" 2>"$name.err" || got=$?
	[ "$got" = "$wanted" ] && return
	echo "$name: exit code $got, expected $wanted"
	cat "$name.err" "$name.lines"
	return 1
}

# status NAME: "property status" of all that is not ok, in the order of the table.
not_ok() {
	jq -r 'select(.type == "property" and .status != "ok") | "\(.name) \(.status)"' "$1.lines" | paste -sd ,
}

# is NAME WANTED: what is not ok is exactly this.
is() {
	[ "$(not_ok "$1")" = "$2" ] && return
	echo "$1: '$(not_ok "$1")', expected '$2'"
	cat "$1.lines"
	return 1
}

# says NAME PROPERTY FILTER: a jq expression that holds for that property.
says() {
	jq -es --arg name "$2" "map(select(.name == \$name)) | length == 1 and all($3)" "$1.lines" >/dev/null && return
	echo "$1: $2: not true: $3"
	cat "$1.lines"
	return 1
}

@test "MCP-Gym: four isolated sessions, seeds honored, on two generations" {
	for server in newest c; do
		probed $server 0 --env "$(url $server)" --actions DOWN,DOWN,RIGHT,RIGHT
		is $server 'release unknown'
		says $server capacity '.value == "4 of 4"'
		says $server isolation '.value == "4 isolated"'
		says $server seed '.evidence | contains("seed 42 repeats its episode, and seed 43 gives a different one; steps in another session do not affect it")'
	done
}

@test "MCP-Gym: for a tool that takes any string, values come from the server's texts" {
	probed words 0 --env "$(url newest)"
	is words 'release unknown'
	says words statefulness '.value == "state kept between calls"'
}

@test "reward-kit 0.4.1: no reset within a session, environment ids are hashes" {
	probed b 0 --env "$(url b)" --actions DOWN,DOWN,RIGHT,RIGHT
	is b 'reset skipped,release unknown'
	says b episode-id '.value == "assigned by the server"'
	says b seed '.value == "reproducible"'
}

@test "reward-kit 0.3.6: one environment for all clients is reported" {
	probed a 1 --env "$(url a)" --actions DOWN,RIGHT,LEFT,UP
	is a 'isolation fail,reset skipped,release unknown,seed skipped'
	says a isolation '.evidence | contains("only session 1 acted, but the state of session 2 changed")'
}

@test "OpenEnv: the cap of every generation is reached, reported and released" {
	local generation cap
	for generation in 0.10 0.3 0.2; do
		for cap in 1 2 8; do
			[ $cap = 2 ] || [ $generation = 0.10 ] || continue
			openenv_start oe-$generation-$cap $generation --cap $cap
			for round in 1 2; do
				probed full$round 1 --env "$(url oe-$generation-$cap)" --sessions $((cap + 1)) --actions DOWN,DOWN,RIGHT
				says full$round capacity ".status == \"fail\" and .value == \"$cap of $((cap + 1))\""
				says full$round capacity ".evidence | contains(\"session $((cap + 1)) was refused: Server at capacity: $cap/$cap sessions active\")"
				says full$round capacity '.fix | contains("MAX_CONCURRENT_ENVS")'
				says full$round release ".status == \"ok\" and .value == \"all $cap freed\""
			done
			[ $cap = 1 ] && wanted='capacity fail,isolation skipped,seed unknown' || wanted='capacity fail,seed unknown'
			is full2 "$wanted"
			probed enough 0 --env "$(url oe-$generation-$cap)" --need $cap --actions DOWN,DOWN,RIGHT
			servers_stop "$BATS_TEST_TMPDIR"
		done
	done
}

@test "OpenEnv: an uninformative state, an environment with MCP tools" {
	openenv_start bare 0.10 --cap 4 --world bare
	probed bare 0 --env "$(url bare)" --actions DOWN,DOWN
	is bare 'state-source unknown,release unknown,seed unknown'
	says bare state-source '.evidence | contains("only episode_id and step_count")'
	openenv_start tools 0.10 --cap 4 --world tools
	probed tools 0 --env "$(url tools)"
	is tools 'release unknown,seed unknown'
	says tools tools '.value == "2 advertised; 2 of 2 tested replied"'
}

@test "OpenEnv over plain HTTP: no sessions, and every call starts over, or all share one" {
	openenv_start http 0.10 --cap 4
	probed http 1 --env "$(url http)" --protocol openenv-http --actions DOWN,DOWN,RIGHT
	says http capacity '.status == "fail" and .value == "no sessions"'
	says http statefulness '.status == "fail" and .value == "state lost between calls"'
	openenv_start old 0.1
	cat >walk.json <<-'JSON'
		{"kind": "script", "name": "walk", "calls": [{"name": "step", "arguments": {"direction": "DOWN"}}, {"name": "step", "arguments": {"direction": "DOWN"}}, {"name": "step", "arguments": {"direction": "RIGHT"}}]}
	JSON
	probed old 1 --env "$(url old)" --protocol openenv-http --policy walk.json
	says old statefulness '.status == "ok"'
	says old isolation '.status == "fail"'
	probed refused 4 --env "$(url old)" --actions DOWN
	[ ! -s refused.lines ]
}

@test "MCP SDK: a session limit, a shared world, and no state" {
	for sdk in 1 2; do
		sdk_start sdk$sdk $sdk --max-sessions 3
		probed sdk$sdk 1 --env "$(url sdk$sdk)"
		says sdk$sdk capacity '.status == "fail" and .value == "3 of 4" and (.evidence | contains("Too many open sessions")) and (.fix | contains("max_sessions"))'
		is sdk$sdk 'capacity fail,statefulness unknown,isolation unknown,tools unknown,reset skipped,state-source unknown,episode-id skipped,seed skipped'
		probed shared$sdk 1 --env "$(url sdk$sdk)" --state resource:state://counter --tool count --actions 1,2 --need 3
		says shared$sdk statefulness '.status == "ok"'
		says shared$sdk isolation '.status == "fail" and (.evidence | contains("from {\"value\": 0} to {\"value\": 3}"))'
	done
}

@test "MCP SDK without sessions: unknown, never fail" {
	sdk_start free 1 --stateless
	probed free 0 --env "$(url free)" --call-read-only
	says free capacity '.evidence == "the server assigns no session ids: it may be stateless"'
	says free tools '.status == "ok" and .value == "5 advertised; 3 of 3 tested replied"'
}

@test "server-everything: healthy, and only requested tools are called" {
	everything_start everything
	probed everything 0 --env "$(url everything)"
	is everything 'statefulness unknown,isolation unknown,tools unknown,reset skipped,state-source unknown,episode-id skipped,release unknown,seed skipped'
	says everything tools '.value | endswith("none called")'
	probed asked 0 --env "$(url everything)" --tool echo --actions hello,world --sessions 2
	says asked tools '.value | endswith("1 of 1 tested replied")'
}
