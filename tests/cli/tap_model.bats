#!/usr/bin/env bats
# The tap between a model and its client: what it records of turns, and how it finds the sessions that they belong to.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

peer=$data/tap_model.py
walk='{"replies": [
	{"text": "Down.", "calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]},
	{"calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}, {"name": "lake_move", "arguments": {"action": "RIGHT"}}],
	 "usage": {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49}},
	{"text": "I am done."}], "then": "cycle"}'

# taps [OPTIONS..]: an environment, the model of script.json unless $base is set, and the tap; sets $tap and $model, its URLs.
taps() {
	start lake "$ROLLDBG" serve --port 0
	lake=${url%/mcp}
	[ -n "$base" ] || model script.json
	start tap "$ROLLDBG" tap --listen 0 --to "$lake" --model-to "$base" "$@"
	tap=${url%/mcp}
	model=$(sed -n 's/^model: listening on /http:\/\//p' tap.log)
	model=${model:-$tap}
}

# tap_end CODE: Ctrl-C; the exit code must be this.
tap_end() {
	local code=0
	kill -INT "$(cat tap.pid)"
	wait "$(cat tap.pid)" || code=$?
	rm tap.pid
	[ "$code" = "$1" ] || {
		printf 'exit code %s, not %s\n' "$code" "$1" >&2
		cat tap.log tap.err >&2
		return 1
	}
}

# agent [OPTIONS..]: rolldbg as the client of both, recorded in run.jsonl.
agent() {
	rolldbg run --env "$tap/mcp" --policy llm --model tiny --quiet --out run.jsonl "$@"
}

# turns FILE: turn, step, call id, rung and finish reason of each line.
turns() {
	jq -c 'select(.type == "step") | [.turn, .step, .tool_call.id, .meta.joined, .llm.finish_reason]' "$1"
}

# said FILE: what does not depend on when messages became known.
said() {
	rolldbg strip "$1" | jq -c 'select(.type == "step") | del(.messages, .rollout, .llm.sent, .llm.prompt_hash)'
	rolldbg strip "$1" | jq -c 'select(.type == "reset" or .type == "step") | .messages[] | .content //= ""'
}

needs_python() {
	command -v python3 >/dev/null || skip 'no python3'
}

@test "a turn is recorded as run records it, whole and as a stream, on two ports and on one" {
	echo "$walk" >script.json
	for options in '--model-listen 0' ''; do
		for stream in '' --stream; do
			# shellcheck disable=SC2086 # words
			taps --out tap.jsonl --force $options
			# shellcheck disable=SC2086
			agent --base-url "$model/v1" --force $stream
			tap_end 0
			stop_model
			base=''
			said run.jsonl >run.said
			said tap.jsonl | diff run.said -
			[ "$(turns tap.jsonl | sed -n '2,3p' | tr -d '\n')" = '[1,1,"call_1_0","content","tool_calls"][1,2,"call_1_1",null,null]' ]
			for turn in 0 1 2; do
				expect 0 rolldbg show tap.jsonl --turn $turn --prompt
			done
			has "$(cat tap.log)" 'model: 3 turns, joined by name 0, by content 3, by time 0'
		done
	done
	expect 0 rolldbg check tap.jsonl
}

@test "a base URL names the rollout; the model's server does not see the name" {
	echo "$walk" >script.json
	taps --out tap.jsonl
	agent --base-url "$model/r/any.1/v1"
	tap_end 0
	has "$(cat tap.log)" 'model: 3 turns, joined by name 2, by content 1, by time 0'
}

@test "two sessions at once: equal calls are joined with neither, later turns by what they continue" {
	needs_python
	echo '{"replies": [{"when": {"turn": 0, "model": "ma"}, "text": "x", "calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]},
		{"when": {"turn": 0, "model": "mb"}, "text": "y", "calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]},
		{"when": {"turn": 1, "model": "ma"}, "calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]},
		{"when": {"turn": 1, "model": "mb"}, "calls": [{"name": "lake_move", "arguments": {"action": "RIGHT"}}]}]}' >script.json
	taps --out tap.jsonl
	python3 "$peer" twins "$model" "$tap"
	tap_end 0
	[ "$(jq -r 'select(.type == "step" and .step == 0) | .meta.joined' tap.jsonl | sort -u)" = ambiguous ]
	[ "$(jq -r 'select(.type == "step" and .step == 1) | .meta.joined' tap.jsonl | sort -u)" = content ]
	# of the four turns, two are recorded apart, and the rule that looks for calls does not accuse them
	has "$(cat tap.log)" '2 recorded apart, 2 calls that several turns could have made'
	[ "$(jq -s 'map(select(.type == "step")) | length' tap.model.jsonl)" = 2 ]
	expect 0 rolldbg check tap.model.jsonl
	# each rollout has the first turn in its messages, from the second prompt
	[ "$(jq -r 'select(.step == 1) | "\(.messages[0].content) \(.tool_call.arguments.action)"' tap.jsonl | sort)" = $'a DOWN\nb RIGHT' ]
}

