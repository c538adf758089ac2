#!/usr/bin/env bats
# The llm policy with a real inference engine: tool calls in every form, log-probabilities with known values, seeds, a
# full context, and the engine's own faults.

# shellcheck disable=SC2154,SC2016 # variables of engine.bash; variables of jq
load engine

setup_file() {
	"$engine/venv/bin/python" "$servers/lake_model.py" "$BATS_FILE_TMPDIR/lake.gguf"
	at_once 'engine_start template' 'engine_start native --chat_format chatml-function-calling'
}

@test "native tools under the model's own template: the calls come as text, and are read" {
	ask template walk 0 --max-turns 12
	played walk special-tokens
	holds walk 'steps | all(.llm.parse | .source == "text" and .format == "hermes" and .notes == ["server-without-parser"])'
}

@test "native tools in the engine's own format: one call a turn, though it is said twice" {
	ask native walk 0 --max-turns 12
	played walk
	holds walk 'steps | all(.llm.parse | .source == "native" and .notes == null)'
	holds walk 'steps | all(.llm.finish_reason == "tool_calls")'
}

@test "log-probabilities that the engine keeps to itself are missed" {
	ask native walk 0 --max-turns 3 --tokens
	played walk logprob-range
}

@test "tools in the prompt's words, read from the reply" {
	ask template walk 0 --max-turns 12 --tool-mode text
	played walk
	holds walk 'steps | all(.llm.parse | .source == "text" and .format == "hermes" and .notes == null)'
	holds walk 'steps | all(.messages[1].role == "user" and (.messages[1].content | startswith("<tool_response>")))'
}

@test "a reply held to the schema of the tools: nothing but the call" {
	ask template walk 0 --max-turns 12 --tool-mode json
	played walk
	holds walk 'steps | all(.llm.parse | .source == "text" and .format == "json" and .notes == null and .repairs == null)'
	holds walk 'steps | all(.messages[0].content | fromjson | .name == "lake_move")'
}

@test "the log-probabilities are the model's: ln 1/2, 1/4, 1/8 where it decides, 0 where it has no choice" {
	for mode in native text json; do
		ask template $mode 0 --group-size 16 --max-turns 12 --tokens --tool-mode $mode
		holds $mode 'include "odds"; steps | ways | unique == ["DOWN", "LEFT", "RIGHT", "UP"]'
		holds $mode 'include "odds"; steps | all(way as $way | decided | near(odds[$way] | log))'
		silent $mode "logprob-range"
	done
	for mode in native text; do
		holds $mode 'include "odds"; steps | all([tokens[].logprob] | map(select(near(0) | not)) | length == 1)'
	done
}

@test "streamed and whole: the same walk, the same log-probabilities" {
	policy=$(sampling '{"seed": 5, "temperature": 1}')
	for mode in native text json; do
		for how in whole stream; do
			options=() found=()
			[ $how = whole ] || options=(--stream)
			[ $mode != native ] || found=(special-tokens)
			ask template $mode-$how 0 --policy "$policy" --max-turns 8 --tokens --tool-mode $mode "${options[@]}"
			played $mode-$how "${found[@]}"
		done
		same_walk $mode-whole $mode-stream
		diff <(jq -c 'select(.type == "step") | .llm | .finish_reason, .parse, [.logprobs.content[] | .token, .logprob]' $mode-whole.jsonl) \
			<(jq -c 'select(.type == "step") | .llm | .finish_reason, .parse, [.logprobs.content[] | .token, .logprob]' $mode-stream.jsonl)
	done
}

# sampled SEED NAME: a rollout with that seed.
sampled() {
	ask template "$2" 0 --policy "$(sampling "{\"seed\": $1, \"temperature\": 1}")" --max-turns 6
}

