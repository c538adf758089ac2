#!/usr/bin/env bats
# Goldens of real servers: recorded on one generation and replayed on an older one, which to a golden is the same as an
# upgrade. Every change must be reported, and nothing else.

load lib

to_goal=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

setup_file() {
	at_once 'gym_start newest D gym_lake.py' 'gym_start c C gym_lake.py' 'gym_start b B gym_lake.py' \
		'openenv_start new 0.10' 'openenv_start v3 0.3'
}

# golden NAME SERVER OPTION..: records and strips a run on the server.
golden() {
	local name=$1 server=$2
	shift 2
	"$ROLLDBG" run --quiet --task "$name" --env "$(url "$server")" --out raw.jsonl --force --fail-on never "$@"
	"$ROLLDBG" strip raw.jsonl >"$name.jsonl"
}

# replay CODE SERVER OPERAND..: runs replay, which must exit with CODE; sets $output and writes `differences`, one per line.
replay() {
	local wanted=$1 server=$2 got=0
	shift 2
	"$ROLLDBG" replay --env "$(url "$server")" --out replayed.jsonl --force --report json:report.jsonl \
		--report junit:report.xml "$@" >printed 2>&1 || got=$?
	[ "$got" = "$wanted" ] || {
		echo "exit code $got, expected $wanted"
		cat printed
		return 1
	}
	output=$(cat printed)
	jq -r 'select(.type == "difference") | "\(.line) \(.step // "-") \(.pointer) \(.expected) -> \(.got)"' report.jsonl >differences
}

@test "eval-protocol 0.3.33 on 0.2.22: moves, walls, a map from the config, refused calls: no differences" {
	cat >odd.json <<-'JSON'
		{"kind": "script", "name": "odd", "calls": [
			{"name": "lake_move", "arguments": {"action": "DOWN"}}, {"name": "lake_move", "arguments": {"action": "NORTH"}},
			{"name": "lake_move", "arguments": {"way": "DOWN"}}, {"name": "lake_jump", "arguments": {}},
			{"name": "lake_move", "arguments": {"action": "UP"}}]}
	JSON
	mkdir goldens
	golden goldens/goal newest --actions $to_goal
	golden goldens/seeded newest --actions LEFT,DOWN,DOWN,RIGHT --seed 42
	golden goldens/odd newest --policy odd.json --force-call
	[ "$(jq -r 'select(.type == "step") | .outcome' goldens/odd.jsonl | paste -sd,)" = ok,tool-error,tool-error,tool-error,ok ]
	for server in newest c; do
		replay 0 $server goldens --jobs 3
		[ "$output" = 'no differences · 3 rollouts · 15 steps' ]
	done
	grep -q 'tests="3" failures="0" errors="0"' report.xml
}

# Before 0.2.23 a call without a preceding reset raises KeyError, and a client of plain MCP does not reset.
@test "eval-protocol 0.3.33 on 0.2.22 as plain MCP: the older one loses each call, which is reported" {
	golden plain newest --actions DOWN,RIGHT --protocol mcp --state observation
	replay 0 newest plain.jsonl --protocol mcp --state observation
	replay 1 c plain.jsonl --protocol mcp --state observation
	diff - <(grep -v -e /state -e /observation differences) <<-'END'
		step 0 /outcome ok -> session-lost
		step 0 /error/class null -> session
		step 1 /outcome ok -> session-lost
		step 1 /error/class null -> session
	END
	[ "$(grep -c "/observation .* -> Error executing tool lake_move: '<session>'" differences)" = 2 ]
	[[ $output == *$'plain.jsonl: rollout plain.0\n  first divergence: step 0 of 2; '* ]]
	[[ $output == *$'\n  step 0  lake_move action=DOWN\n    /outcome  ok -> session-lost\n'* ]]
	grep -q 'tests="1" failures="1" errors="0"' report.xml
	grep -q 'message="step 0  lake_move action=DOWN: /outcome  ok -&gt; session-lost (and ' report.xml
}

# That server honors the seed only if its first request is a call, so the state before it cannot be read.
@test "eval-protocol 0.3.33 on reward-kit 0.4.1: with a seed the first state is unknown, the rest is equal" {
	golden seeded newest --actions DOWN,DOWN --seed 42
	replay 1 b seeded.jsonl
	diff - <(sed 's/{.*} ->/{..} ->/' differences) <<-'END'
		reset - /observation {..} -> null
		step 0 /state {..} -> null
	END
	golden goal newest --actions $to_goal
	replay 0 b goal.jsonl
}

@test "OpenEnv core 0.10 on 0.3: only the metadata of observations is missing; with a mask the golden passes" {
	golden lake new --actions $to_goal --seed 42
	replay 0 new lake.jsonl
	replay 1 v3 lake.jsonl
	diff - <(sed 's/{.*}/{..}/' differences) <<-'END'
		reset - /observation/metadata {..} -> null
		step 0 /observation/metadata {..} -> null
		step 1 /observation/metadata {..} -> null
		step 2 /observation/metadata {..} -> null
		step 3 /observation/metadata {..} -> null
		step 4 /observation/metadata {..} -> null
		step 5 /observation/metadata {..} -> null
	END
	replay 0 v3 lake.jsonl --mask /observation/metadata
	[ "$output" = 'no differences · 1 rollout · 6 steps' ]
	# a golden accepted on the older server differs on the newer one by the added metadata
	replay 0 v3 lake.jsonl --accept
	replay 0 v3 lake.jsonl
	replay 1 new lake.jsonl
	[ "$(cut -d ' ' -f 3,4 differences | sort -u)" = '/observation/metadata null' ]
}
