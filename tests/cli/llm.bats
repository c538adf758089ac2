#!/usr/bin/env bats
# `run --policy llm` against `serve llm`: the cases of fixtures/llm, one file per test. A case has a script, options, and
# the expected result: outcomes, how the calls were parsed, the end, the exit code, and the number of environment steps.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# case_lines FILE: eight lines per case, so that one jq process reads all cases.
case_lines() {
	jq -r '.[]
	| if .big then .big as $n | .script.replies[0].message.tool_calls[0].function.arguments = ({action: ("x" * $n)} | tojson)
	  else . end
	| .case, (.script | tojson), ({kind: "llm", name: "case", model: "tiny"} + (.policy // {}) | tojson),
	  .env // "builtin:frozen_lake", (.options // [] | join("\u001f")),
	  (.variables // {} | to_entries | map("\(.key)=\(.value)") | join("\u001f")), .want.says // "", .want.secret // ""' "$1"
}

# play_case: runs a case from $script, $policy, $target, $options and $variables; appends the result to played.
play_case() {
	local code=0 option=() variable=()
	IFS=$'\x1f' read -r -a option <<<"$options"
	IFS=$'\x1f' read -r -a variable <<<"$variables"
	printf '%s' "$script" >script.json
	printf '%s' "$policy" >policy.json
	model script.json
	env "${variable[@]}" "$ROLLDBG" run -vv --env "$target" --policy policy.json --base-url "$base" "${option[@]}" \
		--out got.jsonl --force --json >verdict.jsonl 2>said 3>&- </dev/null || code=$?
	stop_model
	{
		printf '{"part":"got","exit":%s}\n' "$code"
		cat got.jsonl
		printf '{"part":"verdict"}\n'
		cat verdict.jsonl
	} >>played
}

# play_file FILE: runs every case of the file; prints a line or two to standard error for each failure.
play_file() {
	local name script policy target options variables says secret bad=0 wrong
	case_lines "$1" >plan.txt
	: >played
	while IFS= read -r name && IFS= read -r script && IFS= read -r policy && IFS= read -r target &&
		IFS= read -r options && IFS= read -r variables && IFS= read -r says && IFS= read -r secret; do
		play_case
		grep -q -F -e "$says" said || {
			printf '%s: it does not say: %s\n' "$name" "$says" >&2
			bad=1
		}
		if [ -n "$secret" ] && cat got.jsonl verdict.jsonl said | grep -q -F -e "$secret"; then
			printf '%s: the key is in a sink\n' "$name" >&2
			bad=1
		fi
		rm got.jsonl
	done <plan.txt
	sed -i 's/\([^\\]\)\\ud83d/\1?/g' played
	wrong=$(jq -n -r --slurpfile cases "$1" -f "$BATS_TEST_DIRNAME/llm.jq" played || echo 'not judged')
	[ -z "$wrong" ] || printf '%s\n' "$wrong" >&2
	[ "$bad" = 0 ] && [ -z "$wrong" ]
}

# play NAME: runs the cases of fixtures/llm/NAME.json.
play() {
	play_file "$root/fixtures/llm/$1.json"
}

@test "native calls" {
	play native
}

@test "calls as text" {
	play text
}

@test "hostile bytes" {
	play bytes
}

@test "streams" {
	play stream
}

@test "errors, waits and retries" {
	play errors
}

@test "a wrong case is noticed" {
	jq '.[0] as $case | [$case] + [
		{steps: 7}, {outcomes: []}, {exit: 1}, {findings: ["loop"]}, {reason: "no such"}, {nothing: 1}, {},
		{exit: 0, secret: "tiny"}, {exit: 0, says: "no such"} | . as $want | $case | .want = $want | .case = "wrong"
	]' "$root/fixtures/llm/native.json" >cases.json
	run ! --separate-stderr play_file cases.json
	[ "${#stderr_lines[@]}" = 9 ]
	[ "$(grep -c '^wrong: ' <<<"$stderr")" = 9 ]
	has "$stderr" 'wrong: [{"steps":2,"want":7}]'
}

@test "an invalid script is refused with file, key and nearest name" {
	while IFS='|' read -r script words; do
		printf '%s' "$script" >script.json
		expect 3 rolldbg serve llm script.json --port 0
		has "$stderr" "script script.json$words"
	done <<-'END'
		{"replies":[{"txet":"a"}]}|:1: replies[0]: unknown key "txet"; did you mean 'text'?
		{"replies":[{"text":"a"},{"everyy":1}]}|:1: replies[1]: unknown key "everyy"; did you mean 'every'?
		{"replies":[{"when":{"turns":1}}]}|:1: replies[0].when: unknown key "turns"; did you mean 'turn'?
		{"replies":[{"text":"a"}],"than":"end"}|:1: unknown key "than"; did you mean 'then'?
		{"replies":[{"text":"a"}],"then":"cicle"}|:1: "then" does not accept "cicle"; did you mean 'cycle'?
		{"replies":[{"text":"a"}],"then":"xyz"}|:1: "then" does not accept "xyz"; available: end, cycle, last
		{"replies":[{"text":"a","text":"b"}]}|:1: replies[0]: duplicate key "text"
		{"replies":[{"delay":"5"}]}|:1: replies[0]: "delay" must be a duration with a unit, such as "500ms" or "5m", of at most 1000h, not "5"
		{"replies":[{"size":"lots"}]}|:1: replies[0]: "size" must be a size with a unit, such as "25MiB", not "lots"
		{"replies":[{"status":42}]}|:1: replies[0]: "status" must be an integer from 200 to 599, not 42
		{"replies":[{"text":3}]}|:1: replies[0]: "text" must be a string, not 3
		{"replies":[{"calls":{}}]}|:1: replies[0]: "calls" must be an array, not an object
		{"replies":[{"raw_base64":"?"}]}|:1: replies[0]: "raw_base64" must be a string of base64, not "?"
		{"replies":[{"every":-1}]}|:1: replies[0]: "every" must be a non-negative integer, not -1
		{"replies":[3]}|:1: replies[0]: must be an object, not a number
		{"replies":[]}|:1: "replies" must be an array of at least one reply, not an array
		{"replies":|:1:12: 
		{"then":"end"}|:1: "replies" is missing
		[]|:1: must be an object, not an array
	END
	expect 3 rolldbg serve llm nowhere.json
	has "$stderr" 'script nowhere.json: '
	expect 2 rolldbg serve llm
	expect 2 rolldbg serve llm script.json --fault capacity
	expect 2 rolldbg serve frozen_lake script.json
}

# expect_reply REQUEST CODE TEXT: the status and a part of the reply to a chat completion request.
expect_reply() {
	local code
	code=$(curl -s -o answer -w '%{http_code}' -d "$1" "$base/v1/chat/completions")
	[ "$code" = "$2" ] || {
		printf '%s, not %s: %s\n' "$code" "$2" "$1" >&2
		return 1
	}
	has "$(cat answer)" "$3"
}

@test "the scripted model accepts what every server accepts, and nothing else" {
	echo '{"models": ["a", "b"], "replies": [{"text": "yes"}], "then": "last"}' >script.json
	model script.json
	[ "$(curl -s "$base/v1/models" | jq -c '[.data[].id]')" = '["a","b"]' ]
	user='{"role":"user","content":"go"}'
	call() {
		printf '{"id":"%s","type":"function","function":{"name":"f","arguments":"%s"}}' "$1" "${2-{\}}"
	}
	two="{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[$(call x),$(call y)]}"
	tool() {
		printf '{"role":"tool","tool_call_id":"%s","content":"ok"}' "$1"
	}
	expect_reply "{\"model\":\"a\",\"messages\":[$user,$two,$(tool x),$(tool y)]}" 200 '"content":"yes"'
	expect_reply "{\"model\":\"a\",\"messages\":[$user,$two,$(tool y),$(tool x)]}" 400 'messages[2]: it is not the result of the next open call'
	expect_reply "{\"model\":\"a\",\"messages\":[$user,$two,$(tool x)]}" 400 'have no result'
	expect_reply "{\"model\":\"a\",\"messages\":[$user,$two,$(tool x),$user]}" 400 'messages[3]: an assistant message with tool_calls must be'
	expect_reply "{\"model\":\"a\",\"messages\":[$user,$(tool x)]}" 400 'must be a response to a preceding message'
	expect_reply "{\"model\":\"a\",\"messages\":[$user,{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[$(call x 3)]},$(tool x)]}" \
		400 'not the text of a JSON object'
	expect_reply "{\"model\":\"a\",\"messages\":[$user,{\"role\":\"assistant\",\"content\":null}]}" 400 'neither content nor tool_calls'
	expect_reply '{"model":"a","messages":[{"role":"usr","content":"go"}]}' 400 'unknown role'
	expect_reply '{"model":"a","messages":[{"role":"user","content":null}]}' 400 'content is neither'
	expect_reply '{"model":"a","messages":[]}' 400 'messages is not'
	expect_reply "{\"model\":\"a\",\"messages\":[$user],\"tools\":[]}" 400 'tools is not'
	expect_reply "{\"model\":\"a\",\"messages\":[$user],\"tool_choice\":\"auto\"}" 400 'only allowed when tools'
	expect_reply "{\"model\":\"a\",\"messages\":[$user],\"stream_options\":{}}" 400 'only allowed when stream'
	expect_reply "{\"model\":\"c\",\"messages\":[$user]}" 404 "The model 'c' does not exist"
	expect_reply '{"model":"a"' 400 'not JSON'
	[ "$(curl -s -o answer -w '%{http_code}' "$base/v1/chat/completions")" = 405 ]
	[ "$(curl -s -o answer -w '%{http_code}' "$base/v2")" = 404 ]
	stop_model
}

@test "replies by request, in order, and repeated from the start" {
	cat >script.json <<-'END'
		{"then": "cycle", "replies": [{"when": {"last": "*lake*"}, "text": "L"}, {"when": {"turn": 1}, "text": "T"},
			{"when": {"model": "m"}, "text": "M"}, {"when": {"seed": 7}, "text": "S"}, {"text": "1"}, {"text": "2"}]}
	END
	model script.json
	user='{"role":"user","content":"go"}'
	for model in x x x; do
		expect_reply "{\"model\":\"$model\",\"messages\":[$user]}" 200 ''
		jq -r '.choices[0].message.content' answer
	done >got
	[ "$(tr -d '\n' <got)" = 121 ]
	expect_reply "{\"model\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"a lake here\"}]}" 200 '"content":"L"'
	expect_reply "{\"model\":\"x\",\"messages\":[$user,{\"role\":\"assistant\",\"content\":\"a\"},$user]}" 200 '"content":"T"'
	expect_reply "{\"model\":\"m\",\"messages\":[$user]}" 200 '"content":"M"'
	expect_reply "{\"model\":\"x\",\"seed\":7,\"messages\":[$user]}" 200 '"content":"S"'
	stop_model
	echo '{"replies": [{"text": "1"}]}' >script.json
	model script.json
	expect_reply "{\"model\":\"x\",\"messages\":[$user]}" 200 '"content":"1"'
	expect_reply "{\"model\":\"x\",\"messages\":[$user]}" 500 'no more replies in the script'
	stop_model
}

@test "the prompt of any turn is rebuilt from the recording and checked" {
	cat >script.json <<-'END'
		{"replies": [{"calls": [{"id": "a", "name": "lake_move", "arguments": {"action": "RIGHT"}},
			{"id": "b", "name": "lake_move", "arguments": {"action": "LEFT"}}]}, {"text": "Hm."},
			{"text": "<tool_call>{\"name\": \"lake_move\", \"arguments\": {\"action\": \"DOWN\"}}</tool_call>"}, {"text": "Done."}]}
	END
	model script.json
	expect 0 rolldbg run --policy llm --model m --base-url "$base" --on-no-tool nudge --max-turns 4 --out a.jsonl
	# text without a call is shown in the observation column
	expect 0 rolldbg show a.jsonl
	has "$output" '(no call)               -        -                     -  said: Hm.'
	# each of two calls in one turn has its own preceding state
	[ "$(jq -c 'select(.type == "step" and .turn == 0) | [.state.position, .env_steps]' a.jsonl | paste -sd ' ')" = '[0,1] [1,2]' ]
	expect 0 rolldbg show --turn 0 --prompt --json a.jsonl
	[ "$(jq -c 'map(.role)' <<<"$output")" = '["system","user"]' ]
	expect 0 rolldbg show --turn 3 --prompt --json a.jsonl
	[ "$(jq -c 'map(.role)' <<<"$output")" = '["system","user","assistant","tool","tool","assistant","user","assistant","user"]' ]
	[ "$(jq -c 'map(.tool_call_id // empty)' <<<"$output")" = '["a","b"]' ]
	[ "$(jq -c '.[2].tool_calls | map(.function.arguments | fromjson | .action)' <<<"$output")" = '["RIGHT","LEFT"]' ]
	[ "$(jq -c '[.[3, 4].content | fromjson | .position]' <<<"$output")" = '[1,0]' ]
	[ "$(jq -r '.[6].content' <<<"$output")" = 'You called no tool. Call one of the tools you were given.' ]
	jq -e '.[8].content | startswith("<tool_response>\n") and endswith("\n</tool_response>")' <<<"$output"
	prompt=$(jq -cS . <<<"$output")
	rolldbg strip a.jsonl >b.jsonl
	expect 0 rolldbg show --turn 3 --prompt --json b.jsonl
	[ "$(jq -cS . <<<"$output")" = "$prompt" ]
	expect 0 rolldbg show --turn 3 --prompt a.jsonl
	has "$output" 'You called no tool.'
	jq -c 'if .turn == 1 then .messages[1].content = "Please." else . end' a.jsonl >b.jsonl
	expect 0 rolldbg show --turn 1 --prompt b.jsonl
	expect 3 rolldbg show --turn 2 --prompt b.jsonl
	has "$stderr" 'prompt_hash differs'
	expect 2 rolldbg show --turn 9 --prompt a.jsonl
	has "$stderr" 'the recording has no turn 9; the last is turn '
	expect 2 rolldbg show --prompt a.jsonl
	for json in '' --json; do
		expect 3 rolldbg show --turn 1 --prompt $json "$root/fixtures/recordings/good.jsonl"
		[ -z "$output" ]
		[ "$stderr" = 'rolldbg: show: turn 1 has no prompt: no messages were recorded' ]
	done
}

@test "a task's own policy overrides the model; actions and a model exclude each other" {
	echo '{"then": "last", "replies": [{"calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]}]}' >script.json
	model script.json
	printf '%s\n' '{"id":"a","policy":"random:3"}' '{"id":"b"}' '{"id":"c","policy":"llm"}' >tasks.jsonl
	expect 0 rolldbg run --tasks tasks.jsonl --policy llm --model m --base-url "$base" --max-turns 2 --out a.jsonl
	[ "$(jq -c 'select(.type == "header") | [.rollout, .policy.kind]' a.jsonl | paste -sd ' ')" = '["a.0","random"] ["b.0","llm"] ["c.0","llm"]' ]
	expect 2 rolldbg run --policy llm --model m --base-url "$base" --actions DOWN
	has "$stderr" '--actions and a model are mutually exclusive'
	echo '{"id":"a","actions":["DOWN"]}' >tasks.jsonl
	expect 3 rolldbg run --tasks tasks.jsonl --policy llm --model m --base-url "$base"
	has "$stderr" 'tasks.jsonl:1: "actions" and a model are mutually exclusive'
	echo '{"kind": "llm", "model": "m"}' >policy.json
	echo '{"id":"a","policy":"policy.json"}' >tasks.jsonl
	expect 3 rolldbg run --tasks tasks.jsonl
	has "$stderr" 'tasks.jsonl:1: policy policy.json:1: a policy of kind "llm" applies to all tasks'
	expect 2 rolldbg run --policy llm --model m --base-url "$base?key=sk-1"
	has "$stderr" 'base URL must end with its path'
	lacks "$stderr" sk-1
}

@test "an unreachable model is named by its address; an API key that is not set" {
	expect 4 rolldbg run --policy llm --model m --base-url http://127.0.0.1:9/v1 --model-retries 0
	has "$stderr" 'rolldbg: http://127.0.0.1:9/v1/chat/completions: model: cannot connect to 127.0.0.1:9'
	lacks "$stderr" 'builtin:'
	expect 2 rolldbg run --policy llm --model m --base-url http://127.0.0.1:9/v1 --key-env NOT_SET_HERE
	has "$stderr" 'NOT_SET_HERE is not set'
	# like any other value that the policy file cannot have
	echo '{"kind":"llm","base_url":"http://127.0.0.1:9/v1","model":"m","key_env":"NOT_SET_HERE"}' >policy.json
	expect 3 rolldbg run --policy policy.json
	has "$stderr" "policy policy.json: the model's API key: the variable NOT_SET_HERE is not set"
	expect 2 rolldbg run --policy policy.json --key-env NOR_THIS
	has "$stderr" 'the variable NOR_THIS is not set'
	expect 2 rolldbg run --policy llm --model m --base-url http://me:word@127.0.0.1:9/v1
	lacks "$stderr" me:word
	start lake "$ROLLDBG" serve --port 0
	expect 1 rolldbg run --policy llm --model m --base-url "$url" --model-retries 0
	has "$output" 'refused: model: request (HTTP 404): '
}

@test "a refused key is sent once, and all rollouts of the batch end as refused" {
	echo '{"key": "sk-right", "replies": [{"text": "x"}]}' >script.json
	model script.json
	expect 1 rolldbg run --policy llm --model m --base-url "$base" --group-size 8 --jobs 1 --out a.jsonl --verbose
	has "$output" '8 of 8 rollouts got an environment · 8 refused'
	all_are a.jsonl end '.status == "refused"'
	has "$output" 'model: 1 request'
	stop_model
}

@test "model usage: requests, tokens, and money if the policy has a price" {
	jq -n '{then: "cycle", replies: [{calls: [{name: "lake_move", arguments: {action: "DOWN"}}],
		usage: {prompt_tokens: 1000, completion_tokens: 50, prompt_tokens_details: {cached_tokens: 400}}}]}' >script.json
	model script.json
	expect 0 rolldbg run --policy llm --model m --base-url "$base" --max-turns 2 --out a.jsonl
	has "$output" $'\nmodel: 2 requests · 2000 prompt tokens (800 cached) · 100 completion tokens'
	echo '{"kind": "llm", "model": "m", "price": {"input": 3, "output": 15, "cached": 0.3, "currency": "EUR"}}' >policy.json
	expect 0 rolldbg run --policy policy.json --base-url "$base" --max-turns 2 --out b.jsonl
	has "$output" ' · 100 completion tokens · 0.00534 EUR'
	echo '{"kind": "llm", "model": "m", "price": {"input": "3", "output": 15}}' >policy.json
	expect 3 rolldbg run --policy policy.json --base-url "$base" --max-turns 2
	has "$stderr" 'a number >= 0 (the price of a million tokens)'
	stop_model
}

