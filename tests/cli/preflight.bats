#!/usr/bin/env bats
# The properties of a model that probe reports: every case of data/preflight.json against a scripted model. A case has a
# script, options, and the expected result: the exit code, the model's properties that are not ok, the number of
# requests, and text that must be printed.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# A healthy environment that is quick to probe.
env=(--env 'builtin:frozen_lake?map=random&max_envs=1' --sessions 2 --need 1 --settle 100ms)

# run_case CASE: runs a case; prints a result that differs from the expected one to standard error.
run_case() {
	local case=$1 code=0 options=() got
	mapfile -t options < <(jq -r '.options // [] | .[]' <<<"$case")
	jq .script <<<"$case" >script.json
	jq '{kind: "llm", name: "case", model: "tiny", sampling: {}} + (.policy // {})' <<<"$case" >policy.json
	model script.json
	OPENAI_API_KEY='' WRONG_KEY=sk-wrong rolldbg probe "${env[@]}" --policy policy.json --base-url "$base" "${options[@]}" --json >lines 2>err 3>&- || code=$?
	stop_model
	got=$(jq -sc --argjson exit $code --argjson want "$(jq -c .want <<<"$case")" --rawfile text lines '
		(map(.name) | index("model")) as $first
		| {exit: $exit,
		   not_ok: (map(select(.type == "property"))[$first:]
			| map(select(.status != "ok" and .value != "none named" and .value != "not requested (--tokens)" and .name != "groups"))
			| map("\(.name):\(.status)") | join(" ")),
		   requests: last.model_requests}
		| . + if $want.says then {says: [$want.says[] | select(. as $s | $text | contains($s))]} else {} end' lines | jq -cS .)
	if grep -q -F -e sk-wrong lines err; then
		got+=' the key is in a sink'
	fi
	[ "$(jq -cS .want <<<"$case")" = "$got" ] || {
		printf '%s: %s\n' "$(jq -r .case <<<"$case")" "$got" >&2
		grep '"model' lines >&2
		return 1
	}
	# a failure has a fix, an unknown property a reason
	all_are lines property '(.status != "fail" or (.fix != null)) and (.status != "unknown" or .evidence != null or .fix != null)'
}

@test "every case" {
	local case bad=0 count=0
	while IFS= read -r case; do
		count=$((count + 1))
		run_case "$case" || bad=1
	done < <(jq -c '.[]' "$data/preflight.json")
	[ "$count" -gt 30 ]
	[ $bad = 0 ]
}

start_ready_model() {
	jq -c '.[0].script' "$data/preflight.json" >script.json
	model script.json
}

@test "the model's properties come after the environment's, in the order of the tables; requests are counted" {
	start_ready_model
	rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "$base" --json >lines
	[ "$(jq -r 'select(.type == "property").name' lines)" = "$(rolldbg __spec | awk -F '\t' '$2 == "property" || $2 == "model-property" { print $3 }')" ]
	stop_model
	start_ready_model
	expect 0 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "$base"
	has "$output" 'ok       model         replies, and is one of 2 listed models'
	has "$output" ' · 5 requests to the model'
	# without a model, none of this is printed
	rolldbg probe "${env[@]}" --json >lines
	run ! grep -q -e '"model"' -e model_requests lines
}

@test "the tool that the model is asked to call is not called" {
	start_ready_model
	start lake "$ROLLDBG" serve --port 0 -vv
	rolldbg probe --env "$url" --sessions 1 --settle 100ms --policy llm --model tiny --base-url "$base" --actions RIGHT --json >lines
	jq -es 'map(select(.name == "tool-calls")) | length == 1 and .[0].status == "ok"' lines
	# probe calls the environment with --actions, not with the model's calls
	jq -es 'map(select(.name == "tools")) | .[0].status == "ok"' lines
}

@test "unreachable server: all properties are printed, exit 4" {
	for place in http://127.0.0.1:1 http://nowhere.invalid/v1; do
		expect 4 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "$place"
		has "$output" 'fail     model         unreachable: cannot '
		has "$output" 'fix: '
		has "$output" '1 request to the model'
	done
	start_ready_model
	expect 4 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "https${base#http}"
	has "$output" 'use http:// instead of https://'
	has "$output" 'fix: use http:// in --base-url'
}

@test "a URL that is not a model server's, and a model that never replies" {
	# this server listens but does not implement the model's API
	canned peer <<-'END'
		tools/call	hang
	END
	expect 1 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "${url%/mcp}" --model-timeout "$short"
	has "$output" 'fail     model         not a chat completions API: HTTP 404'
	has "$output" "the request went to ${url%/mcp}/v1/chat/completions"
	jq -n '{replies: [{delay: "10m"}], then: "last"}' >script.json
	model script.json
	expect 1 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "$base" --model-timeout 200ms --model-retries 0
	has "$output" 'fail     model         no reply: no response from'
	has "$output" '--model-timeout'
}

@test "SIGINT while waiting for the model: exit 130" {
	jq -n '{replies: [{delay: "10m"}], then: "last"}' >script.json
	model script.json
	env --default-signal=INT "$ROLLDBG" probe "${env[@]}" --policy llm --model tiny --base-url "$base" --json >lines 2>err 3>&- &
	pid=$!
	wait_for 60 grep -q '"latency"' lines
	kill -INT $pid
	code=0
	wait $pid || code=$?
	[ $code = 130 ]
}

# shellcheck disable=SC2016 # literal backticks
@test "tasks: tools they name, in their tool lists and in their variables" {
	start_ready_model
	printf '%s\n' '{"id":"a","tool":"lake_move"}' '{"id":"b","vars":{"tools":["lake_mov",{"function":{"name":"lake_move"}}],"hint":"try `lake_jump(far)`, `far` away"}}' >tasks.jsonl
	expect 1 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "$base" --tasks tasks.jsonl
	has "$output" 'fail     tool-names    4 named, 2 unknown: task line 2: lake_mov; task line 2: lake_jump'
	has "$output" 'fix: use lake_move instead of lake_mov; use lake_move instead of lake_jump'
	expect 2 rolldbg probe "${env[@]}" --tasks tasks.jsonl
	has "$stderr" '--tasks needs a policy that asks a model'
	expect 2 rolldbg probe "${env[@]}" --model tiny
	expect 3 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url "$base" --tasks none.jsonl
}

# expect_groups STATUS TEXT OPTIONS...: the property "groups" of an environment with room for two sessions.
expect_groups() {
	local status=$1 words=$2
	shift 2
	start_ready_model
	rolldbg probe --env 'builtin:frozen_lake?map=random&max_envs=2' --settle 100ms --policy llm --model tiny --base-url "$base" --json "$@" >lines 2>err || [ $? = 1 ]
	stop_model
	jq -es --arg status "$status" --arg words "$words" 'map(select(.name == "groups"))[0] | .status == $status and ("\(.value): \(.evidence): \(.fix)" | contains($words))' lines || {
		grep '"groups"' lines >&2
		return 1
	}
}

@test "trainer groups: capacity, size, tasks, and whether their rollouts can differ" {
	printf '{"id":"a"}\n' >tasks.jsonl
	printf '{"kind":"llm","sampling":{"temperature":0}}\n' >greedy.json
	expect_groups skipped 'no trainer'
	expect_groups ok '1 prompt x 2 generations = 2 sessions at once' --num-generations 2 --per-device-train-batch-size 2
	expect_groups fail '4 prompts x 2 generations = 8 sessions at once: 2 get an environment: 1 complete group at a time' --num-generations 2 --per-device-train-batch-size 8
	expect_groups fail '1 task for 2 prompts per batch' --num-generations 2 --per-device-train-batch-size 4 --tasks tasks.jsonl
	expect_groups unknown 'a temperature above 0' --num-generations 2 --per-device-train-batch-size 2 --policy greedy.json
}
