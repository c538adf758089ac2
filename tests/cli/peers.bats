#!/usr/bin/env bats
# Servers that are unreachable, something other than MCP, or hostile.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# expect_unreachable MESSAGE: the last run printed the message, and the end line in a.jsonl has it as the reason.
expect_unreachable() {
	has "$stderr" "$1"
	all_are a.jsonl end ".status == \"unreachable\" and (.reason | contains(\"$1\"))"
	has "$output" 'unreachable: '
	lacks "$output" clean
}

@test "connection refused: exit 4, a message, and a recording with the reason" {
	expect 4 rolldbg run --env http://127.0.0.1:1/mcp --actions UP --out a.jsonl
	expect_unreachable 'cannot connect to 127.0.0.1:1: connection refused'
	has "$stderr" 'rolldbg: http://127.0.0.1:1/mcp: '
	[ "$(jq -r .type a.jsonl | tr '\n' ' ')" = 'header reset end ' ]
	all_are a.jsonl reset '.outcome == "transport-error" and .error.layer == "transport"'
	expect 1 rolldbg check a.jsonl
	has "$output" 'no findings: the rollout did not start'
	expect 4 rolldbg run --env http://127.0.0.1:1/mcp --actions UP --json
	has "$output" '"status":"unreachable"'
	expect 4 rolldbg run --quiet --env http://127.0.0.1:1/mcp --actions UP
	has "$stderr" 'connection refused'
}

@test "a host name that does not resolve" {
	expect 4 rolldbg run --env http://lake.invalid/mcp --actions UP --out a.jsonl
	expect_unreachable 'lake.invalid'
}

@test "https:// to a server without TLS" {
	start lake "$ROLLDBG" serve --port 0
	expect 4 rolldbg run --env "https${url#http}" --actions UP --out a.jsonl
	expect_unreachable TLS
}

@test "a web page instead of MCP" {
	start lake "$ROLLDBG" serve --port 0 --fault html-200
	expect 4 rolldbg run --env "$url" --actions UP --out a.jsonl
	expect_unreachable 'with a web page '
	all_are a.jsonl reset '.outcome == "protocol-error"'
	canned page <<-'END'
		initialize	raw <html>\x1b[2J\x1b]0;owned\x07<title>Log in</title>
	END
	expect 4 rolldbg run --env "$url" --actions UP --out a.jsonl --force
	expect_unreachable 'with a web page '
	lacks "$output$stderr" $'\e'
}

@test "the wrong path" {
	canned peer </dev/null
	expect 4 rolldbg run --env "${url%/mcp}/other" --actions UP --out a.jsonl
	expect_unreachable 404
	lacks "$stderr" "other: http" # the URL is printed once
	has "$stderr" "rolldbg: ${url%/mcp}/other is not an MCP server: initialize returned HTTP 404"
	has "$stderr" '; it is not recognized as openenv, ors or nemo-gym either. Check the path: MCP servers usually listen at /mcp'
}

@test "initialize is never answered: --timeout" {
	canned peer <<-'END'
		initialize	hang
	END
	expect 4 rolldbg run --env "$url" --actions UP --timeout 300ms --out a.jsonl
	expect_unreachable '300'
	all_are a.jsonl reset '.outcome == "timeout"'
}

@test "calls are never answered: --timeout ends the run" {
	expect 1 rolldbg run --env 'builtin:frozen_lake?fault=hang' --actions "$goal" --timeout "$short" --out a.jsonl
	all_are a.jsonl end '.status == "unreachable" and .steps == 2'
	[ "$(jq -c 'select(.type == "step") | [.outcome, .env_steps]' a.jsonl | uniq -c | awk '{ print $1, $2 }')" = '2 ["timeout",null]' ]
	has "$output" 'error: multi-step-illusion'
	has "$output" $'\ntimed out: no response from '
	lacks "$output" $'\nunreachable: '
}

@test "initialize is refused: exit 1, the server was reached" {
	canned peer <<-'END'
		initialize	error {"code":-32000,"message":"come back later"}
	END
	expect 1 rolldbg run --env "$url" --actions UP --out a.jsonl
	all_are a.jsonl end '.status == "refused" and (.reason | contains("come back later"))'
	has "$output" 'refused: the server refused the session: come back later'
}

