#!/usr/bin/env bats
# Plain MCP servers of three SDKs, without a control plane: calls, refusals, and state from the source that the user
# gives.

load lib

setup_file() {
	everything_start everything
	sdk_start sdk1 1
	sdk_start sdk2 2
}

@test "server-everything: echo" {
	drive echo 0 --env "$(url everything)" --tool echo --actions hello,world
	holds echo 'header.env.protocol == "mcp" and header.state_source.kind == "none"'
	holds echo 'steps | map(.tool_call.arguments) == [{"message": "hello"}, {"message": "world"}]'
	holds echo 'steps | map(.observation) == ["Echo: hello", "Echo: world"]'
	holds echo 'steps | all(.outcome == "ok" and .state == null and .reward == null and .terminated == null)'
	holds echo 'ending.status == "finished"'
	no_findings echo
}

@test "server-everything: a long call reports its progress" {
	echo '{"kind": "script", "calls": [{"name": "trigger-long-running-operation", "arguments": {"duration": 0.2, "steps": 4}}]}' >calls.json
	drive long 0 --env "$(url everything)" --policy calls.json
	holds long 'of("event") | map(select(.event == "notification" and .detail.message.method == "notifications/progress")
		| .detail.message.params.progress) == [1, 2, 3, 4]'
	[[ $("$ROLLDBG" show long.jsonl) == *"notification: 1 more like this"* ]]
	no_findings long
}

@test "server-everything: a call without tool is refused with the list of tools" {
	run "$ROLLDBG" run --env "$(url everything)" --actions hello --out none.jsonl
	[ "$status" = 2 ]
	[[ $output == *echo* ]]
}

@test "server-everything: an unknown tool is refused before the first step, with the nearest name" {
	run "$ROLLDBG" run --env "$(url everything)" --tool eco --actions hello --out none.jsonl
	[ "$status" = 2 ]
	[[ $output == *echo* ]]
}

@test "server-everything: an unknown tool with --force-call" {
	drive nope 1 --env "$(url everything)" --tool eco --actions '{"message":"x"}' --force-call
	holds nope 'steps[0] | .outcome == "tool-error" and .error.class == "unknown-tool"'
	fires nope "unknown-tool error"
}

@test "both SDKs: an unknown tool with --force-call" {
	for version in 1 2; do
		drive nope$version 1 --env "$(url sdk$version)" --tool eco --actions hello --force-call
		holds nope$version 'steps[0] | .outcome == "tool-error" and .error.class == "unknown-tool"'
		fires nope$version "unknown-tool error"
	done
}

# expect_counter NAME START: the recording has three effective steps, and the counter went from START to START + 9.
expect_counter() {
	holds "$1" 'steps | map(.outcome) == ["ok", "ok", "ok"]'
	holds "$1" "steps | map(.tool_call.arguments) == [{\"by\": 2}, {\"by\": 3}, {\"by\": 4}]"
	holds "$1" "(steps | map(.state.value)) + [ending.state.value] | map(. - $2) == [0, 2, 5, 9]"
	no_findings "$1"
	[ "$(jq -c 'select(.type == "rollout") | [.steps, .effective, .failed]' "$1.json")" = '[3,3,0]' ]
}

@test "mcp 1.30: state from a resource" {
	drive counter 0 --env "$(url sdk1)" --tool count --actions 2,3,4 --state resource:state://counter
	holds counter 'header.state_source.kind == "resource"'
	expect_counter counter 0
}

@test "mcp 1.30: state from a tool" {
	drive counter 0 --env "$(url sdk1)" --tool count --actions 2,3,4 --state tool:peek
	holds counter 'header.state_source.kind == "tool"'
	expect_counter counter 9
}

@test "mcp 2.3: state from a resource" {
	drive counter 0 --env "$(url sdk2)" --tool count --actions 2,3,4 --state resource:state://counter
	expect_counter counter 0
}

@test "mcp 2.3: state from a tool" {
	drive counter 0 --env "$(url sdk2)" --tool count --actions 2,3,4 --state tool:peek
	expect_counter counter 9
}

