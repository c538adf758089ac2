#!/usr/bin/env bats
# MCP servers over the older HTTP+SSE transport: a stream is opened first, and messages are posted separately.

load lib

setup_file() {
	everything_start everything sse
	sdk_start sdk1 1 --sse
}

# stream NAME: the endpoint of the stream; these servers have no /mcp.
stream() {
	local at
	at=$(url "$1")
	echo "${at%/mcp}/sse"
}

@test "server-everything: calls, an unknown tool, and the session id" {
	drive echo 0 --env "$(stream everything)" --tool echo --actions hello,world
	holds echo 'header.env.protocol == "mcp" and (header.meta.session | test("^[0-9a-f-]{36}$"))'
	holds echo 'steps | map(.observation) == ["Echo: hello", "Echo: world"]'
	no_findings echo
	drive nope 1 --env "$(stream everything)" --tool eco --actions '{"message":"x"}' --force-call
	holds nope 'steps[0] | .outcome == "tool-error" and .error.class == "unknown-tool"'
}

@test "mcp 1.30: a counter read from a resource" {
	drive counter 0 --env "$(stream sdk1)" --tool count --actions 2,3,4 --state resource:state://counter
	holds counter '[steps[], ending] | map(.state.value) == [0, 2, 5, 9]'
	no_findings counter
}

@test "mcp 1.30: a tool that raises, and a missing argument" {
	drive fail 1 --env "$(stream sdk1)" --tool fail --actions boom
	holds fail 'steps[0] | .outcome == "tool-error" and (.error.message | contains("boom"))'
	drive few 1 --env "$(stream sdk1)" --tool add --actions '{"a":1}' --force-call
	holds few 'steps[0] | .outcome == "tool-error" and .error.class == "arguments"'
}

@test "a URL where neither transport answers" {
	run "$ROLLDBG" run --env "$(url sdk1)" --protocol mcp --actions 1 --out none.jsonl
	[ "$status" = 4 ]
	[[ $output == *"HTTP 404"* ]]
}