@test "OpenEnv over /mcp: a session id of any characters is one parameter of the URL, and an empty one is none" {
	while IFS=$'\t' read -r code id; do
		canned peer <<-END
			openenv/session/create	{"session_id":"$id"}
		END
		expect "$code" rolldbg run --protocol openenv --env "$url" --actions UP --force --out a.jsonl
		lacks "$stderr" 'invalid URL'
		case $code in
		1) has "$output" 'refused: the server refused the session: the reply is not an OpenEnv JSON message' ;;
		4) has "$output" 'to the WebSocket handshake with HTTP 404' ;;
		esac
	done <<-'END'
		4	ok-1
		4	a&b#c d%41
		4	a\"b\\c\r\nX: y
		1	
		1	\ud800
	END
}

@test "drawn calls that are all refused as invalid are no illusion; the same calls, given, are one" {
	canned peer <<-'END'
		tools/call	error {"code":-32602,"message":"move must match ^[A-D]{2}$"}
	END
	expect 0 rolldbg run --env "$url" --policy random:1 -n 4 --out a.jsonl
	has "$output" 'warning: drawn-calls: turns 0-3: the drawn calls do not fit: 4 of 4 were refused; '
	lacks "$output" 'illusion'
	jq -se '.[0].policy.params == {seed: 1, invents: true}' a.jsonl
	rolldbg run --quiet --policy random:1 -n 1 --fail-on never --out lake.jsonl # it names its values
	jq -se '.[0].policy.params == {seed: 1}' lake.jsonl
	expect 0 rolldbg check a.jsonl
	has "$output" 'warning: drawn-calls: '
	expect 1 rolldbg run --env "$url" --policy random:1 --actions UP,DOWN -n 4 --out b.jsonl
	has "$output" 'error: multi-step-illusion: '
	lacks "$output" 'drawn-calls'
}

@test "hostile text from a peer reaches the terminal only escaped" {
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
	# a recording may be as hostile as a server
	printf '{"type":"header","rollout":"\\u001b[2J","format":"rolldbg","version":1}\n{"type":"\\u001b[2J"\n' >b.jsonl
	for command in check show strip; do
		run --separate-stderr rolldbg $command b.jsonl
		clean
	done
}

@test "a successful answer that is not JSON is data, not a failure" {
	canned peer <<-'END'
		tools/call	raw \x1b[2Jnot json
	END
	expect 1 rolldbg run --env "$url" --actions A,B --out a.jsonl
	[ "$(jq -r 'select(.type == "step") | .outcome' a.jsonl | uniq)" = protocol-error ]
	lacks "$output$stderr" $'\e'
}

@test "errors defined by the user: --error-text, and error_text of a policy file" {
	canned peer <<-'END'
		tools/call	{"content":[{"type":"text","text":"{\"board\":[\"Invalid move, try again\"]}"}],"isError":false}
	END
	expect 0 rolldbg run --env "$url" --actions A,B --out a.jsonl
	all_are a.jsonl step '.outcome == "ok"'
	expect 1 rolldbg run --env "$url" --actions A,B --error-text nothing --error-text 'invalid*again' --out b.jsonl
	all_are b.jsonl step '.outcome == "tool-error" and .error.layer == "text" and .error.disagrees == "mcp"'
	all_are b.jsonl step '.error.message == "Invalid move, try again"'
	echo '{"kind":"script","actions":["A","B"],"error_text":["^invalid"]}' >policy.json
	expect 1 rolldbg run --env "$url" --policy policy.json --out c.jsonl
	all_are c.jsonl step '.outcome == "tool-error" and .error.layer == "text"'
	echo '{"kind":"script","actions":["A"],"error_text":[7]}' >policy.json
	expect 3 rolldbg run --env "$url" --policy policy.json --out d.jsonl
	has "$stderr" 'policy policy.json:1: "error_text" must be a string, not 7'
}

@test "the argument that --actions fills: --argument" {
	canned peer <<-'END'
		tools/list	{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"x":{"type":"array"},"why":{}}}}]}
	END
	expect 2 rolldbg run --env "$url" --actions A
	has "$stderr" 'choose it with --argument NAME'
	expect 2 rolldbg run --env "$url" --actions A --argument y
	has "$stderr" "the tool has no argument 'y'"
	rolldbg run --env "$url" --argument x --actions '[1,0],[0,{"a":[1,2]}]' --fail-on never --quiet --out a.jsonl
	[ "$(jq -c 'select(.type == "step") | .tool_call.arguments' a.jsonl | paste -sd' ')" = '{"x":[1,0]} {"x":[0,{"a":[1,2]}]}' ]
}

