#!/usr/bin/env bats
# Servers that are not there, are something else, or are hostile.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# unreachable MESSAGE: the last run was exit 4 with that sentence, and a.jsonl has an end line that says so.
unreachable() {
	has "$stderr" "$1"
	all_are a.jsonl end ".status == \"unreachable\" and (.reason | contains(\"$1\"))"
	has "$output" 'unreachable: '
	lacks "$output" clean
}

@test "nobody listens: exit 4, a sentence, and a recording that says so" {
	expect 4 rolldbg run --env http://127.0.0.1:1/mcp --actions UP --out a.jsonl
	unreachable 'cannot connect to 127.0.0.1:1: connection refused'
	has "$stderr" 'rolldbg: http://127.0.0.1:1/mcp: '
	[ "$(jq -r .type a.jsonl | tr '\n' ' ')" = 'header reset end ' ]
	all_are a.jsonl reset '.outcome == "transport-error" and .error.layer == "transport"'
	expect 1 rolldbg check a.jsonl
	has "$output" 'no findings, but the rollout did not run to its end'
	expect 4 rolldbg run --env http://127.0.0.1:1/mcp --actions UP --json
	has "$output" '"status":"unreachable"'
	expect 4 rolldbg run --quiet --env http://127.0.0.1:1/mcp --actions UP
	has "$stderr" 'connection refused'
}

@test "a name that does not resolve" {
	expect 4 rolldbg run --env http://lake.invalid/mcp --actions UP --out a.jsonl
	unreachable 'lake.invalid'
}

@test "TLS to a server without" {
	start lake "$ROLLDBG" serve --port 0
	expect 4 rolldbg run --env "https${url#http}" --actions UP --out a.jsonl
	unreachable TLS
}

@test "a web page instead of MCP" {
	start lake "$ROLLDBG" serve --port 0 --fault html-200
	expect 4 rolldbg run --env "$url" --actions UP --out a.jsonl
	unreachable text/html
	all_are a.jsonl reset '.outcome == "protocol-error"'
	canned page <<-'END'
		initialize	raw <html>\x1b[2J\x1b]0;owned\x07<title>Log in</title>
	END
	expect 4 rolldbg run --env "$url" --actions UP --out a.jsonl --force
	unreachable text/html
	lacks "$output$stderr" $'\e'
}

@test "the wrong path" {
	canned peer </dev/null
	expect 4 rolldbg run --env "${url%/mcp}/other" --actions UP --out a.jsonl
	unreachable 404
	lacks "$stderr" "other: http" # the place stands there once
	has "$stderr" "rolldbg: ${url%/mcp}/other answered initialize with HTTP 404"
}

@test "initialize is never answered: --timeout" {
	canned peer <<-'END'
		initialize	hang
	END
	expect 4 rolldbg run --env "$url" --actions UP --timeout 300ms --out a.jsonl
	unreachable '300'
	all_are a.jsonl reset '.outcome == "timeout"'
}

@test "calls are never answered: --timeout, and the run ends" {
	expect 4 rolldbg run --env 'builtin:frozen_lake?fault=hang' --actions "$goal" --timeout "$short" --out a.jsonl
	all_are a.jsonl end '.status == "unreachable" and .steps == 2'
	[ "$(jq -c 'select(.type == "step") | [.outcome, .env_steps]' a.jsonl | uniq -c | awk '{ print $1, $2 }')" = '2 ["timeout",null]' ]
	has "$output" 'error: multi-step-illusion'
}

@test "initialize is refused: exit 1, the server was reached" {
	canned peer <<-'END'
		initialize	error {"code":-32000,"message":"come back later"}
	END
	expect 1 rolldbg run --env "$url" --actions UP --out a.jsonl
	all_are a.jsonl end '.status == "refused" and (.reason | contains("come back later"))'
	has "$output" 'refused: the server gave no session: come back later'
}

@test "hostile text from a peer never reaches the terminal as it is" {
	bad='\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u009b2J\u202eevil'
	canned peer <<-END
		initialize	{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"na${bad}me","version":"${bad}"}}
		tools/list	{"tools":[{"name":"to${bad}ol","description":"${bad}","inputSchema":{"type":"object","properties":{"k${bad}":{"enum":["${bad}"]}},"required":["k${bad}"]}}]}
		tools/call	{"isError":true,"content":[{"type":"text","text":"no${bad}"}]}
	END
	clean() {
		lacks "$output$stderr" $'\e'
		lacks "$output$stderr" $'\a'
		lacks "$output$stderr" $'\u009b'
		lacks "$output$stderr" $'\u202e'
	}
	expect 2 rolldbg run --env "$url" --actions X
	clean
	expect 2 rolldbg run --env "$url"
	clean
	has "$stderr" 'to\u001b]0;owned'
	expect 1 rolldbg run -vv --env "$url" --actions X --force-call --policy random:1 -n 3 --out a.jsonl || true
	clean
	expect 1 rolldbg run -vv --env "$url" --policy random:1 -n 3 --force --out a.jsonl
	clean
	has "$output" 'na\u001b]0;owned'
	for command in check show 'show --turn 1'; do
		read -ra words <<<"$command"
		run --separate-stderr rolldbg "${words[@]}" a.jsonl
		clean
		has "$output" 'owned'
	done
	run --separate-stderr rolldbg check --json a.jsonl
	clean
	jq -e . <<<"$output"
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	output=$(NO_COLOR=1 script -qec "'$ROLLDBG' strip a.jsonl" /dev/null)
	clean
	[ "$(tr -d '\r' <<<"$output" | jq -c .)" = "$(rolldbg strip a.jsonl | jq -c .)" ]
	# a recording may be just as hostile as a server
	printf '{"type":"header","rollout":"\\u001b[2J","format":"rolldbg","version":1}\n{"type":"\\u001b[2J"\n' >b.jsonl
	for command in check show strip; do
		run --separate-stderr rolldbg $command b.jsonl
		clean
	done
}

@test "a call that succeeds with an answer that is not JSON is data, not a crash" {
	canned peer <<-'END'
		tools/call	raw \x1b[2Jnot json
	END
	expect 1 rolldbg run --env "$url" --actions A,B --out a.jsonl
	[ "$(jq -r 'select(.type == "step") | .outcome' a.jsonl | uniq)" = protocol-error ]
	lacks "$output$stderr" $'\e'
}

@test "state sources on a plain server" {
	canned peer <<-'END'
		tools/call	{"content":[{"type":"text","text":"{\"at\":{\"x\":1}}"}]}
		resources/read	{"contents":[{"uri":"s://1","text":"{\"n\":1}"}]}
	END
	expect 0 rolldbg run --env "$url" --actions A,B --state observation:/at --out a.jsonl
	jq -es 'map(select(.type == "step")) | .[0].state == null and .[1].state == {"x": 1}' a.jsonl
	expect 0 rolldbg run --env "$url" --actions A,B --state resource:s://1 --out b.jsonl
	all_are b.jsonl step '.state == {"n": 1}'
	expect 0 rolldbg run --env "$url" --actions A,B --state 'tool:act:{"move":"look"}' --out c.jsonl
	all_are c.jsonl step '.state == {"at": {"x": 1}}'
	expect 0 rolldbg run --env "$url" --actions A,B --state none --out d.jsonl
	all_are d.jsonl step '.state == null'
	expect 0 rolldbg run --env "$url" --actions A,B --state resource:s://1 --ignore /n --out e.jsonl
	all_are e.jsonl header '.state_source.ignore == ["/n"]'
}
