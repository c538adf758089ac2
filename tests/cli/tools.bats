#!/usr/bin/env bats
# rolldbg tools: what a server offers, and what of it could serve as state.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

@test "tools: arguments, hints, a ready call each, and the sources of states, read-only ones first" {
	canned shop <<-'END'
		tools/list	{"tools":[{"name":"add","description":"Adds\n  one.","inputSchema":{"type":"object","properties":{"item":{"type":"string","description":"What"},"n":{"type":"integer","minimum":1,"maximum":9,"default":2},"way":{"enum":["up","down"]}},"required":["item","way"]}},{"name":"list","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}},{"name":"get_item","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"keys":{"type":"array","items":{"type":"string"}}},"required":["keys"]}},{"name":"list_all","inputSchema":{"type":"object"}},{"name":"TodoRead","inputSchema":{"type":"object"}},{"name":"todo_list","inputSchema":{"type":"object"}},{"name":"reset_state","inputSchema":{"type":"object"}},{"name":"clear_list","inputSchema":{"type":"object"}},{"name":"deleteView","inputSchema":{"type":"object"}},{"name":"list_purge","annotations":{"destructiveHint":true},"inputSchema":{"type":"object"}},{"name":"game_state","inputSchema":{"type":"object"}},{"name":"listen"},{"name":"listen"}]}
		resources/list	{"resources":[{"uri":"note:///a","name":"notes","mimeType":"text/plain"}]}
	END
	expect 0 rolldbg tools --env "$url"
	has "$output" '· canned 1 · mcp · 2025-11-25 · 12 tools · 1 resource'
	has "$output" $'\nadd: Adds one.\n    item        string, required: What\n    n           integer 1..9, default 2\n    way         up|down, required\n    --call '"'add item=TEXT way=up'"
	has "$output" $'\nlist\n    read-only\n    --call list\n'
	has "$output" $'\n    no schema: its calls are sent unchecked\n    --call listen\n'
	has "$output" $'    --state tool:list  (read-only, no arguments)\n    --state tool:list_all  (named like a tool'
	has "$output" $'    --state resource:note:///a  (notes)\n    --state '"'tool:get_item:{\"keys\":[\"TEXT\"]}'  (read-only; fill"
	has "$output" '--state tool:TodoRead  (named like a tool'
	has "$output" '--state tool:todo_list  (named like a tool'
	lacks "$output" 'tool:listen'
	has "$output" '--state tool:game_state  (named like a tool'
	for acts in reset_state clear_list deleteView list_purge; do
		lacks "$output" "tool:$acts"
	done
	has "$output" "next: rolldbg run --env $url --call 'add item=TEXT way=up'"
	expect 0 rolldbg tools --env "$url" --protocol mcp
	has "$output" "next: rolldbg run --env $url --protocol mcp --call 'add item=TEXT way=up'"
	has "$stderr" 'duplicate tool name: only the first tool of that name is used: ["listen"]'
	[ -z "$(ls "$XDG_STATE_HOME")" ]
	run grep -c 'POST tools/call' shop.log
	[ "$output" = 0 ]
	eval "set -- $(rolldbg tools --env "$url" 2>/dev/null | sed -n 's/^next: rolldbg//p')"
	expect 0 rolldbg "$@" --confirm --fail-on never --out a.jsonl
	[ "$(jq -c 'select(.type == "step").tool_call.arguments' a.jsonl)" = '{"item":"TEXT","way":"up"}' ]
}

@test "tools --json: a line for each, and the calls can be sent" {
	expect 0 rolldbg tools --env builtin:desk --json
	[ "$(jq -r 'select(.name == "move_item") | .call, (.arguments[1] | .type, .required)' <<<"$output")" = 'move_item key=TEXT drawer=inbox
inbox|shelf|archive
true' ]
	[ "$(jq -r 'select(.name == "list_items") | .state, .why, .hints.readOnlyHint' <<<"$output")" = 'tool:list_items
read-only, no arguments
true' ]
	[ "$(jq -c 'select(.type == "summary") | [.protocol, .state, .tools]' <<<"$output")" = '["mcp-gym","control-plane",8]' ]
	jq -r '.call // empty' <<<"$output" >calls
	expect 0 rolldbg run --env builtin:desk --policy - --fail-on never --out a.jsonl <calls
	[ "$(jq -s 'map(select(.type == "step")) | length' a.jsonl)" = 8 ]
}

@test "tools: OpenEnv, and a server that cannot be reached" {
	expect 0 rolldbg tools --env 'builtin:frozen_lake?protocol=openenv'
	has "$output" ' · openenv · 1 tool'
	has "$output" '--state auto  (used without --state: '
	lacks "$output" 'tool:'
	expect 4 rolldbg tools --env http://127.0.0.1:9/mcp
	has "$stderr" '127.0.0.1:9'
	expect 2 rolldbg tools --env builtin:desk extra
}

@test "--serve and --wait: a server that starts slowly, one that ends, a port that is taken" {
	start first "$ROLLDBG" serve --port 0
	expect 5 rolldbg run --serve 'sleep 60' --env "$url" --actions DOWN
	has "$stderr" 'is taken: something answers there already'
	expect 0 rolldbg run --wait 5s --env "$url" --actions DOWN
	kill "$(cat first.pid)"
	wait "$(cat first.pid)" || true
	rm first.pid
	port=${url##*:}
	port=${port%/mcp}
	export TMPDIR=$PWD
	# shellcheck disable=SC2016 # expanded by the other shell
	printf 'sleep 0.3; echo ready; exec "$0" serve --port %s' "$port" >slow.sh
	expect 0 rolldbg run -v --serve "sh -c '$(cat slow.sh)' $ROLLDBG" --env "$url" --actions DOWN --out a.jsonl
	has "$stderr" 'try 1: cannot connect to 127.0.0.1'
	has "$stderr" "$url is served: it replies with 405"
	# the shell that waits for it ends first; the server has time to end by itself, and the port is free again
	cat >careful.sh <<-END
		trap 'wait; sleep 0.1; : >ended; exit' TERM
		"$ROLLDBG" serve --port $port &
		wait
	END
	expect 0 rolldbg run --serve 'sh careful.sh; true' --env "$url" --actions DOWN --out c.jsonl
	[ -e ended ]
	expect 4 rolldbg tools --serve 'echo no luck; exit 3' --env "$url"
	[ "$stderr" = 'rolldbg: tools: the server of --serve exited with status 3: no luck' ]
	expect 4 rolldbg run --wait 200ms --env "$url" --actions DOWN --out b.jsonl
	has "$stderr" 'no server after 200ms (--wait): cannot connect'
	[ -z "$(find . -name 'rolldbg-serve-*')" ]
	for other in builtin:desk 'stdio:cat'; do
		expect 2 rolldbg tools --serve true --env "$other"
		has "$stderr" '--serve'
	done
}