@test "text with a comma is sent as typed or refused" {
	canned peer <<-'END'
		tools/call	{"content":[{"type":"text","text":"1 row"}]}
	END
	local text="UPDATE u SET role='admin', name='Bob' WHERE id=2"
	for command in run probe 'debug --batch -ex step'; do
		# shellcheck disable=SC2086 # several words
		expect 2 rolldbg $command --env "$url" --actions "$text"
		has "$stderr" "--actions: '$text' may be one value or 2: write values that are not single words as JSON, '[\"a, b\",\"c\"]', or each call with --call 'act KEY=VALUE'"
	done
	expect 2 rolldbg run --env "$url" --actions "$text" --force-call
	expect 2 rolldbg run --env "$url" --actions "$text" --policy random:1
	jq -nc --arg text "$text" '{id:"a", actions:$text}' >tasks.jsonl
	expect 3 rolldbg run --env "$url" --tasks tasks.jsonl
	expect 2 rolldbg run --env "$url" --actions report,final.txt
	run ! grep 'tools/call' peer.log
	rolldbg run --env "$url" --actions "[\"$text\"]" --quiet --out a.jsonl
	jq -nc --arg text "$text" '{id:"a", actions:[$text, "go on"]}' >tasks.jsonl
	rolldbg run --env "$url" --tasks tasks.jsonl --quiet --out b.jsonl
	[ "$(jq -r 'select(.type == "step") | .tool_call.arguments.move' a.jsonl b.jsonl)" = "$text"$'\n'"$text"$'\n'"go on" ]
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
	all_are e.jsonl header '.state_source.ignore == ["/step_count","/episode_id","/n"]'
}

@test "an unreachable proxy is not reported as the target refusing" {
	http_proxy=http://127.0.0.1:1 expect 4 rolldbg run --env http://environment.invalid/mcp --actions UP --out a.jsonl
	expect_unreachable 'cannot connect to the proxy 127.0.0.1:1 to reach environment.invalid:80: connection refused'
}