@test "a stop string inside a call is reported once per run" {
	jq -n '{then: "cycle", replies: [{text: "<tool_call>\n{\"name\": \"lake_move\", \"arguments\": {\"action\": \"UP\"}}",
		stop_reason: "</tool_call>"}]}' >script.json
	model script.json
	expect 0 rolldbg run --policy llm --model m --base-url "$base" --max-turns 3 --group-size 2 --fail-on never --out a.jsonl
	[ "$(grep -c "a stop string ends the model's reply inside its call" <<<"$stderr")" = 1 ]
	stop_model
}

@test "while waiting for the model, a terminal shows the turn, the seconds and the tokens" {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	jq -n '{replies: [{calls: [{name: "lake_move", arguments: {action: "DOWN"}}], delay: "1300ms"}, {text: "Done.", delay: "500ms"}]}' >script.json
	model script.json
	echo "'$ROLLDBG' run --policy llm --model m --base-url $base --out a.jsonl" >run
	NO_COLOR=1 script -qec "stty cols 100; sh run" /dev/null </dev/null >all
	tr '\r' '\n' <all | sed -n 's/^\x1b\[K//p' >shown
	grep -qx 'turn 0: waiting for the model · 1 s' shown
	grep -qx 'turn 1: waiting for the model · 0 s' shown
	grep -q '^   0  lake_move action=DOWN' shown || grep -q '   0  lake_move action=DOWN' all
	stop_model
}

@test "every file of cases has a test" {
	for file in "$root"/fixtures/llm/*.json; do
		grep -q "play $(basename "$file" .json)\$" "$BATS_TEST_FILENAME"
	done
}
