#!/usr/bin/env bats
# probe: restart, contract, load and reward, and the line that says whether the environment is fit to train on.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# property NAME: the row of that property in lines, "status value"
property() {
	jq -r --arg name "$1" 'select(.type == "property" and .name == $name) | "\(.status) \(.value)"' lines
}

@test "fit to train: yes, with a solution, on both protocols" {
	for protocol in mcp openenv; do
		rolldbg run --quiet --env "builtin:frozen_lake?protocol=$protocol" --actions "$goal" --seed 7 --out golden.jsonl --force
		expect 0 rolldbg probe --env "builtin:frozen_lake?protocol=$protocol&max_envs=8" --sessions 8 --solution golden.jsonl
		has "$output" 'fit to train: yes (capacity 8 of 8; history kept; isolation 8 isolated; reward ceiling 1, floor 0)'
		has "$output" 'ok       restart       from the start: '
		has "$output" 'ok       contract      kept: seed 7 leads to its start again after another seed; calls after the end earn nothing'
		has "$output" 'ok       load          8 sessions at once: a call takes '
		has "$output" 'the solution earns 1 in 6 calls; no action 0; random calls 0 0 0; one call '
	done
}

@test "fit to train: no, and why; unknown, and what is missing" {
	rolldbg run --quiet --out golden.jsonl
	rolldbg probe --json --env 'builtin:frozen_lake?max_envs=3' --sessions 8 --solution golden.jsonl >lines || [ $? = 1 ]
	[ "$(jq -r 'select(.type == "summary") | .fit, .fit_why' lines)" = $'no\ncapacity 3 of 8' ]
	expect 0 rolldbg probe --env 'builtin:frozen_lake?max_envs=4'
	has "$output" 'fit to train: unknown (reward floor 0, no solution given)'
	has "$output" 'fix: show what a solution earns: --solution FILE, a policy or a recording'
	rolldbg probe --json --env 'builtin:frozen_lake?max_envs=4&fault=rebuild' --solution golden.jsonl >lines || [ $? = 1 ]
	jq -es 'last | .fit == "no" and (.fit_why | contains("history no history"))' lines
}

@test "reward: solutions that earn nothing, fail, do not fit, or are one call" {
	expect 3 rolldbg probe --env 'builtin:frozen_lake?max_envs=4' --solution shortest-not.json
	has "$stderr" 'shortest-not.json'
	echo '{"kind":"script","calls":[{"name":"lake_move","arguments":{"action":"UP"}}]}' >up.json
	rolldbg probe --json --env 'builtin:frozen_lake?max_envs=4' --solution up.json >lines || [ $? = 1 ]
	[ "$(property reward)" = 'fail ceiling 0, floor 0' ]
	rolldbg run --quiet --out golden.jsonl
	rolldbg probe --json --env builtin:desk --solution golden.jsonl >lines
	[ "$(property reward)" = 'unknown the policy does not fit' ]
	rolldbg probe --json --env 'builtin:frozen_lake?max_envs=3&fault=fallback-session&fault=capacity' --sessions 2 --settle 200ms --solution golden.jsonl >lines || [ $? = 1 ]
	[ "$(property reward)" = 'unknown not tested' ]
}

@test "load: nothing is said where sessions are known to be mixed up or leaked" {
	for fault in alias leak-slot; do
		rolldbg probe --json --env "builtin:frozen_lake?protocol=openenv&max_envs=2&fault=$fault" --sessions 3 --settle 200ms --actions DOWN,UP >lines || [ $? = 1 ]
		[ "$(property load)" = 'unknown not tested' ]
	done
}