@test "a trainer's batches of token ids: rows are joined in their order, and then by their tokens" {
	needs_python
	start engine python3 "$peer" server
	base=${url%/mcp}
	start lake "$ROLLDBG" serve --protocol openenv --port 0
	start tap "$ROLLDBG" tap --listen 0 --to "${url%/mcp}" --model-to "$base" --out tap.jsonl
	tap=${url%/mcp}
	python3 "$peer" trainer "$tap" "$tap"
	tap_end 0
	has "$(cat tap.log)" 'model: 8 turns, joined by name 0, by content 5, by time 3'
	# each rollout has the turns of one row, and the last row a turn without a call
	jq -es 'map(select(.type == "step" and .turn == 1)) | length == 4 and all(.llm.prompt_token_ids[3] == .llm.token_ids[0])' tap.jsonl
	[ "$(jq -r 'select(.type == "step" and .turn == 1 and .step == null) | .llm.token_ids[0]' tap.jsonl)" = 103 ]
	expect 0 rolldbg check --only prompt-drift --fail-on info tap.jsonl
	# the trainer's own probabilities, under the names of the rollouts
	jq -c 'select(.type == "step" and .llm.token_ids) | {rollout, turn, logprobs: [-3, -3, -3]}' tap.jsonl >trained.jsonl
	expect 0 rolldbg check --only kl-band --trainer-logprobs trained.jsonl tap.jsonl
	has "$output" 'not comparable, because the policy sent temperature 0.7'
}

@test "prompts that do not continue are found while the trainer runs" {
	needs_python
	start engine python3 "$peer" server
	base=${url%/mcp}
	start lake "$ROLLDBG" serve --protocol openenv --port 0
	start tap "$ROLLDBG" tap --listen 0 --to "${url%/mcp}" --model-to "$base" --fail-on warning --out tap.jsonl
	tap=${url%/mcp}
	python3 "$peer" trainer "$tap" "$tap" drift
	tap_end 1
	has "$(cat tap.log)" 'warning: prompt-drift: turn 1: in 1 of 1 turns the prompt does not continue the previous one'
}

@test "a model that calls nothing" {
	echo '{"replies": [{"text": "I would go down."}], "then": "last"}' >script.json
	taps --out tap.jsonl
	tools='[{"type": "function", "function": {"name": "lake_move", "parameters": {"type": "object"}}}]'
	curl -sS "$model/v1/chat/completions" -d "{\"model\": \"m\", \"tools\": $tools, \"messages\": [{\"role\": \"user\", \"content\": \"go\"}]}" >reply
	[ "$(jq -r '.choices[0].message.content' reply)" = 'I would go down.' ]
	tap_end 1
	has "$(cat tap.log)" 'model.1: error: no-tool-call: turn 0: no tool was called in 1 turn: the model replied in prose'
	[ "$(jq -r 'select(.type == "header") | .tools[0].name' tap.model.jsonl)" = lake_move ]
}

@test "replies that are no turn: refused, cut off, garbage, too long; all bytes are passed on" {
	printf '%s' '{"replies": [{"status": 429, "code": "rate_limit_exceeded"}, {"text": "half", "close": "within"}, {"raw": "{\"choices\": [no"},
		{"raw": "data: {\"choices\": [{\"delta\": \u0000\n\n"},
		{"size": "30MB", "text": "long"}, {"text": "Down.", "calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]}],
		"then": "last"}' >script.json
	taps --out tap.jsonl
	ask='{"model": "m", "messages": [{"role": "user", "content": "go"}]}'
	[ "$(curl -sS -o /dev/null -w '%{http_code}' "$model/v1/chat/completions" -d "$ask")" = 429 ]
	expect 18 curl -sS -o /dev/null "$model/v1/chat/completions" -d "$ask"
	[ "$(curl -sS "$model/v1/chat/completions" -d "$ask")" = '{"choices": [no' ]
	curl -sS -o /dev/null "$model/v1/chat/completions" -d "$ask"
	[ "$(curl -sS "$model/v1/chat/completions" -d "$ask" | wc -c)" -ge 30000000 ]
	curl -sS -o /dev/null "$model/v1/chat/completions" -d "$ask"
	curl -sS -o /dev/null "$model/v1/chat/completions" -d '{"model": '
	curl -sS -o /dev/null "$model/v1/models"
	tap_end 0
	has "$(cat tap.log)" 'model: 2 turns, '
	has "$(cat tap.log)" '4 requests without a reply, 1 requests that could not be read'
}

@test "a model that dies within a stream: an event in the rollout that asked" {
	echo '{"replies": [{"text": "Down.", "calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]},
		{"text": "a reply that is cut off", "close": "within"}, {"text": "Done."}]}' >script.json
	taps --out tap.jsonl
	agent --base-url "$model/v1" --stream
	tap_end 0
	jq -es 'map(select(.event == "retry")) | length == 1 and .[0].turn == 1 and .[0].detail.what == "model" and .[0].detail.class == "transport"' tap.jsonl
	[ "$(turns tap.jsonl)" = $'[0,0,"call_0_0","content","tool_calls"]\n[1,null,null,"content","stop"]' ]
}

@test "the model's options need their servers, and its key is in no recording" {
	expect 2 rolldbg tap --model-to http://127.0.0.1:1 -- true
	has "$stderr" '--model-to needs --to URL'
	expect 2 rolldbg tap --to http://127.0.0.1:1 --model-listen 0
	has "$stderr" '--model-listen needs --model-to URL'
	echo "$walk" >script.json
	taps --out tap.jsonl
	A_KEY=sk-very-secret agent --base-url "$model/v1" --key-env A_KEY
	tap_end 0
	expect 1 grep -r sk-very-secret tap.jsonl tap.log tap.err
}
