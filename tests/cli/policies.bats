#!/usr/bin/env bats
# The ready-made policies run unchanged, from any directory.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# expect_counts SUMMARY ARGUMENTS...: the run has no findings, and these counters.
expect_counts() {
	local summary=$1
	shift
	expect 0 rolldbg run "$@"
	has "$output" "$summary"
	has "$output" $'\nno findings: '
}

@test "every ready-made policy has a test here" {
	for policy in "$root"/policies/*.json; do
		grep -q "policies/${policy##*/}" "$BATS_TEST_FILENAME" || {
			echo "$policy" >&2
			return 1
		}
		jq -e '.kind and .name and .description' "$policy" >/dev/null
		[ "$(jq -r .name "$policy").json" = "${policy##*/}" ]
	done
}

@test "lake-goal: six steps to the goal" {
	expect_counts '6 turns · 6 steps · 6 effective · 0 failed · reward 1' --policy "$root/policies/lake-goal.json"
	has "$output" 'terminated: '
}

@test "lake-hole: two steps into a hole" {
	expect_counts '2 turns · 2 steps · 2 effective · 0 failed · reward 0' --policy "$root/policies/lake-hole.json"
	has "$output" 'terminated: '
}

@test "lake-wander: back and forth up to the turn limit, every move changes the position" {
	expect_counts '100 turns · 100 steps · 100 effective · 0 failed · reward 0' --policy "$root/policies/lake-wander.json"
	expect_counts '15 turns · 15 steps · 15 effective' --policy "$root/policies/lake-wander.json" --max-turns 15
	has "$output" 'max-turns: the turn limit was reached'
	expect 1 rolldbg run --policy "$root/policies/lake-wander.json" --env 'builtin:frozen_lake?fault=http-500'
	has "$output" 'stopped: '
	has "$output" '3 turns · 3 steps'
}

# run_model_policy POLICY: runs the policy on the lake, with a scripted model; the script is read from standard input.
run_model_policy() {
	cat >script.json
	start model "$ROLLDBG" serve llm script.json --port 0
	OPENAI_API_KEY=sk-not-a-key expect_counts '6 turns · 6 steps · 6 effective · 0 failed · reward 1' --policy "$root/$1" \
		--base-url "${url%/mcp}" --out asked.jsonl
	has "$output" 'terminated: '
	jq -s -r 'map(select(.type == "reset"))[0].messages | map(.content) | join(" ")' asked.jsonl >prompt
	grep -q 'frozen lake' prompt
	grep -q 'FHFH' prompt
	jq -s -e 'map(select(.type == "header"))[0].policy.params | (.asked.temperature == .sent.temperature) and .sent.seed == 1' asked.jsonl >/dev/null
}

# goal_script FILTER: a model script that leads to the goal; the filter turns a direction into a reply.
goal_script() {
	jq -n '["DOWN", "DOWN", "RIGHT", "DOWN", "RIGHT", "RIGHT"] | {replies: map('"$1"')}'
}

@test "lake-hosted: native calls, with a key" {
	goal_script '{calls: [{name: "lake_move", arguments: {action: .}}]}' | jq '.key = "sk-not-a-key"' | run_model_policy policies/lake-hosted.json
	run ! grep -q sk-not-a-key asked.jsonl
}

@test "lake-vllm-qwen: Hermes calls, parsed by the server or not" {
	# shellcheck disable=SC2016 # jq's variable
	tokens='{prompt_token_ids: [range(10 * ($turn + 1))], token_ids: [10 * ($turn + 1), 10 * ($turn + 1) + 1],
		logprobs: {content: [{token: "a", logprob: -0.5}, {token: "b", logprob: -0.25}]}}'
	goal_script '{calls: [{name: "lake_move", arguments: {action: .}}]}' |
		jq ".replies |= [to_entries[] | .key as \$turn | .value + $tokens]" | run_model_policy policies/lake-vllm-qwen.json
	kill "$(cat model.pid)"
	goal_script '{text: "<tool_call>\n\({name: "lake_move", arguments: {action: .}} | tojson)\n</tool_call>"}' >script.json
	start model "$ROLLDBG" serve llm script.json --port 0
	expect 0 rolldbg run --policy "$root/policies/lake-vllm-qwen.json" --base-url "${url%/mcp}" --out text.jsonl
	has "$output" '6 turns · 6 steps · 6 effective · 0 failed · reward 1'
	jq -s -e 'map(select(.type == "step")) | length == 6 and all(.llm.parse.notes == ["server-without-parser"])' text.jsonl >/dev/null
}

@test "lake-ollama: native calls" {
	goal_script '{calls: [{name: "lake_move", arguments: {action: .}}]}' | run_model_policy policies/lake-ollama.json
}

@test "lake-llamacpp: the whole reply is a call" {
	goal_script '{text: ({name: "lake_move", arguments: {action: .}} | tojson)}' | run_model_policy policies/lake-llamacpp.json
}

@test "random: calls that match any tool's schema, the same for each seed" {
	for name in a b; do
		rolldbg run --quiet --policy random:1 --env 'builtin:frozen_lake?map=8x8' --max-turns 20 --out $name.jsonl
		rolldbg strip $name.jsonl >$name.stripped
	done
	cmp a.stripped b.stripped
	[ "$(jq -r 'select(.type == "step") | .tool_call.arguments.action' a.jsonl | sort -u | wc -l)" -gt 1 ]
}