@test "a --ca-file or SSL_CERT_FILE that is missing or has no certificate gives exit 3 for every peer" {
	echo garbage >garbage
	canned peer </dev/null
	here=${url#http}
	here=${here%/mcp}
	for file in missing garbage; do
		for target in "https$here/mcp" "wss$here/ws" "https$here"; do
			for command in run probe; do
				expect 3 rolldbg $command --env "$target" --ca-file $file
				has "$stderr" "$file"
			done
		done
		SSL_CERT_FILE=$file expect 3 rolldbg run --env "https$here/mcp"
		has "$stderr" "$file"
		expect 3 rolldbg run --policy llm --model m --base-url "https$here" --model-retries 0 --ca-file $file
		expect 3 rolldbg probe --policy llm --model m --base-url "https$here" --model-retries 0 --ca-file $file
	done
}

@test "a schema that is nested too deeply is reported as such" {
	deep=$(printf '{"properties":{"a":%.0s' {1..300})$(printf '{}%.0s' 1)$(printf '}}%.0s' {1..300})
	canned peer <<-END
		tools/list	{"tools":[{"name":"act","inputSchema":$deep}]}
	END
	expect 4 rolldbg run --env "$url" --actions A --out a.jsonl
	has "$stderr" 'invalid JSON (nested too deeply at byte'
	all_are a.jsonl end '.reason | contains("nested too deeply")'
	printf '{"jsonrpc":"2.0","id":1,"result":%s}\n' "$deep" >answer
	expect 4 rolldbg run --env 'stdio:read -r x; cat answer -' --timeout "$short" --actions A --out a.jsonl --force
	has "$stderr" '1 unrelated message arrived (one is not JSON: nested too deeply)'
}

# start_hostile: starts the peer of data/hostile.tsv; sets $url, to which /ROW/MOMENT/mcp is appended.
start_hostile() {
	start hostile "$ROLLDBG_BUILD/tests/tools/hostile_peer" "$data/hostile.tsv"
	url=${url%/mcp}
}

# expect_ended FILE STATUS N: N rollouts of the file ended with that status.
expect_ended() {
	[ "$(jq -s --arg status "$2" '[.[] | select(.type == "end" and .status == $status)] | length' "$1")" = "$3" ] || {
		jq -c 'select(.type == "end") | [.rollout, .status, .reason]' "$1" >&2
		return 1
	}
}

# all_ended FILE N: the file has the headers and ends of N rollouts.
all_ended() {
	[ "$(jq -r 'select(.type == "header") | .rollout' "$1" | sort -u | wc -l)" = "$2" ]
	[ "$(jq -r 'select(.type == "end") | .rollout' "$1" | sort -u | wc -l)" = "$2" ]
}

@test "a reply too large for libcurl, a header or a line ends only its own rollout" {
	start_hostile
	while read -r row moment code ending; do
		for jobs in 1 3; do
			expect "$code" rolldbg run --env "$url/$row/$moment/mcp" --actions A,B,C -g 6 --jobs "$jobs" --force --out "$row.$jobs.jsonl"
			all_ended "$row.$jobs.jsonl" 6
			expect_ended "$row.$jobs.jsonl" "$ending" "${odd:-1}"
			moment=${moment}0 # a moment that never comes
			code=0 ending=finished odd=6
		done
		odd=1
	done <<-'END'
		long-header	open3	4	unreachable
		long-header	list3	4	unreachable
		long-session	open3	4	unreachable
	END
	expect 0 rolldbg run --env "$url/long-header/call5/mcp" --actions A,B,C -g 6 --out call.jsonl
	all_ended call.jsonl 6
	[ "$(jq -c 'select(.type == "step" and .outcome != "ok") | [.rollout, .outcome]' call.jsonl)" = '["env.1","protocol-error"]' ] || { jq -c . call.jsonl >&2; false; }
	expect 0 rolldbg run --env "$url/long-event-id/call5/mcp" --actions A,B,C -g 6 --out id.jsonl
	all_ended id.jsonl 6
	[ "$(jq -c 'select(.type == "event") | [.rollout, .event]' id.jsonl | sort -u)" = '["env.1","noise"]' ]
}

@test "the 5th of 50 sessions offers other tools: the others continue, and tool-drift reports it" {
	start_hostile
	for row in other-tools other-enum; do
		expect 1 rolldbg run --env "$url/$row/list5/mcp" --actions A,B -g 50 --out "$row.jsonl"
		all_ended "$row.jsonl" 50
		expect_ended "$row.jsonl" finished 49
		expect_ended "$row.jsonl" stopped 1
		has "$(jq -r 'select(.type == "end" and .status == "stopped") | .reason' "$row.jsonl")" 'this session differs from others of the run: '
		has "$output" 'error: tool-drift'
		expect 1 rolldbg check "$row.jsonl"
		has "$output" 'tool-drift'
	done
	# if the options fit no session's tools, the first session's tools decide
	expect 2 rolldbg run --env "$url/other-tools/list/mcp" --actions A,B -g 3 --out none.jsonl
	[ ! -s none.jsonl ]
	expect 1 rolldbg run --env "$url/other-enum/list2/mcp" --actions A,B -g 8 --jobs 8 --out many.jsonl
	all_ended many.jsonl 8
	expect_ended many.jsonl stopped 1
}

@test "a value too long for a line is cut, with the hash of the whole and an event" {
	start_hostile
	expect 0 rolldbg run --env "ws${url#http}/huge/message/ws" --actions A,B --out a.jsonl --quiet
	# in one go, as the file has 80 MB
	jq -c 'if .type == "event" then [.event, .turn, .detail.what, .detail.kept, .detail.of > 41943040]
		elif .type == "step" then [.outcome, .state, (.state_hash | length), (.observation.pad | length)]
		elif .type == "header" or .type == "end" then [.type, .rollout, .lines] else empty end' a.jsonl >facts
	grep -v '^\["ok",null,32,41943040\]$' facts >others
	[ $(($(wc -l <facts) - $(wc -l <others))) = 2 ]
	rollout=$(head -n 1 a.jsonl | jq -c .rollout)
	printf '%s\n' "[\"header\",$rollout,null]" '["truncated-bytes",0,"state",0,true]' '["truncated-bytes",1,"state",0,true]' \
		"[\"end\",$rollout,$(wc -l <a.jsonl)]" | diff - others
	# the hashes of the states show that both calls had an effect
	[ "$(rolldbg check --json a.jsonl | jq -r 'select(.type == "rollout") | .effective')" = 2 ]
}
