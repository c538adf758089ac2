#!/usr/bin/env bats
# MCP servers over stdio: unexpected output, how they end, and that no process is left running.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# server <<FUNCTIONS: writes ./server, a shell script. The functions may be greet (run before the reply to initialize),
# call (replies to call number $n with id $id) and bye (run at the end of input).
server() {
	cat >server <<-'END'
		#!/bin/sh
		echo $$ >server.process
		say() { printf '%s\n' "$1"; }
		result() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
		text() { result "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
		greet() { :; }
		call() { text "moved $n"; }
		bye() { :; }
		n=0
	END
	cat >>server
	cat >>server <<-'END'
		while IFS= read -r line; do
			printf '%s\n' "$line" >>asked
			id=${line#*\"id\":}
			id=${id%%[,\}]*}
			case $line in
			*'"method":"initialize"'*)
				greet
				result '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"toy","version":"1"}}'
				;;
			*'"method":"tools/list"'*)
				result '{"tools":[{"name":"move","inputSchema":{"type":"object","properties":{"to":{"type":"string","description":"A, B or C"}}}}]}'
				;;
			*'"method":"tools/call"'*)
				n=$((n + 1))
				call
				;;
			*'"id"'*'"method"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}" ;;
			esac
		done
		bye
	END
	chmod +x server
}

# run_server CODE OPTIONS...: a run against ./server, recorded in a.jsonl, that must exit with CODE.
run_server() {
	local code=$1
	shift
	expect "$code" rolldbg run --force --out a.jsonl --env 'stdio:./server' --state none "$@"
}

# process_ended NAME: also true for a zombie; the pid is in NAME.process.
process_ended() {
	[[ $(ps -o stat= -p "$(cat "$1.process")") != [!Z]* ]]
}

@test "probe: servers that share a file, and need no session ids" {
	server <<-'END'
		call() {
			case $line in
			*look*) [ -e shared ] && text '{\"moved\":1}' || text '{}' ;;
			*) touch shared && text moved ;;
			esac
		}
	END
	expect 1 rolldbg probe --env 'stdio:./server' --protocol mcp --sessions 2 --call 'move to=A' --call 'move to=B' --state tool:look
	has "$output" 'changed: /moved, added: 1'
	has "$output" $'capacity      2 of 2\n'
}

@test "probe: a lamp that each call sets, whatever it was, is not accused; one that is new for each request is" {
	server <<-'END'
		call() {
			case $line in
			*look*) text "{\\\"lamp\\\":\\\"${lamp:-off}\\\"}" ;;
			*'"to":"A"'*) lamp=dim && text 'the lamp is dim' ;;
			*'"to":"B"'*) lamp=bright && text 'the lamp is bright' ;;
			*) lamp=red && text 'the lamp is red' ;;
			esac
		}
	END
	calls=(--call 'move to=A' --call 'move to=B' --call 'move to=C' --call 'move to=B' --state tool:look)
	expect 0 rolldbg probe --env 'stdio:./server' --protocol mcp --sessions 2 "${calls[@]}"
	has "$output" 'unknown  history       not shown: 3 of 3 replies are the same in a fresh session; so are those of tools that'
	sed -i 's/lamp=[a-z]* && //' server
	expect 1 rolldbg probe --env 'stdio:./server' --protocol mcp --sessions 2 "${calls[@]}"
	has "$output" 'fail     history       no history: 3 of 3 replies are the same in a fresh session'
}

@test "a minimal server: every call answered, its exit awaited" {
	server <<-'END'
		bye() { sleep 0.1; echo done >ended; }
	END
	run_server 0 --actions A,B
	all_are a.jsonl step '.outcome == "ok"'
	all_are a.jsonl header '.env.name == "toy" and .env.protocol == "mcp"'
	[ "$(cat ended)" = "done" ]
	process_ended server
	[ "$(grep -c tools/call asked)" = 2 ]
	has "$(head -n 1 asked)" '"method":"initialize"'
}

