#!/usr/bin/env bats
# probe on real servers: healthy ones have no failures, and session limits are found.

load lib

setup_file() {
	gym_start newest D gym_lake.py
	gym_start c C gym_lake.py
	gym_start b B gym_lake.py
	gym_start a A gym_lake.py
}

# run_probe NAME EXIT_CODE OPTIONS..: the output goes to NAME.lines.
run_probe() {
	local name=$1 wanted=$2 got=0
	shift 2
	"$ROLLDBG" probe --json "$@" >"$name.lines" 2>"$name.err" || got=$?
	[ "$got" = "$wanted" ] && return
	echo "$name: exit code $got, expected $wanted"
	cat "$name.err" "$name.lines"
	return 1
}

# not_ok NAME: "property status" of each property that is not ok, in the order of the table.
not_ok() {
	jq -r 'select(.type == "property" and .status != "ok") | "\(.name) \(.status)"' "$1.lines" | paste -sd ,
}

# expect_not_ok NAME EXPECTED: exactly these properties are not ok.
expect_not_ok() {
	[ "$(not_ok "$1")" = "$2" ] && return
	echo "$1: '$(not_ok "$1")', expected '$2'"
	cat "$1.lines"
	return 1
}

# expect_property NAME PROPERTY FILTER: the jq filter is true for that property.
expect_property() {
	jq -es --arg name "$2" "map(select(.name == \$name)) | length == 1 and all($3)" "$1.lines" >/dev/null && return
	echo "$1: $2: not true: $3"
	cat "$1.lines"
	return 1
}

@test "MCP-Gym: four isolated sessions, seeds honored, on two generations" {
	for server in newest c; do
		run_probe $server 0 --env "$(url $server)" --actions DOWN,DOWN,RIGHT,RIGHT
		expect_not_ok $server 'release unknown,reward unknown'
		expect_property $server capacity '.value == "4 of 4"'
		expect_property $server isolation '.value == "4 isolated"'
		expect_property $server seed '.evidence | contains("seed 42 repeats its episode, and seed 43 gives a different one; steps in another session do not affect it")'
	done
}

@test "MCP-Gym: for a tool that takes any string, values come from the server's texts" {
	run_probe words 0 --env "$(url newest)"
	expect_not_ok words 'release unknown,reward unknown'
	expect_property words statefulness '.value == "state kept between calls"'
}

@test "reward-kit 0.4.1: no reset within a session, environment ids are hashes" {
	run_probe b 0 --env "$(url b)" --actions DOWN,DOWN,RIGHT,RIGHT
	expect_not_ok b 'reset skipped,release unknown,reward unknown'
	expect_property b seed '.value == "reproducible"'
}

@test "reward-kit 0.3.6: one environment for all clients is reported" {
	run_probe a 1 --env "$(url a)" --actions DOWN,RIGHT,LEFT,UP
	expect_not_ok a 'reset skipped,release unknown,statefulness unknown,history unknown,isolation fail,seed skipped,restart unknown,load unknown,reward unknown'
	expect_property a isolation '.evidence | contains("only session 1 acted, but the state of session 2 changed")'
}

@test "OpenEnv: the cap of every generation is reached, reported and released" {
	local generation cap
	for generation in 0.10 0.3 0.2; do
		for cap in 1 2 8; do
			[ $cap = 2 ] || [ $generation = 0.10 ] || continue
			openenv_start oe-$generation-$cap $generation --cap $cap
			for round in 1 2; do
				run_probe full$round 1 --env "$(url oe-$generation-$cap)" --sessions $((cap + 1)) --actions DOWN,DOWN,RIGHT
				expect_property full$round capacity ".status == \"fail\" and .value == \"$cap of $((cap + 1))\""
				expect_property full$round capacity ".evidence | contains(\"session $((cap + 1)) was refused: Server at capacity: $cap/$cap sessions active\")"
				expect_property full$round capacity '.fix | contains("MAX_CONCURRENT_ENVS")'
				expect_property full$round release ".status == \"ok\" and .value == \"all $cap freed\""
			done
			[ $cap = 1 ] && wanted='capacity fail,isolation skipped,seed unknown,reward unknown' || wanted='capacity fail,seed unknown,reward unknown'
			expect_not_ok full2 "$wanted"
			run_probe enough 0 --env "$(url oe-$generation-$cap)" --need $cap --actions DOWN,DOWN,RIGHT
			servers_stop "$BATS_TEST_TMPDIR"
		done
	done
}