@test "both SDKs: state from the observations" {
	for version in 1 2; do
		sdk_start "own$version" $version
		drive counter$version 0 --env "$(url own$version)" --tool count --actions 2,3,4 --state observation:/value
		holds counter$version '(steps | map(.state)) + [ending.state] == [null, 2, 5, 9]'
		no_findings counter$version
	done
}

@test "both SDKs: a missing state source is reported, and not judged as unchanged" {
	for version in 1 2; do
		drive gone$version 1 --env "$(url sdk$version)" --tool count --actions 1,1,1 --state resource:state://nowhere
		holds gone$version 'steps | all(.outcome == "ok" and .state == null)'
		fires gone$version "missing-state error"
		silent gone$version frozen-state
	done
}

@test "both SDKs: a tool that always raises is an illusion, with or without a reason" {
	for version in 1 2; do
		drive raising$version 1 --env "$(url sdk$version)" --tool fail --actions one,two,three --state resource:state://counter
		holds raising$version 'steps | all(.outcome == "tool-error" and .error.layer == "mcp" and .error.class == "tool")'
		fires raising$version "multi-step-illusion error"
	done
}

# response_mode SERVER: the content type of its responses, and mcp-session-id if it sends that header.
response_mode() {
	hold_session "$(url "$1")" "$BATS_TEST_TMPDIR/asked"
	tr -d '\r' <"$BATS_TEST_TMPDIR/asked" | tr '[:upper:]' '[:lower:]' | sed -nE \
		's|^content-type: ([a-z/-]+).*|\1|p; s|^(mcp-session-id):.*|\1|p' | sort | paste -sd ' '
}

# run_in_mode VERSION NAME MODE [OPTIONS..]: starts a server, which must respond in that mode, and runs the counter.
run_in_mode() {
	local version=$1 name=$2$1 wanted=$3
	shift 3
	sdk_start "$name" "$version" "$@"
	[ "$(response_mode "$name")" = "$wanted" ]
	drive "$name" 0 --env "$(url "$name")" --tool count --actions 2,3,4 --state resource:state://counter
	expect_counter "$name" 0
}

@test "both SDKs: with sessions, responses as event streams" {
	for version in 1 2; do
		run_in_mode $version stream "mcp-session-id text/event-stream"
		holds stream$version 'header.meta.session | length > 0'
	done
}

@test "both SDKs: with sessions, responses as JSON" {
	for version in 1 2; do
		run_in_mode $version json "application/json mcp-session-id" --json
		holds json$version 'header.meta.session | length > 0'
	done
}

@test "both SDKs: without sessions, responses as event streams" {
	for version in 1 2; do
		run_in_mode $version loose "text/event-stream" --stateless
		holds loose$version 'header.meta.session == null'
	done
}

@test "both SDKs: without sessions, responses as JSON" {
	for version in 1 2; do
		run_in_mode $version plain "application/json" --stateless --json
		holds plain$version 'header.meta.session == null'
	done
}

@test "both SDKs: a server without free sessions" {
	for version in 1 2; do
		sdk_start "full$version" $version --max-sessions 1
		hold_session "$(url full$version)" "$BATS_TEST_TMPDIR/held"
		drive refused$version 1 --env "$(url full$version)" --tool count --actions 1,2
		fires refused$version "capacity error"
		holds refused$version 'ending | .status == "refused" and .steps == 0'
		end_session "$(url full$version)" "$BATS_TEST_TMPDIR/held"
		drive room$version 0 --env "$(url full$version)" --tool count --actions 1,2
		no_findings room$version
	done
}

@test "both SDKs: a session lost during a run is replaced once, and the failed call is not sent again" {
	for version in 1 2; do
		sdk_start "forgets$version" $version --forget-after 2
		"$ROLLDBG" run --env "$(url forgets$version)" --tool count --actions 1,1,1,1 --state resource:state://counter \
			--out forgets$version.jsonl >forgets$version.out 2>&1 || [ $? = 1 ]
		holds forgets$version 'events | map(select(. == "session-replaced")) | length == 1'
		holds forgets$version 'steps | map(.outcome) == ["ok", "ok", "session-lost", "ok"]'
		holds forgets$version 'ending.state.value == 3'
	done
}
