#!/usr/bin/env bats
# The ready-made policies run unchanged, from any folder.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# expect_clean SUMMARY ARGUMENTS...: the run is clean, with these counters.
expect_clean() {
	local summary=$1
	shift
	expect 0 rolldbg run "$@"
	has "$output" "$summary"
	has "$output" 'clean: every step reached the environment'
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
	expect_clean '6 turns · 6 steps · 6 effective · 0 failed · reward 1' --policy "$root/policies/lake-goal.json"
	has "$output" 'terminated: '
}

@test "lake-hole: two steps into a hole" {
	expect_clean '2 turns · 2 steps · 2 effective · 0 failed · reward 0' --policy "$root/policies/lake-hole.json"
	has "$output" 'terminated: '
}

@test "lake-wander: back and forth up to the turn limit, every move changes the position" {
	expect_clean '100 turns · 100 steps · 100 effective · 0 failed · reward 0' --policy "$root/policies/lake-wander.json"
	expect_clean '15 turns · 15 steps · 15 effective' --policy "$root/policies/lake-wander.json" --max-turns 15
	has "$output" 'max-turns: the turn limit was reached'
	expect 1 rolldbg run --policy "$root/policies/lake-wander.json" --env 'builtin:frozen_lake?fault=http-500'
	has "$output" 'stopped: '
	has "$output" '3 turns · 3 steps'
}

# run_model_policy POLICY: runs the policy on the lake, with a scripted model; the script is read from standard input.
run_model_policy() {
	cat >script.json
	start model "$ROLLDBG" serve llm script.json --port 0
	OPENAI_API_KEY=sk-not-a-key expect_clean '6 turns · 6 steps · 6 effective · 0 failed · reward 1' --policy "$root/$1" \
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
		rolldbg run --quiet --policy "$root/policies/random.json" --env 'builtin:frozen_lake?map=8x8' --max-turns 20 --out $name.jsonl
		rolldbg strip $name.jsonl >$name.stripped
	done
	cmp a.stripped b.stripped
	[ "$(jq -r 'select(.type == "step") | .tool_call.arguments.action' a.jsonl | sort -u | wc -l)" -gt 1 ]
}

@test "desk-tidy: three wanted items into the archive, whatever the seed" {
	expect_clean '8 turns · 8 steps · 7 effective · 0 failed · reward 3' --env builtin:desk --seed 1 --ignore /clock --policy "$root/policies/desk-tidy.json"
	expect_clean '10 turns · 10 steps · 9 effective · 0 failed · reward 3' --env builtin:desk --seed 2 --ignore /clock --policy "$root/policies/desk-tidy.json"
	has "$output" 'terminated: '
}

@test "desk-look: reads and changes nothing" {
	expect 0 rolldbg run --env builtin:desk --seed 1 --ignore /clock --policy "$root/policies/desk-look.json"
	has "$output" '6 turns · 6 steps · 0 effective · 0 failed · reward 0'
	has "$output" 'no findings, but no step changed the state'
}