@test "random: --tool restricts the draws to that tool; the header says so" {
	expect 0 rolldbg run --policy random:4 --env builtin:desk --seed 1 --ignore /clock -n 12 --tool list_items --force --fail-on never --out a.jsonl
	all_are a.jsonl step '.tool_call.name == "list_items"'
	all_are a.jsonl header '.policy.params.tool == "list_items"'
	rolldbg run --quiet --policy random:4 --env builtin:desk --seed 1 --ignore /clock -n 12 --force --fail-on never --out a.jsonl
	run ! all_are a.jsonl step '.tool_call.name == "list_items"'
	all_are a.jsonl header '.policy.params | has("tool") | not'
	expect 2 rolldbg run --policy random:4 --env builtin:desk --tool list_itms
	has "$stderr" "the server has no tool 'list_itms'; did you mean 'list_items'?"
	expect 2 rolldbg run --policy random:4 --argument direction --env http://127.0.0.1:9/mcp
	has "$stderr" '--argument needs --actions: --policy random draws all arguments'
	printf '{"id":"a","tool":"list_items","policy":"random:4","max_turns":6}\n' >tasks.jsonl
	expect 0 rolldbg run --env builtin:desk --ignore /clock --tasks tasks.jsonl --fail-on never --force --out a.jsonl
	all_are a.jsonl step '.tool_call.name == "list_items"'
}

@test "desk-tidy: three wanted items into the archive, whatever the seed" {
	expect_counts '8 turns · 8 steps · 7 effective · 0 failed · reward 3' --env builtin:desk --seed 1 --ignore /clock --policy "$root/policies/desk-tidy.json"
	expect_counts '10 turns · 10 steps · 9 effective · 0 failed · reward 3' --env builtin:desk --seed 2 --ignore /clock --policy "$root/policies/desk-tidy.json"
	has "$output" 'terminated: '
}

@test "desk-look: reads and changes nothing" {
	expect 0 rolldbg run --env builtin:desk --seed 1 --ignore /clock --policy "$root/policies/desk-look.json"
	has "$output" '6 turns · 6 steps · 0 effective · 0 failed · reward 0'
	has "$output" 'no findings: no call had to change anything'
}

@test "a policy that cannot be used is refused before anything is connected or recorded" {
	printf '{"kind":"script","calls":"x"}' >seed.json
	printf '{"kind":"script"}' >empty.json
	printf '{"kind":"script","calls":[{"name":"a"}],"tool":"a"}' >both.json
	while IFS=$'\t' read -r code arguments message; do
		# shellcheck disable=SC2086 # several arguments
		expect "$code" rolldbg run --env http://127.0.0.1:9/mcp --out a.jsonl $arguments
		has "$stderr" "$message"
		[ ! -e a.jsonl ]
		# shellcheck disable=SC2086
		expect "$code" rolldbg debug --batch --env http://127.0.0.1:9/mcp $arguments
		# shellcheck disable=SC2086
		expect "$code" rolldbg probe --env http://127.0.0.1:9/mcp $arguments
	done <<-'END'
		2	--policy random	--policy random needs an integer seed: random:7, not 'random'
		2	--policy random:	--policy random needs an integer seed
		2	--policy random:1x	--policy random needs an integer seed: random:7, not 'random:1x'
		2	--policy random:18446744073709551616	--policy random needs an integer seed
		2	--policy random:1 --actions A,,B	--actions: action 2 is empty in 'A,,B'
		2	--policy script	--policy script needs --actions A,B,C or --call 'TOOL key=value'; a script in a file is used with --policy FILE
		2	--policy script:x	--policy script has no argument, not 'script:x': use --actions A,B,C, or name a policy file
		2	--policy llm:tiny	--policy llm has no argument, not 'llm:tiny': use --model NAME
		2	--actions ,A	--actions: action 1 is empty in ',A'
		2	--policy seed.json --actions A	--actions and --policy FILE are mutually exclusive
		3	--policy seed.json	policy seed.json:1: "calls" must be an array, not "x"
		3	--policy empty.json	policy empty.json: a script needs either "actions" or "calls"
		3	--policy both.json	policy both.json: each of the "calls" has its own tool
	END
	mkfifo pipe
	for policy in pipe /dev/null; do
		expect 3 rolldbg run --policy "$policy" --env http://127.0.0.1:9/mcp --out a.jsonl
		has "$stderr" "policy $policy: not a regular file, so it can be read only once: save the policy in a file"
	done
	expect 0 rolldbg run --policy script --actions DOWN --out named.jsonl
	expect 0 rolldbg run --actions DOWN --out unnamed.jsonl
	cmp <(rolldbg strip named.jsonl) <(rolldbg strip unnamed.jsonl)
	printf '%s\n' '{"id":"a"}' '{"id":"b","policy":"random:x"}' >tasks.jsonl
	expect 3 rolldbg run --env http://127.0.0.1:9/mcp --actions A --tasks tasks.jsonl --out a.jsonl
	has "$stderr" "tasks.jsonl:2: \"policy\" random needs an integer seed: random:7, not 'random:x'"
	[ ! -e a.jsonl ]
}

@test "a file with only calls is a script: an array, one call per line, or what jq selects from a recording" {
	local summary='2 turns · 2 steps · 2 effective · 0 failed' down='{"name": "lake_move", "arguments": {"action": "DOWN"}}'
	printf '[%s,\n%s]\n' "$down" "$down" >array.json
	expect_counts "$summary" --policy array.json
	printf '%s\r\n\r\n%s' "$down" "$down" >lines.jsonl
	expect_counts "$summary" --policy lines.jsonl --out lines.rec
	jq -c 'select(.type == "step").tool_call' lines.rec >selected.jsonl
	[ "$(wc -l <selected.jsonl)" -eq 2 ]
	expect_counts "$summary" --policy selected.jsonl
	printf '%s' "$down" >one.json
	expect_counts '1 turn · 1 step · 1 effective' --policy one.json
}