@test "banners on stdout are skipped and recorded; stderr is kept and is no error" {
	server <<-'END'
		echo 'Toy server 1.0, ready'
		printf '\n\033[1m\n'
		greet() { echo 'warming up: ERROR 7' >&2; }
	END
	run_server 0 --actions A
	jq -e -n '[inputs | select(.event == "noise")] | any(.detail.text == "Toy server 1.0, ready")
		and any(.detail.channel == "stderr" and .detail.text == "warming up: ERROR 7\n")' a.jsonl
	rolldbg strip a.jsonl >stripped
	lacks "$(cat stripped)" 'Toy server'
	server <<-'END'
		call() { for i in 1 2 3 4 5; do echo "banner $i"; done; text moved; }
	END
	run_server 0 --actions A
	has "$output" 'noise: banner 3'
	has "$output" 'noise: 2 more like this'
	lacks "$output" 'banner 4'
	run_server 0 --actions A,B,B
	[ "$(grep -c '  noise: ' <<<"$output")" = 4 ] # those of a server that logs each request, too
	has "$output" $'noise: 12 more like this\nfinished'
	server <<-'END'
		greet() { echo 'warming up: ERROR 7' >&2; }
	END
	run_server 0 --actions A -v
	has "$stderr" 'server: warming up: ERROR 7'
}

@test "list_changed before the reply to initialize, replies out of order, a request of the server" {
	server <<-'END'
		greet() {
			say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
			say '{"jsonrpc":"2.0","id":"q","method":"ping"}'
		}
		call() {
			say '{"jsonrpc":"2.0","id":99,"result":{"content":[]}}'
			text "moved $n"
		}
	END
	run_server 0 --actions A
	all_are a.jsonl step '.observation == "moved 1"'
	jq -e -n '[inputs | .event // empty] | sort == ["late-reply", "notification"]' a.jsonl
	grep -qF '{"jsonrpc":"2.0","id":"q","result":{}}' asked
}

@test "a late reply is not taken for the next one, and the server gets a cancellation" {
	server <<-'END'
		call() {
			if [ "$n" = 1 ]; then
				late=$id
				return
			fi
			[ -z "$late" ] || say "{\"jsonrpc\":\"2.0\",\"id\":$late,\"result\":{\"content\":[]}}"
			late=
			text "moved $n"
		}
	END
	run_server 0 --actions A,B --timeout "$short" --fail-on never
	jq -e -n '[inputs | select(.type == "step") | .outcome] == ["timeout", "ok"]' a.jsonl
	jq -e -n '[inputs | select(.event == "late-reply")] | length == 1' a.jsonl
	grep -qF '"method":"notifications/cancelled","params":{"requestId":' asked
}

@test "an answer that is not a JSON-RPC response ends the wait" {
	server <<-'END'
		call() { sed "s/ID/$id/" answer; }
	END
	while IFS='|' read -r answer why; do
		echo "$answer" >answer
		run_server 1 --actions A,B --timeout "$short"
		all_are a.jsonl step '.outcome == "protocol-error" and .error.layer == "jsonrpc" and .error.class == "protocol"'
		has "$(jq -r 'select(.type == "step") | .error.message' a.jsonl)" "$why"
		jq -e -n '[inputs | select(.event == "noise")] | length == 2 and all(.detail.message | has("id"))' a.jsonl
	done <<-'END'
		{"id":ID,"result":{}}|it lacks "jsonrpc":"2.0"
		{"jsonrpc":"2.0","id":ID}|it has neither a result nor an error
		{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1}}|it has both a result and an error
		{"jsonrpc":"2.0","id":ID,"error":"boom"}|its error is not an object
	END
}

@test "an id returned as a string is accepted and reported once" {
	server <<-'END'
		call() { id="\"$id\""; text "moved $n"; }
	END
	run_server 0 --actions A,B --timeout "$short"
	all_are a.jsonl step '.outcome == "ok"'
	jq -e -n '[inputs | select(.type == "event")] | length == 1 and (.[0] | .event == "noise" and (.detail.why | contains("string")))' a.jsonl
}