@test "the same seed gives the same recording, other seeds other walks" {
	for seed in $(seq 1 12); do
		sampled "$seed" one-"$seed"
		sampled "$seed" two-"$seed"
		diff <("$ROLLDBG" strip one-"$seed".jsonl) <("$ROLLDBG" strip two-"$seed".jsonl)
	done
	for seed in $(seq 1 12); do
		holds one-"$seed" "steps | map(.llm.seed) == [range(length) * 65536 + $seed]"
	done
	# the turns of a rollout differ
	[ "$(for seed in $(seq 1 12); do
		jq -sc 'map(select(.type == "step") | .tool_call.arguments.action) | select(length > 1) | unique | length' one-"$seed".jsonl
	done | sort -n | tail -n 1)" -gt 1 ]
	[ "$(for seed in $(seq 1 12); do
		jq -sc 'map(select(.type == "step") | .tool_call.arguments.action)' one-"$seed".jsonl
	done | sort -u | wc -l)" -gt 1 ]
}

@test "a group of 8: sample K is sampled with seed + K, and alone it is the same walk" {
	ask template group 0 --policy "$(sampling '{"seed": 1, "temperature": 1}')" --max-turns 6 --group-size 8
	holds group 'of("header") | map(.policy.params.sent.seed) == [range(1; 9)]'
	holds group 'steps | group_by(.rollout) | map(map(.tool_call.arguments.action)) | length == 8 and (unique | length > 1)'
	for sample in 0 3 7; do
		sampled $((1 + sample)) alone-$sample
		diff <(jq -c "select(.type == \"step\" and (.rollout | endswith(\".$sample\"))) | .tool_call.arguments" group.jsonl) \
			<(jq -c 'select(.type == "step") | .tool_call.arguments' alone-$sample.jsonl)
	done
}

@test "parallel rollouts are the same as sequential ones" {
	policy=$(sampling '{"seed": 1, "temperature": 1}')
	ask template serial 0 --policy "$policy" --max-turns 6 --group-size 8
	ask template parallel 0 --policy "$policy" --max-turns 6 --group-size 8 --jobs 8
	diff <("$ROLLDBG" strip serial.jsonl | sort) <("$ROLLDBG" strip parallel.jsonl | sort)
}

@test "streams cut off by other requests are requested again, and no partial reply is executed" {
	ask template cut 0 --fail-on never --max-turns 6 --group-size 4 --jobs 4 --stream --model-retries 20
	holds cut 'events | index("retry") and all(. == "retry" or . == "state-reread")'
	holds cut 'steps | all(.step != null and .outcome == "ok" and .llm.finish_reason == "stop" and .llm.incomplete == null)'
	holds cut 'of("end") | length == 4 and all(.status == "terminated" or .status == "max-turns")'
}

@test "a full context ends the episode, and is no refusal" {
	engine_start small --n_ctx 1536
	# with one seed for all turns the model sends the same call in every turn, into a wall
	jq -n '{kind: "llm", name: "up", sampling: {temperature: 1}, extra: {seed: 1}}' >policy.json
	ask small full 0 --fail-on never --max-turns 100 --policy policy.json
	fires full "frozen-state error"
	holds full 'ending | .status == "stopped" and (.reason | startswith("model: context-length (HTTP 400): This model'"'"'s maximum context length is 1536 tokens."))'
	holds full 'of("step")[-1].llm.error | .class == "context-length" and .http_status == 400 and .code == "context_length_exceeded"'
}

@test "an API key: missing, wrong, right; and never recorded or printed" {
	engine_start locked --api_key lake-key-1234567
	in_vain locked none 1 --profile llamacpp
	MODEL_KEY=lake-key-7654321 in_vain locked wrong 1 --profile llamacpp --key-env MODEL_KEY
	for run in none wrong; do
		holds $run 'ending | .status == "refused" and .steps == 0 and (.reason | startswith("model: auth (HTTP 401): Invalid API key"))'
	done
	holds none 'ending.reason | endswith("(no API key was sent)")'
	MODEL_KEY=lake-key-1234567 ask locked right 0 --key-env MODEL_KEY --max-turns 3
	played right special-tokens
	run ! grep -rl 'lake-key-' none.* wrong.* right.*
}

@test "an unknown model name: this engine serves the one it has" {
	drive other 0 --policy llm --base-url "$(url template)" --model pond --profile llamacpp --max-turns 3
	played other special-tokens
}

