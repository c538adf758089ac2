#!/usr/bin/env bats
# Messages that say what to do, or what differs, in the reader's words.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

@test "no command, no policy, no single argument: what to write" {
	expect 2 rolldbg
	has "$stderr" 'no command given; available: run, check, show, '
	expect 2 rolldbg run --env builtin:desk
	has "$stderr" 'A,B,C or --policy FILE (or random:SEED); available tools: get_task, '
	expect 2 rolldbg run --env builtin:desk --tool put_item --actions a
	has "$stderr" "use --call 'put_item key=.. value=..'"
	# with values it runs
	echo '{"kind":"script","calls":[{"name":"put_item","arguments":{"key":"g7","value":"x"}}]}' >policy.json
	expect 0 rolldbg run --env builtin:desk --policy policy.json
}

@test "the state's tool fails: the tool and its error are named, and no control plane" {
	expect 1 rolldbg run --env builtin:desk --policy random:3 --max-turns 4 --state 'tool:get_item:{"key":"zz"}' --out a.jsonl
	has "$output" 'error: missing-state: turns 0-3: 7 reads of the state failed (choose another --state: see rolldbg tools): tool get_item: Error executing tool get_item'
	lacks "$output" 'control-plane-blind'
	expect 1 rolldbg check a.jsonl
	has "$output" '7 reads of the state failed (choose another --state: see rolldbg tools): tool get_item: '
}

@test "a state tool without an argument that it needs, and a pointer that shows nothing: what to write" {
	expect 2 rolldbg run --env builtin:desk --policy random:3 --max-turns 4 --state tool:get_item
	has "$stderr" "tool:get_item: the tool needs the argument 'key': write 'tool:get_item:{\"key\":..}' (Error executing"
	expect 1 rolldbg run --env builtin:desk --policy random:3 --max-turns 4 --state observation:/nowhere
	has "$output" 'no observation has what --state points to'
}

@test "rules without data: few are listed, many are counted" {
	rolldbg run --quiet --out a.jsonl
	rolldbg strip a.jsonl >stripped.jsonl
	expect 0 rolldbg check stripped.jsonl
	[[ ${lines[-1]} =~ ^[1-3]\ of\ [0-9]+\ rules\ need\ data\ that\ is\ not\ recorded,\ stripped\ or\ too\ large:\ [a-z-]+ ]]
	rolldbg convert --quiet a.jsonl --to openai --out messages.jsonl
	expect 0 rolldbg check messages.jsonl
	[[ ${lines[-1]} =~ ^[0-9]+\ of\ [0-9]+\ rules\ .*\ \(-v\ lists\ them\)$ ]]
	expect 0 rolldbg -v check messages.jsonl
	[[ ${lines[-1]} =~ ^[0-9]+\ of\ [0-9]+\ rules\ .*:\ [a-z-]+,\ [a-z-]+,\  ]]
}

@test "a model's base URL without a host is refused before any request" {
	for url in http:// http:///v1 https://:8000/v1; do
		expect 2 rolldbg run --policy llm --model m --base-url "$url"
		has "$stderr" "the model's base URL has no host: '$url'"
		lacks "$stderr" 'retrying'
	done
}

@test "diff: rollouts whose ids differ; in a line, changed values come before new ones" {
	rolldbg run --quiet --task corner --out a.jsonl
	rolldbg run --quiet --task west --out b.jsonl
	expect 1 rolldbg diff a.jsonl b.jsonl
	has "$output" $'rollout corner.0\n- only in the first recording\nrollout west.0\n+ only in the second recording\n'
	has "$output" "their rollouts' ids differ: no id is in both"
	rolldbg run --quiet --task corner --out c.jsonl
	sed -i '0,/"observation":{  "position": 4,/s//"observation":{"a":0,"position":5,/' c.jsonl
	expect 1 rolldbg diff a.jsonl c.jsonl
	has "$output" $'    /observation/position  4 -> 5\n    /observation/a  added: 0\n'
	lacks "$output" 'no id is in both'
}

@test "JUnit: the title names the outcome, reward or status before other differences" {
	rolldbg run --quiet --actions DOWN,DOWN --out a.jsonl
	rolldbg strip a.jsonl >golden.jsonl
	sed -i '3s/"reward":0[.0]*/"reward":0.5/; 3s/"position":4/"position":5/' golden.jsonl
	expect 1 rolldbg replay golden.jsonl --report junit:j.xml
	grep -q 'message="step 0  lake_move action=DOWN: /reward  0.5 -&gt; 0 (and 1 more)' j.xml
}

@test "probe: the model called the requested tool" {
	echo '{"then": "last", "replies": [{"calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]}]}' >script.json
	model script.json
	rolldbg probe --env 'builtin:frozen_lake?max_envs=1' --sessions 2 --need 1 --settle 100ms --policy llm --model m \
		--base-url "$base" >out || true
	stop_model
	grep -q '^ok  *tool-calls .*lake_move was requested and called' out
}
