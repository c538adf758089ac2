#!/usr/bin/env bats
# debug: transcripts against goldens (fixtures/debug), a terminal, interrupts, servers that die.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# transcript NAME: runs the commands of fixtures/debug/NAME.cmds with the arguments in its first line; writes NAME.got.
transcript() {
	local arguments code=0
	arguments=$(sed -n '1s/^# debug //p' "$root/fixtures/debug/$1.cmds")
	# shellcheck disable=SC2086 # a list of words
	(cd recordings && "$ROLLDBG" debug ${arguments/OUT/../$1.jsonl} <"../$1.cmds") >"$1.raw" 2>&1 || code=$?
	echo "exit code $code" >>"$1.raw"
	sed -E "s|[^ ]*/state/rolldbg/[^ ]*jsonl|STATE|; s|\\.\\./$1.jsonl|OUT|" "$1.raw" >"$1.got"
}

@test "transcripts: recordings, user errors, live sessions, forks, --interpreter json" {
	mkdir recordings
	cp "$root"/fixtures/debug/*.jsonl "$root"/fixtures/debug/*.gdb recordings
	cp "$root"/fixtures/debug/*.cmds .
	for file in *.cmds; do
		name=${file%.cmds}
		transcript "$name"
		diff -u "$root/fixtures/debug/$name.out" "$name.got" >&2
	done
}

# start_debugger COMMAND...: starts the command with a pipe as its input, for send_command; its output goes to talk.out.
start_debugger() {
	mkfifo commands
	"$@" <commands >talk.out 2>&1 3>&- &
	echo $! >talk.pid
	exec 4>commands
}

send_command() {
	printf '%s\n' "$1" >&4
}

# wait_for_output TEXT: waits until the debugger has printed the text.
wait_for_output() {
	wait_for 60 grep -qF -- "$1" talk.out
}

# close_input CODE: closes the debugger's input; it must exit with CODE.
close_input() {
	local code=0
	exec 4>&-
	wait "$(cat talk.pid)" || code=$?
	rm talk.pid
	[ "$code" = "$1" ] || { echo "exit code $code" >&2; cat talk.out >&2; return 1; }
}

@test "Ctrl-C interrupts a call, not the program; the recording can be examined" {
	start_debugger "$ROLLDBG" debug --env 'builtin:frozen_lake?fault=hang' --actions DOWN,DOWN --out a.jsonl
	send_command step
	wait_for 60 test -s a.jsonl
	sleep 0.3
	kill -INT "$(cat talk.pid)"
	wait_for_output 'the session has ended: interrupted'
	kill -INT "$(cat talk.pid)"
	send_command 'print outcome'
	wait_for_output 'outcome       "transport-error"'
	close_input 0
	[ "$(jq -r 'select(.type == "end").status' a.jsonl)" = interrupted ]
}

@test "a slow model is interrupted, its call is made by hand, and the rollout continues" {
	echo '{"then": "last", "replies": [{"delay": "60s", "text": "x"}, {"calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]}]}' >slow.json
	model slow.json
	start_debugger "$ROLLDBG" debug --env builtin:frozen_lake --policy llm --model m --base-url "$base/v1" --out a.jsonl
	wait_for 60 test -s a.jsonl
	sleep 0.3
	kill -INT "$(cat talk.pid)"
	wait_for_output 'the policy was interrupted'
	send_command 'call lake_move {"action":"RIGHT"}'
	wait_for_output 'position 0 -> 1'
	wait_for_output 'next: lake_move {"action":"DOWN"}'
	send_command 'edit {"action":"LEFT"}'
	send_command step
	wait_for_output 'position 1 -> 0'
	close_input 0
	stop_model
	[ "$(jq -r 'select(.type == "step").tool_call.arguments.action' a.jsonl | paste -sd ' ')" = 'RIGHT LEFT' ]
}

@test "after the server died the session can still be examined" {
	start lake "$ROLLDBG" serve --port 0
	start_debugger "$ROLLDBG" debug --env "$url" --actions DOWN,DOWN,DOWN --out a.jsonl
	send_command step
	wait_for_output 'position 0 -> 4'
	kill -KILL "$(cat lake.pid)"
	send_command step
	wait_for_output transport-error
	send_command step
	wait_for_output 'the session has ended: unreachable'
	send_command 'goto 0'
	send_command 'print ./position'
	wait_for_output './position    4'
	close_input 0
}

@test "a fork names its parent, and its recording is an ordinary one" {
	rolldbg run --quiet --seed 42 --out a.jsonl
	expect 0 rolldbg debug --batch a.jsonl --env builtin:frozen_lake -ex 'fork 2' -ex 'call lake_move {"action":"RIGHT"}' -ex continue
	has "$output" '3 steps repeated; every state matches the recording'
	fork=$(sed -n 's/^recording: //p' <<<"$output")
	all_are "$fork" header '.parent == {rollout: "FrozenLake-v1.0", step: 3, seeded: true} and .meta.parent == "a.jsonl"'
	[ "$(jq 'select(.type == "step").state.position' "$fork" | paste -sd ' ')" = '0 4 8 9 10' ]
	expect 0 rolldbg strip "$fork"
	has "$output" '"parent":{"rollout":"FrozenLake-v1.0","step":3,"seeded":true}'
	lacks "$output" a.jsonl
	expect 0 rolldbg check --quiet "$fork"
}

@test "a fork reads its states from the source of the recorded ones" {
	rolldbg run --quiet --protocol mcp --state observation --actions DOWN,DOWN,RIGHT --fail-on never --out a.jsonl
	expect 0 rolldbg debug --batch a.jsonl --env builtin:frozen_lake --protocol mcp -ex 'fork 2'
	has "$output" '3 steps repeated; '
	lacks "$output" '4 of 4 states are unknown'
	fork=$(sed -n 's/^recording: //p' <<<"$output")
	all_are "$fork" header '.state_source.kind == "observation"'
	expect 0 rolldbg debug --batch a.jsonl --env builtin:frozen_lake --protocol mcp --state none -ex 'fork 2'
	has "$output" '4 of 4 states are unknown'
}

@test "on a terminal: prompt, history and completion" {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	rolldbg run --quiet --seed 42
	jq -c 'if .state then .state["evil\u202eplan"] = 1 else . end' state/rolldbg/latest >a.jsonl
	export NO_COLOR=1 ASAN_OPTIONS=detect_leaks=0 # libedit never frees the names of added functions
	(sleep 0.5; printf 'go\t 2\n'; sleep 0.3; printf 'print ./pos\t\n'; sleep 0.3; printf 's\n\n'; sleep 0.3;
		printf 'print ./evil\t\n'; sleep 0.3; printf 'q\n') |
		TERM=xterm script -qec "'$ROLLDBG' debug a.jsonl; echo code \$?" /dev/null | tr -d '\r' >out
	output=$(cat out)
	has "$output" '(rec) '
	has "$output" 'turn 2 · step 2'
	has "$output" './position    9'
	has "$output" 'turn 4 · step 4'
	lacks "$output" $'\u202e'
	has "$output" 'code 0'
	grep -q goto state/rolldbg/debug-history
}

@test "the history is in the folder of recordings, also if XDG_STATE_HOME is relative, and ignored" {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	export NO_COLOR=1 ASAN_OPTIONS=detect_leaks=0 HOME=$PWD/home XDG_STATE_HOME=state
	rolldbg run --quiet --seed 42
	cp home/.local/state/rolldbg/latest a.jsonl
	(sleep 0.5; printf 'goto 2
'; sleep 0.3; printf 'q
') |
		TERM=xterm script -qec "'$ROLLDBG' debug a.jsonl" /dev/null >out
	grep -q goto home/.local/state/rolldbg/debug-history
}

@test "--max-turns: any number is a limit" {
	for limit in 4 9223372036854775808 18446744073709551615; do
		expect 0 rolldbg debug --batch --max-turns "$limit" --actions DOWN,DOWN,RIGHT -ex continue
		has "$output" 'turn 2 · step 2'
	done
}

@test "nothing is read ahead: a defect is reported when it is reached" {
	rolldbg run --quiet --seed 42 --out a.jsonl
	yes "$(sed -n 3p a.jsonl)" | head -n 2000 >lines
	{ head -n 2 a.jsonl; cat lines; echo garbage; cat lines; } >big.jsonl
	expect 0 rolldbg debug --batch big.jsonl -ex 'step 100'
	expect 2 rolldbg debug --batch big.jsonl -ex 'step 100' -ex 'goto end' -ex 'print step'
	has "$stderr" 'error: big.jsonl:2003: '
	printf 'goto end\nlist\nrs 50\n' >commands
	run rolldbg debug big.jsonl <commands
	has "$output" 'turn 0 · step 0'
}

# dap_frames: the lines of standard input as messages of the Debug Adapter Protocol.
dap_frames() {
	local line
	while IFS= read -r line; do
		printf 'Content-Length: %d\r\n\r\n%s' "$(printf %s "$line" | wc -c)" "$line"
	done
}

# dap_request COMMAND [ARGUMENTS]
dap_request() {
	printf '{"seq":1,"type":"request","command":"%s","arguments":%s}\n' "$1" "${2:-"{}"}"
}

@test "debug --dap: requests and their responses" {
	rolldbg run --quiet --seed 42 --out a.jsonl
	{
		dap_request initialize
		dap_request launch
		dap_request setFunctionBreakpoints '{"breakpoints":[{"name":"reward > 0"},{"name":"rewrd"},{"name":"changed ./position","condition":"turn > 1"}]}'
		dap_request setBreakpoints '{"breakpoints":[{"line":3}]}'
		dap_request configurationDone
		dap_request threads
		dap_request continue
		dap_request stackTrace '{"levels":2}'
		dap_request scopes '{"frameId":4}'
		dap_request variables '{"variablesReference":2}'
		dap_request evaluate '{"expression":"reward > 0 || turn == 2"}'
		dap_request evaluate '{"expression":"goto 4","context":"repl"}'
		dap_request variables '{"variablesReference":2}'
		dap_request frobnicate
		dap_request disconnect
	} | dap_frames >requests
	expect 0 rolldbg debug --dap a.jsonl <requests
	sed 's/Content-Length: [0-9]*\r$//; s/}Content-Length: [0-9]*\r$/}/' <<<"$output" | grep . >got
	jq -es 'map(.seq) == [range(1; length + 1)]' got
	[ "$(jq -r 'select(.type == "event").event' got | paste -sd ' ')" = 'initialized stopped output stopped stopped' ]
	[ "$(jq -r 'select(.event == "stopped").body.reason' got | paste -sd ' ')" = 'entry breakpoint step' ]
	[ "$(jq -r 'select(.type == "response" and .success == false) | .command' got | paste -sd ' ')" = 'variables frobnicate' ]
	jq -es 'map(select(.command == "setFunctionBreakpoints" and .success))[0].body.breakpoints | map(.verified) == [true, false, true]' got
	jq -es 'map(select(.command == "stackTrace" and .success))[0].body | .totalFrames == 4 and (.stackFrames | map(.line)) == [5, 4]' got
	jq -es 'map(select(.command == "variables" and .success))[0].body.variables[0] | .name == "position" and .value == "9"' got
	[ "$(jq -r 'select(.command == "evaluate").body.result' got | head -n 1)" = true ]
}

@test "debug --dap: a live session that cannot start, and requests before it starts" {
	{
		dap_request initialize
		dap_request launch
		dap_request threads
		dap_request scopes
		dap_request setFunctionBreakpoints '{"breakpoints":[{"name":"reward > 0"}]}'
		dap_request configurationDone
		dap_request stackTrace
	} | dap_frames >requests
	expect 4 rolldbg debug --dap --env http://127.0.0.1:9/mcp <requests
	has "$stderr" 'cannot connect to 127.0.0.1:9'
	sed 's/Content-Length: [0-9]*\r$//; s/}Content-Length: [0-9]*\r$/}/' <<<"$output" | grep . >got
	[ "$(jq -r 'select(.type == "event").event' got | paste -sd ' ')" = 'initialized output terminated' ]
	[ "$(jq -r 'select(.success == false) | .command + ": " + .message' got)" = 'scopes: the rollout has not started: send configurationDone first' ]
	jq -es 'map(select(.command == "threads"))[0].body.threads | length == 1' got
	jq -es 'map(select(.event == "output"))[0].body | .category == "stderr" and (.output | startswith("error: cannot connect"))' got
}

@test "debug --dap: threads is answered while the rollout runs" {
	mkfifo requests
	rolldbg debug --dap --env 'builtin:frozen_lake?fault=hang' --actions DOWN <requests >responses &
	local pid=$!
	exec 7>requests
	{
		dap_request initialize
		dap_request configurationDone
		dap_request continue
	} | dap_frames >&7
	wait_for 60 grep -q '"command":"continue"' responses
	dap_request threads | dap_frames >&7
	wait_for 60 grep -q '"command":"threads"' responses
	dap_request disconnect | dap_frames >&7
	exec 7>&-
	wait "$pid"
	[ "$(grep -o '"command":"threads"' responses | wc -l)" = 1 ]
}

@test "debug --dap: input that is not DAP" {
	rolldbg run --quiet --out a.jsonl
	printf 'Content-Length: 3\r\n\r\n{x}' >bad
	expect 3 rolldbg debug --dap a.jsonl <bad
	has "$stderr" 'a message is not JSON'
	printf 'Content-Length: 99999999999\r\n\r\n' >bad
	expect 3 rolldbg debug --dap a.jsonl <bad
	expect 0 rolldbg debug --dap a.jsonl </dev/null
	[ -z "$output" ]
}

@test "run --break and replay --until-divergence enter the debugger" {
	expect 0 rolldbg run --seed 42 --break 'state./position == 9' --out a.jsonl <<<'print tool'
	has "$output" 'turn 2 · step 2'
	has "$output" 'tool          "lake_move"'
	has "$output" 'the session has ended: stopped'
	[ "$(jq -r 'select(.type == "end").steps' a.jsonl)" = 3 ]
	expect 2 rolldbg run --break 'reward >'
	has "$stderr" '--break: column 9: expected a value'
	expect 2 rolldbg run --break turn --group-size 2
	has "$stderr" '--break and --group-size are mutually exclusive'
	rolldbg run --quiet --seed 42 --out good.jsonl
	rolldbg strip good.jsonl >golden.jsonl
	expect 0 rolldbg replay golden.jsonl --until-divergence </dev/null
	has "$output" '6 steps repeated; every state matches the recording'
	expect 1 rolldbg replay golden.jsonl --until-divergence --env 'builtin:frozen_lake?map=8x8' <<<'print ./position'
	has "$output" 'the state before step 1 differs from the recording'
	has "$output" './position    8'
	expect 2 rolldbg replay golden.jsonl --until-divergence --env 'builtin:frozen_lake?map=8x8' <<<'print nothing'
	expect 2 rolldbg replay golden.jsonl good.jsonl --until-divergence
}

@test "recordings in other formats, and from a pipe" {
	expect 0 rolldbg debug --batch "$root/fixtures/convert/atif/in.json" -ex step -ex 'print ./position' -ex 'goto end' -ex rs -ex info
	has "$output" 'position 0 -> 1'
	has "$output" './position    1'
	has "$output" "recording     $root/fixtures/convert/atif/in.json"
	rolldbg run --quiet --seed 42 --out a.jsonl
	run rolldbg debug --batch <(cat a.jsonl) -ex 'goto 3' -ex rs
	[ "$status" = 0 ]
	has "$output" 'turn 2 · step 2'
}

# interrupt_script ARGUMENT...: runs debug against a server that never replies, and interrupts the first call.
interrupt_script() {
	local code=0
	rm -f a.jsonl
	"$ROLLDBG" debug --env 'builtin:frozen_lake?fault=hang' --actions DOWN,DOWN --out a.jsonl "$@" </dev/null >script.out 2>&1 &
	wait_for 60 test -s a.jsonl
	sleep 0.3
	kill -INT $!
	wait $! || code=$?
	[ "$code" = 130 ] || { echo "exit code $code" >&2; cat script.out >&2; return 1; }
	[ "$(jq -r 'select(.type == "end").status' a.jsonl)" = interrupted ]
	grep -qF 'the session has ended: interrupted' script.out
}

@test "Ctrl-C ends a batch script with exit code 130 and a complete recording" {
	interrupt_script --batch -ex step -ex 'print outcome'
	lacks "$(cat script.out)" 'outcome '
	interrupt_script -ex continue
	echo step >commands.gdb
	interrupt_script --batch -x commands.gdb
	interrupt_script --interpreter json --batch -ex step
}

# fork_at_4 SEEDED ARGUMENT...: forks a.jsonl after step 4; sets $fork, its recording, whose "seeded" must be SEEDED.
fork_at_4() {
	local seeded=$1
	shift
	expect 0 rolldbg debug --batch a.jsonl "$@" -ex 'fork 4'
	fork=$(sed -n 's/^recording: //p' <<<"$output")
	all_are "$fork" header ".parent.seeded == $seeded and .parent.step == 5"
}

@test "a fork that diverges from its parent is marked, and so is one without a seed" {
	rolldbg run --quiet --seed 42 --env 'builtin:frozen_lake?protocol=openenv&map=8x8' --actions DOWN,RIGHT,DOWN,RIGHT,DOWN,LEFT --out a.jsonl
	fork_at_4 true --env 'builtin:frozen_lake?protocol=openenv&map=8x8'
	[ -z "$(jq 'select(.type == "event")' "$fork")" ]
	expect 0 rolldbg check --quiet "$fork"
	[ -z "$output" ]
	# a different state is reported when the rollout continues or ends
	fork_at_4 true --env 'builtin:frozen_lake?protocol=openenv&map=4x4'
	has "$output" 'The new session differs from the recording'
	jq -es 'map(select(.type == "event")) | map([.event, .detail]) == [["fork-diverged", {calls: 1, seeded: true}]]' "$fork"
	expect 0 rolldbg check "$fork"
	has "$output" 'seed-ignored: seed 42 did not reproduce the rollout that this one was forked from: the state differs after 1 identical call'
	rolldbg strip "$fork" | grep -q fork-diverged
	# if a repeated call ends the episode, the fork ends there
	rolldbg run --quiet --seed 42 --actions DOWN,RIGHT --out ended.jsonl
	jq -c 'if .type == "step" and .step == 1 then .terminated = false | .tool_call.arguments.action = "RIGHT" else . end' ended.jsonl >hole.jsonl
	expect 0 rolldbg debug --batch hole.jsonl --env builtin:frozen_lake -ex 'fork 1'
	fork=$(sed -n 's/^recording: //p' <<<"$output")
	jq -es 'map(select(.type == "event")) | map(.detail) == [{calls: 2, seeded: true}]' "$fork"
	# an environment without seeds
	rolldbg run --quiet --env 'builtin:frozen_lake?fault=no-control-plane' --seed 42 --state observation --actions DOWN,RIGHT,DOWN,RIGHT,DOWN --out unseeded.jsonl || true
	mv unseeded.jsonl a.jsonl
	expect 0 rolldbg debug --batch a.jsonl --env 'builtin:frozen_lake?fault=no-control-plane' --state observation -ex 'fork 1'
	has "$output" 'warning: the environment does not accept a seed; the new session may start in another state'
	all_are "$(sed -n 's/^recording: //p' <<<"$output")" header '.parent.seeded == false'
}