@test "a tool_choice that names the tool: native calls, streamed or not" {
	policy=$(sampling '{"tool_choice": {"type": "function", "function": {"name": "lake_move"}}, "seed": 3}')
	for server in template native; do
		ask $server whole-$server 0 --policy "$policy" --max-turns 6
		ask $server stream-$server 0 --policy "$policy" --max-turns 6 --stream
		for how in whole stream; do
			played $how-$server
			holds $how-$server 'steps | all(.llm.parse.source == "native" and .llm.finish_reason == "tool_calls")'
		done
	done
	same_walk whole-template stream-template
}

@test "free tool choice with streaming: the engine sends nothing, so the model counts as unreachable" {
	in_vain native stream 4 --profile llamacpp --stream --model-retries 1
	holds stream 'ending | .status == "unreachable" and .steps == 0'
	holds stream 'ending.reason == "model: the model'"'"'s stream is empty"'
	holds stream 'events == ["retry"]'
}

@test "tool_choice required: ignored with the template, a 500 without a message in the engine's own format" {
	policy=$(sampling '{"tool_choice": "required", "seed": 3}')
	ask template walk 0 --policy "$policy" --max-turns 3
	played walk special-tokens
	in_vain native none 4 --profile llamacpp --policy "$policy"
	holds none 'ending | .status == "unreachable" and .steps == 0 and (.reason | startswith("model: server: "))'
}

@test "a schema in OpenAI's form gets a 500, so the profile sends the other form" {
	in_vain template schema 4 --profile vllm --tool-mode json
	holds schema 'ending | .status == "unreachable" and .steps == 0 and (.reason | contains("json_schema"))'
}

@test "null content beside tool calls in the history: this engine always fails on it, so its profile sends an empty string" {
	policy=$(sampling '{"tool_choice": {"type": "function", "function": {"name": "lake_move"}}, "seed": 1}')
	in_vain template null 1 --profile vllm --policy "$policy" --max-turns 6
	holds null 'ending | .status == "refused" and .steps == 1 and (.reason | startswith("model: poison-history"))'
	ask template text 0 --policy "$policy" --max-turns 6
	played text
}

@test "a reply truncated by its limit is never executed" {
	for mode in native text json; do
		for limit in 1 2 3 4; do
			[ $mode$limit != json4 ] || continue
			ask template $mode-$limit 1 --tool-mode $mode --max-turns 2 --policy "$(sampling "{\"max_tokens\": $limit}")"
			holds $mode-$limit 'steps | length > 0 and all(.step == null and .llm.finish_reason == "length")'
			fires $mode-$limit "no-tool-call error"
			silent $mode-$limit "unknown-tool"
		done
	done
}

# examined ENGINE MODEL MODE EXIT_CODE: the model's properties in `probe`, as "name status".
examined() {
	local code=0
	"$ROLLDBG" probe --json --env builtin:frozen_lake --policy llm --base-url "$(url "$1")" --model "$2" \
		--profile llamacpp --tool-mode "$3" >probe.json || code=$?
	[ "$code" = "$4" ]
	jq -r 'select(.type == "property") | select(.name | IN("model", "tool-calls", "tool-prompt", "tool-results")) |
		"\(.name) \(.status)"' probe.json | xargs
}

@test "probe reports before a run: calls not parsed, results not shown, a model not listed" {
	[ "$(examined template lake native 1)" = "model ok tool-calls fail tool-prompt ok tool-results ok" ]
	# the engine's own format omits messages of role tool
	[ "$(examined native lake native 1)" = "model ok tool-calls ok tool-prompt ok tool-results fail" ]
	for server in template native; do
		[ "$(examined $server lake text 0)" = "model ok tool-calls ok tool-prompt skipped tool-results skipped" ]
		[ "$(examined $server lake json 0)" = "model ok tool-calls ok tool-prompt skipped tool-results skipped" ]
	done
	[ "$(examined template pond json 0)" = "model unknown tool-calls ok tool-prompt skipped tool-results skipped" ]
}