@test "output other than the reply is counted, bytes that are not text are kept" {
	server <<-'END'
		call() {
			say '{"jsonrpc":"2.0","id":99,"result":{"content":[]}}'
			printf '{"text":"a\377b"}\n'
		}
	END
	run_server 1 --actions A --timeout "$short"
	all_are a.jsonl step '.outcome == "timeout" and (.error.message | endswith(", although 2 unrelated messages arrived (one is not JSON: invalid UTF-8)"))'
	[ "$(jq -r 'select(.event == "noise") | .detail.base64' a.jsonl | base64 -d | od -An -tx1 | tr -d ' \n')" = 7b2274657874223a2261ff62227d ]
}

@test "it dies during a call: exit status and last stderr line are reported, the call is not repeated" {
	server <<-'END'
		call() { echo 'fatal: out of cheese' >&2; exit 9; }
	END
	run_server 4 --actions A,B
	all_are a.jsonl step '.outcome == "transport-error" and (.error.message | startswith("the server exited with status 9"))'
	has "$stderr" 'the server exited with status 9: fatal: out of cheese'
	[ "$(grep -c tools/call asked)" = 1 ]
	server <<-'END'
		call() { kill -SEGV $$; }
	END
	run_server 4 --actions A
	has "$stderr" 'the server exited with status 139 (signal 11: Segmentation fault)'
}

@test "an unknown command, an empty stdio:, a program that is not an MCP server" {
	expect 4 rolldbg run --force --out a.jsonl --env 'stdio:no-such-server --port 1' --actions A
	has "$stderr" "rolldbg: 'no-such-server --port 1' could not be started: "
	expect 2 rolldbg run --env stdio: --actions A
	has "$stderr" 'stdio:COMMAND'
	expect 2 rolldbg run --protocol openenv --env stdio:cat --actions A
	# cat sends each request back; our own reply to it is an error
	expect 4 rolldbg run --env stdio:cat --actions A
	has "$stderr" 'stdio:cat is not an MCP server: it does not know the method initialize'
	expect 4 rolldbg run --force --out a.jsonl --env 'stdio:exit 3' --actions A
	has "$stderr" 'the server exited with status 3'
}

@test "floods: an endless line, endless lines, endless stderr" {
	server <<-'END'
		call() { exec yes | tr -d '\n'; }
	END
	run_server 1 --actions A
	all_are a.jsonl step '.outcome == "protocol-error" and (.error.message | contains("a line of more than 24 MiB"))'
	server <<-'END'
		call() { exec yes noise; }
	END
	run_server 1 --actions A --timeout "$short"
	all_are a.jsonl step '.outcome == "timeout"'
	jq -e -n '[inputs | select(.detail.events_dropped?)] | length == 1' a.jsonl
	server <<-'END'
		call() { yes words >&2 & text moved; }
	END
	run_server 0 --actions A,B
	all_are a.jsonl step '.outcome == "ok"'
}

@test "a server that reads nothing and ignores SIGTERM is killed, with its children" {
	server <<-'END'
		call() {
			trap '' TERM
			sleep 1000 &
			echo $! >helper.process
			while :; do sleep 1000; done
		}
	END
	run_server 1 --actions A --timeout "$short"
	all_are a.jsonl step '.outcome == "timeout"'
	wait_for 60 process_ended server
	wait_for 60 process_ended helper
}

# start_hanging_run: starts a run and waits until it is in a call without a reply. Its pid is in run.pid; its exit code
# goes to the file code.
start_hanging_run() {
	server <<-'END'
		call() { trap '' TERM; sleep 1000 & echo $! >helper.process; echo >called; while :; do sleep 1000; done; }
	END
	(
		env --default-signal=INT "$ROLLDBG" run --force --out a.jsonl --env stdio:./server --actions A 3>&- &
		echo $! >run.pid
		code=0
		wait $! || code=$?
		echo $code >code.new
		mv code.new code
	) 3>&- &
	wait_for 60 [ -e called ]
}

@test "however rolldbg ends, even killed, no server is left running" {
	start_hanging_run
	kill -KILL "$(cat run.pid)"
	wait_for 60 process_ended server
	wait_for 60 process_ended helper
	wait_for 60 [ -s code ]
	rm called code
	start_hanging_run
	kill -INT "$(cat run.pid)"
	wait_for 60 grep -q interrupted a.jsonl
	kill -INT "$(cat run.pid)" # the second one ends it at once
	wait_for 60 [ -s code ]
	[ "$(cat code)" = 130 ]
	wait_for 60 process_ended server
	wait_for 60 process_ended helper
}

