#!/usr/bin/env bats
# Servers with sessions, without sessions, and with both, used in each era. PyPI mcp 2.3 supports both on one endpoint.

# shellcheck disable=SC2154 # variables of bats

bats_require_minimum_version 1.5.0
load lib

setup_file() {
	sdk_start both 2
	everything_start everything
}

# one_call TOOL: writes a policy that calls the tool once, without arguments, and prints its path.
one_call() {
	echo "{\"kind\": \"script\", \"calls\": [{\"name\": \"$1\", \"arguments\": {}}]}" >"$1.json"
	echo "$1.json"
}

# run_counter NAME ERA: three effective steps on a new server.
run_counter() {
	sdk_start "$1" 2
	drive "$1" 0 --env "$(url "$1")" --era "$2" --tool count --actions 2,3,4 --state resource:state://counter
	holds "$1" 'header.env.name == "counter" and (header.tools | length) > 5'
	holds "$1" 'steps | map(.outcome) == ["ok", "ok", "ok"]'
	holds "$1" '(steps | map(.state.value)) + [ending.state.value] == [0, 2, 5, 9]'
	holds "$1" 'events == []'
	no_findings "$1"
}

@test "era modern: no session, and a state that changes" {
	run_counter modern modern
	holds modern 'header.meta.session == null and all(.meta.session == null)'
	holds modern 'header.meta.mcp == {revision: "2026-07-28", era: "modern", transport: "Streamable HTTP"}'
	[[ $("$ROLLDBG" show modern.jsonl) == *" · mcp · era modern · "* ]]
}

@test "era legacy, the default: a session" {
	run_counter legacy legacy
	holds legacy 'header.meta.session | length == 32'
	holds legacy 'header.meta.mcp | .revision == "2025-11-25" and .era == "legacy"'
	drive default 0 --env "$(url legacy)" --tool count --actions 1
	holds default 'header.meta.session | length == 32'
}

@test "era auto: modern for a server that supports both, and -v explains why" {
	run_counter auto auto
	holds auto 'header.meta.session == null'
	run --separate-stderr "$ROLLDBG" -v run --env "$(url auto)" --era auto --tool count --actions 1 --out again.jsonl
	[ "$status" = 0 ]
	[[ $stderr == *"era modern: server/discover lists the revision 2026-07-28"* ]]
}

@test "era auto: mcp 1.30 and server-everything are legacy" {
	sdk_start old 1
	for name in old everything; do
		run --separate-stderr "$ROLLDBG" -v run --env "$(url $name)" --era auto --tool echo --actions hello --out $name.jsonl
		[ "$status" = 0 ]
		[[ $stderr == *"era legacy: not the server/discover reply of a modern server: error -32"* ]]
		holds $name 'steps | length == 1 and .[0].outcome == "ok"'
		holds $name 'header.meta.session != null and events == []'
	done
}

@test "era auto: mcp 1.30 without sessions is legacy, too" {
	sdk_start stateless 1 --stateless --json
	drive stateless 0 --env "$(url stateless)" --era auto --tool count --actions 2,3
	holds stateless 'steps | map(.observation.value) == [2, 5]'
}

@test "era modern: a server that only supports sessions refuses, and the message says what to use" {
	run --separate-stderr "$ROLLDBG" run --env "$(url everything)" --era modern --tool echo --actions hello --out run.jsonl
	[ "$status" = 1 ]
	[[ $stderr == *"--era legacy"* ]]
	holds run 'ending.status == "refused" and steps == []'
}

@test "era modern: an elicitation is answered with the defaults of its form" {
	drive asks 0 --env "$(url both)" --era modern --policy "$(one_call ask)" --state tool:peek
	holds asks 'steps[0].outcome == "ok" and ending.state.value - steps[0].state.value == 3'
	holds asks 'of("event") | length == 1 and (.[0].detail | .what == "input_required" and
		(.answered | to_entries[0].value == {action: "accept", content: {by: 3}}))'
}

@test "era modern: an unsupported capability is named, and the call is an error" {
	drive thinks 1 --env "$(url both)" --era modern --policy "$(one_call think)"
	holds thinks 'steps[0] | .outcome == "protocol-error" and (.error.message | contains("sampling"))'
}

@test "era modern: an argument sent in a header, which the server compares with the call" {
	drive route 0 --env "$(url both)" --era modern --tool route --actions '["us-west1","Füße","=?base64?x?="]'
	holds route 'steps | map(.observation) == ["routed to us-west1", "routed to Füße", "routed to =?base64?x?="]'
	holds route 'events == []'
}

@test "era modern: a tool that raises, and an unknown tool" {
	drive raising 1 --env "$(url both)" --era modern --tool fail --actions one,two,three --state resource:state://counter
	holds raising 'steps | all(.outcome == "tool-error" and .error.layer == "mcp" and .error.class == "tool")'
	fires raising "multi-step-illusion error"
	drive nope 1 --env "$(url both)" --era modern --tool eco --actions hello --force-call
	holds nope 'steps[0] | .outcome == "tool-error" and .error.class == "unknown-tool"'
	fires nope "unknown-tool error"
}

# stdio_command 1|2: the target that runs the same server over stdio.
stdio_command() {
	local python=$installed/gym
	[ "$1" = 1 ] || python=$installed/sdk2
	echo "stdio:PYTHONPYCACHEPREFIX='$installed/pycache' exec '$python/bin/python' -W ignore '$servers/sdk_counter.py' --stdio"
}

@test "stdio: mcp 2.3 in each era" {
	for era in modern legacy auto; do
		drive $era 0 --env "$(stdio_command 2)" --era $era --tool count --actions 2,3 --state resource:state://counter
		holds $era '(steps | map(.state.value)) + [ending.state.value] == [0, 2, 5]'
		no_findings $era
	done
	drive asks 0 --env "$(stdio_command 2)" --era modern --policy "$(one_call ask)"
	holds asks 'steps[0].outcome == "ok" and (of("event") | any(.detail.what == "input_required"))'
}

@test "stdio, era auto: mcp 1.30 is legacy, and is restarted after the discovery request" {
	run --separate-stderr "$ROLLDBG" -v run --env "$(stdio_command 1)" --era auto --tool count --actions 2,3 --state tool:peek --out old.jsonl
	[ "$status" = 0 ]
	[[ $stderr == *"era legacy: "* ]]
	holds old '(steps | map(.state.value)) + [ending.state.value] == [0, 2, 5]'
}

@test "stdio, era auto: a program that exits at the discovery request is restarted" {
	cat >ends.sh <<-'SH'
		while read -r line; do
			id=$(expr "$line" : '.*"id":\([0-9]*\)')
			case $line in
			*server/discover*) exit 1 ;;
			*'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}' ;;
			*tools/list*) result='{"tools":[{"name":"go","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}]}' ;;
			*tools/call*) result='{"content":[{"type":"text","text":"went"}]}' ;;
			*) continue ;;
			esac
			echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
		done
	SH
	drive ends 0 --env "stdio:sh ends.sh" --protocol mcp --era auto --actions there
	holds ends 'steps | map(.observation) == ["went"]'
	"$ROLLDBG" run --env "stdio:sh ends.sh" --protocol mcp --era modern --actions there --out gone.jsonl 2>gone.err || [ $? = 4 ]
	holds gone 'ending.status == "unreachable" and steps == []'
}