@test "OpenEnv: an uninformative state, an environment with MCP tools" {
	openenv_start bare 0.10 --cap 4 --world bare
	run_probe bare 0 --env "$(url bare)" --actions DOWN,DOWN,RIGHT
	expect_not_ok bare 'state-source unknown,release unknown,seed unknown,reward unknown'
	expect_property bare state-source '.evidence | contains("only episode_id and step_count")'
	openenv_start tools 0.10 --cap 4 --world tools
	run_probe tools 0 --env "$(url tools)"
	expect_not_ok tools 'release unknown,seed unknown,reward skipped'
	expect_property tools tools '.value == "2 advertised; 2 of 2 tested replied"'
}

@test "OpenEnv over plain HTTP: no sessions, and every call starts over, or all share one" {
	openenv_start http 0.10 --cap 4
	run_probe http 1 --env "$(url http)" --protocol openenv-http --actions DOWN,DOWN,RIGHT
	expect_property http capacity '.status == "fail" and .value == "no sessions"'
	expect_property http statefulness '.status == "fail" and .value == "state lost between calls"'
	openenv_start old 0.1
	cat >walk.json <<-'JSON'
		{"kind": "script", "name": "walk", "calls": [{"name": "step", "arguments": {"direction": "DOWN"}}, {"name": "step", "arguments": {"direction": "DOWN"}}, {"name": "step", "arguments": {"direction": "RIGHT"}}]}
	JSON
	run_probe old 1 --env "$(url old)" --protocol openenv-http --policy walk.json
	expect_property old statefulness '.status == "ok"'
	expect_property old isolation '.status == "fail"'
	run_probe refused 4 --env "$(url old)" --actions DOWN
	[ ! -s refused.lines ]
}

@test "MCP SDK: a session limit, a shared world, and no state" {
	for sdk in 1 2; do
		sdk_start sdk$sdk $sdk --max-sessions 3
		run_probe sdk$sdk 1 --env "$(url sdk$sdk)"
		expect_property sdk$sdk capacity '.status == "fail" and .value == "3 of 4" and (.evidence | contains("Too many open sessions")) and (.fix | contains("max_sessions"))'
		expect_not_ok sdk$sdk 'capacity fail,tools unknown,reset skipped,state-source unknown,statefulness unknown,history unknown,isolation unknown,seed skipped,restart unknown,contract unknown,load unknown,reward skipped'
		run_probe shared$sdk 1 --env "$(url sdk$sdk)" --state resource:state://counter --tool count --actions 1,2 --need 3
		expect_property shared$sdk statefulness '.status == "unknown" and (.evidence | contains("sessions do not start alike: they differ at /value"))'
		expect_property shared$sdk isolation '.status == "fail" and (.evidence | contains("/value from 0 to 3"))'
	done
}

@test "MCP SDK without sessions: unknown, never fail" {
	sdk_start free 1 --stateless
	run_probe free 0 --env "$(url free)" --call-read-only
	expect_property free capacity '.evidence == "the server assigns no session ids: it may be stateless"'
	expect_property free tools '.status == "ok" and .value == "5 advertised; 3 of 3 tested replied"'
}

@test "server-everything: healthy, and only requested tools are called" {
	everything_start everything
	run_probe everything 0 --env "$(url everything)"
	expect_not_ok everything 'tools unknown,reset skipped,state-source unknown,release unknown,statefulness unknown,history unknown,isolation unknown,seed skipped,restart unknown,contract unknown,load unknown,reward skipped'
	expect_property everything tools '.value | endswith("none called")'
	run_probe asked 0 --env "$(url everything)" --tool echo --actions hello,world --sessions 2
	expect_property asked tools '.value | endswith("1 of 1 tested replied")'
}

@test "OpenEnv: counts that skip, decrease or start anew, and counters of the server, are no faults; shared worlds are" {
	zoo_start worlds
	local base world
	base=$(url worlds) base=${base%/mcp}
	for world in autoreset levels moves-left take-back random-skip; do
		run_probe $world 0 --env "$base/$world" --actions up,up,down,up
		expect_property $world statefulness '.status != "fail"'
		expect_property $world reset '.status != "fail"'
	done
	for world in leaderboard requests-served; do
		run_probe $world 0 --env "$base/$world" --actions up,up,down,up
		expect_property $world isolation '.status != "fail"'
		expect_property $world seed '.status != "fail"'
	done
	run_probe shared-table 1 --env "$base/shared-table" --actions 3,3,2,5
	expect_property shared-table isolation '.status == "fail"'
	# One entry a call is a count, which proves no sharing; that no reset clears it is seen.
	run_probe diary 1 --env "$base/everybody-diary" --actions 3,3,2,5
	expect_property diary reset '.status == "fail"'
	run_probe last-seen 1 --env "$base/last-seen-lift" --actions up,down
	expect_property last-seen seed '.status == "fail" and (.evidence | contains("not while another session calls"))'
	for world in own-told tickets-told; do
		run_probe $world 0 --env "$base/$world" --actions up,down
		expect_property $world isolation '.status != "fail"'
	done
}
