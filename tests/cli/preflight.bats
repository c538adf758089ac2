#!/usr/bin/env bats
# The properties of a model that probe reports: every case of data/preflight.json against a scripted model. A case has a
# script, options, and the expected result: the exit code, the model's properties that are not ok, the number of
# requests, and text that must be printed.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# A healthy environment that is quick to probe.
env=(--env 'builtin:frozen_lake?map=random&max_envs=1' --sessions 2 --need 1 --settle 100ms)

# run_cases: runs every case; writes a line {"part":"got"} and the printed lines of each to played. One jq process reads all cases
# and another one judges them: it takes 30 ms to start.
run_cases() {
	local script policy options code option
	while IFS= read -r script && IFS= read -r policy && IFS= read -r options; do
		IFS=$'\x1f' read -r -a option <<<"$options"
		printf '%s' "$script" >script.json
		printf '%s' "$policy" >policy.json
		model script.json
		code=0
		OPENAI_API_KEY='' WRONG_KEY=sk-wrong rolldbg probe "${env[@]}" --policy policy.json --base-url "$base" "${option[@]}" --json >lines 2>err 3>&- </dev/null || code=$?
		stop_model
		printf '{"part":"got","exit":%s,"secret":%s}\n' $code "$(grep -q -F -e sk-wrong lines err && echo true || echo false)"
		cat lines
	done < <(jq -r '.[] | (.script | tojson),
		({kind: "llm", name: "case", model: "tiny", sampling: {}} + (.policy // {}) | tojson),
		(.options // [] | join("\u001f"))' "$data/preflight.json") >played
}

# A failure has a fix, an unknown property a reason.
# shellcheck disable=SC2016 # variables of jq
judge='
	reduce inputs as $line ([];
		if $line | startswith("{\"part\":\"got\"") then . + [{run: ($line | fromjson), text: "", lines: []}]
		else .[-1].text += $line | .[-1].lines += [$line | fromjson] end)
	| if length != ($cases[0] | length) then "\(length) cases were run" else empty end, ([., $cases[0]] | transpose[]
	| .[0] as {$run, $text, $lines} | .[1] as $case
	| ($lines | map(.name) | index("model")) as $first
	| ($lines | map(select(.type == "property"))) as $properties
	| {exit: $run.exit,
	   not_ok: ($properties[$first:]
		| map(select(.status != "ok" and .value != "none named" and .value != "not requested (--tokens)" and .name != "groups"))
		| map("\(.name):\(.status)") | join(" ")),
	   requests: ($lines | last | .model_requests)}
	| . + if $case.want.says then {says: [$case.want.says[] | select(. as $s | $text | contains($s))]} else {} end
	| (if . == $case.want then empty else "\($case.case): \(tojson)", ($lines[] | select(.name == "model") | tojson) end),
	  (if $run.secret then "\($case.case): the key is in a sink" else empty end),
	  (if ($properties | length > 0 and all((.status != "fail" or .fix != null) and (.status != "unknown" or .evidence != null or .fix != null)))
	   then empty else "\($case.case): a property without its reason" end))'

@test "every case" {
	run_cases
	jq -n -R -r --slurpfile cases "$data/preflight.json" "$judge" played >wrong
	[ ! -s wrong ] || { cat wrong >&2 && return 1; }
	[ "$(grep -c '^{"part":"got"' played)" -gt 30 ]
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

@test "tasks are those of a policy that asks a model" {
	printf '%s\n' '{"id":"a","tool":"lake_move"}' >tasks.jsonl
	expect 2 rolldbg probe "${env[@]}" --tasks tasks.jsonl
	has "$stderr" '--tasks needs a policy that asks a model'
	expect 2 rolldbg probe "${env[@]}" --model tiny
	expect 3 rolldbg probe "${env[@]}" --policy llm --model tiny --base-url http://127.0.0.1:9/v1 --tasks none.jsonl
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