@test "SIGINT: the recording is complete, and no server is left running" {
	start_hanging_run
	kill -INT "$(cat run.pid)"
	wait_for 60 [ -s code ]
	[ "$(cat code)" = 130 ]
	all_are a.jsonl end '.status == "interrupted"'
	wait_for 60 process_ended server
}

@test "a server gets the variables that the MCP SDKs give, those of --pass-env, and no credential" {
	server <<-'END'
		call() { env | sort >variables; text moved; }
	END
	export NUMBER=7 MY_TOKEN=hunter2hunter2 OPENAI_API_KEY=hunter3hunter3 LOGNAME='() { :; }' TERM=dumb
	run_server 0 --actions A
	lacks "$(cat variables)" hunter
	run grep -vE '^(HOME|PATH|SHELL|TERM|USER|PWD|OLDPWD|SHLVL|_)=' variables
	[ "$output" = "" ]
	run_server 0 --actions A --pass-env NUMBER --pass-env PATH --pass-env MY_TOKEN
	grep -qx NUMBER=7 variables
	grep -qx MY_TOKEN=hunter2hunter2 variables
	[ "$(grep -c ^PATH= variables)" = 1 ]
	run_server 2 --actions A --header-env X-Token=MY_TOKEN --pass-env MY_TOKEN
	has "$stderr" '--pass-env: MY_TOKEN holds a credential for another server'
	run_server 0 --actions A --header-env X-Token=TERM
	lacks "$(cat variables)" TERM=
	run_server 2 --policy llm --model m --base-url http://127.0.0.1:1 --profile openai --pass-env OPENAI_API_KEY
	has "$stderr" '--pass-env: OPENAI_API_KEY holds a credential for another server'
	run_server 2 --actions A --pass-env NOT_SET_HERE
	has "$stderr" 'the variable NOT_SET_HERE is not set'
}

@test "a session that takes too long to open is given up, even if each request is fast" {
	server <<-'END'
		pages() { sleep 0.1; result "{\"tools\":[],\"nextCursor\":\"$((page += 1))\"}"; }
	END
	# replaces the reply with one tool
	sed -i "s/result '{\"tools.*/pages/" server
	run_server 4 --actions A --open-timeout 1s
	all_are a.jsonl end '.status == "unreachable" and .reason == "the session was not open within 1s (open_timeout)"'
	has "$stderr" 'the session was not open within 1s (--open-timeout)'
	[ "$(grep -c tools/list asked)" -lt 20 ]
	process_ended server
	expect 4 rolldbg probe --env stdio:./server --sessions 1 --open-timeout 1s
	has "$stderr" 'the session was not open within 1s (--open-timeout)'
}

@test "a text that only acknowledges: what the server keeps is in structuredContent" {
	server <<-'END'
		call() { result "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"structuredContent\":{\"items\":[$(seq -s, "$n")]}}"; }
	END
	expect 0 rolldbg run --env stdio:./server --state none --actions A,B,C --confirm
	lacks "$output" no-history
	has "$output" 'replies depend on earlier calls'
	expect 0 rolldbg run --env stdio:./server --state observation --actions A,B,C
	has "$output" 'items/1'
	expect 0 rolldbg probe --env stdio:./server --sessions 2 --actions A,B,C
	lacks "$output" 'no history'
}

@test "servers that share their data: the fix does not look for the fault in their code" {
	server <<-'END'
		call() {
			case $line in
			*look*) ;;
			*) echo "$n" >>kept ;;
			esac
			text "$(cat kept 2>/dev/null | tr '\n' ' ')kept"
		}
	END
	expect 1 rolldbg probe --env stdio:./server --sessions 2 --actions A,B --state 'tool:move:{"to":"look"}'
	has "$output" 'fail     isolation     shared'
	has "$output" 'each session has a server of its own, so they share its data'
}
