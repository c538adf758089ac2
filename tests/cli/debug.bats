#!/usr/bin/env bats
# debug: transcripts against goldens (fixtures/debug), a terminal, interrupts, servers that die.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# transcript NAME: runs the commands of fixtures/debug/NAME.cmds with the arguments in its first line, into NAME.got.
transcript() {
	local arguments code=0
	arguments=$(sed -n '1s/^# debug //p' "$root/fixtures/debug/$1.cmds")
	# shellcheck disable=SC2086 # a list of words
	(cd recordings && "$ROLLDBG" debug ${arguments/OUT/../$1.jsonl} <"../$1.cmds") >"$1.raw" 2>&1 || code=$?
	echo "exit code $code" >>"$1.raw"
	sed -E "s|[^ ]*/state/rolldbg/[^ ]*jsonl|STATE|; s|\\.\\./$1.jsonl|OUT|" "$1.raw" >"$1.got"
}

@test "transcripts of sessions: recordings, mistakes, live, forks, a machine's" {
	mkdir recordings
	cp "$root"/fixtures/debug/*.jsonl "$root"/fixtures/debug/*.gdb recordings
	cp "$root"/fixtures/debug/*.cmds .
	for file in *.cmds; do
		name=${file%.cmds}
		transcript "$name"
		diff -u "$root/fixtures/debug/$name.out" "$name.got" >&2
	done
}

# talk COMMAND...: starts it with a pipe as its input, which `say` writes to; what it prints is in talk.out.
talk() {
	mkfifo commands
	"$@" <commands >talk.out 2>&1 3>&- &
	echo $! >talk.pid
	exec 4>commands
}

say() {
	printf '%s\n' "$1" >&4
}

# told TEXT: it prints that before long.
told() {
	wait_for 20 grep -qF -- "$1" talk.out
}

# hang_up CODE: it ends with that exit code.
hang_up() {
	local code=0
	exec 4>&-
	wait "$(cat talk.pid)" || code=$?
	rm talk.pid
	[ "$code" = "$1" ] || { echo "exit code $code" >&2; cat talk.out >&2; return 1; }
}

@test "Ctrl-C interrupts a call, not the program; the recording can be looked at" {
	talk "$ROLLDBG" debug --env 'builtin:frozen_lake?fault=hang' --actions DOWN,DOWN --out a.jsonl
	say step
	wait_for 20 test -s a.jsonl
	sleep 0.3
	kill -INT "$(cat talk.pid)"
	told 'the session has ended: interrupted'
	kill -INT "$(cat talk.pid)"
	say 'print outcome'
	told 'outcome       "transport-error"'
	hang_up 0
	[ "$(jq -r 'select(.type == "end").status' a.jsonl)" = interrupted ]
}

@test "a model that takes long is interrupted, its call is made by hand, and it goes on" {
	echo '{"then": "last", "replies": [{"delay": "60s", "text": "x"}, {"calls": [{"name": "lake_move", "arguments": {"action": "DOWN"}}]}]}' >slow.json
	model slow.json
	talk "$ROLLDBG" debug --env builtin:frozen_lake --policy llm --model m --base-url "$base/v1" --out a.jsonl
	wait_for 20 test -s a.jsonl
	sleep 0.3
	kill -INT "$(cat talk.pid)"
	told 'the policy was interrupted'
	say 'call lake_move {"action":"RIGHT"}'
	told 'position 0 -> 1'
	told 'next: lake_move {"action":"DOWN"}'
	say 'edit {"action":"LEFT"}'
	say step
	told 'position 1 -> 0'
	hang_up 0
	stop_model
	[ "$(jq -r 'select(.type == "step").tool_call.arguments.action' a.jsonl | paste -sd ' ')" = 'RIGHT LEFT' ]
}

@test "a server that dies leaves a session that can be looked at" {
	start lake "$ROLLDBG" serve --port 0
	talk "$ROLLDBG" debug --env "$url" --actions DOWN,DOWN,DOWN --out a.jsonl
	say step
	told 'position 0 -> 4'
	kill -KILL "$(cat lake.pid)"
	say step
	told transport-error
	say step
	told 'the session has ended: unreachable'
	say 'goto 0'
	say 'print ./position'
	told './position    4'
	hang_up 0
}

@test "a fork names where it came from, and its recording is one like any other" {
	rolldbg run --quiet --seed 42 --out a.jsonl
	expect 0 rolldbg debug --batch a.jsonl --env builtin:frozen_lake -ex 'fork 2' -ex 'call lake_move {"action":"RIGHT"}' -ex continue
	has "$output" '3 steps run again: all states are those recorded'
	fork=$(sed -n 's/^recording: //p' <<<"$output")
	all_are "$fork" header '.parent == {rollout: "FrozenLake-v1.0", step: 3, seeded: true} and .meta.parent == "a.jsonl"'
	[ "$(jq 'select(.type == "step").state.position' "$fork" | paste -sd ' ')" = '0 4 8 9 10' ]
	expect 0 rolldbg strip "$fork"
	has "$output" '"parent":{"rollout":"FrozenLake-v1.0","step":3,"seeded":true}'
	lacks "$output" a.jsonl
	expect 0 rolldbg check --quiet "$fork"
}

@test "on a terminal: a prompt that says what is moved over, history and completion" {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	rolldbg run --quiet --seed 42
	cp state/rolldbg/latest a.jsonl
	export NO_COLOR=1 ASAN_OPTIONS=detect_leaks=0 # libedit never frees the name of a function that was added
	(sleep 0.5; printf 'go\t 2\n'; sleep 0.3; printf 'print ./pos\t\n'; sleep 0.3; printf 's\n\n'; sleep 0.3; printf 'q\n') |
		TERM=xterm script -qec "'$ROLLDBG' debug a.jsonl; echo code \$?" /dev/null | tr -d '\r' >out
	output=$(cat out)
	has "$output" '(rec) '
	has "$output" 'turn 2 · step 2'
	has "$output" './position    9'
	has "$output" 'turn 4 · step 4'
	has "$output" 'code 0'
	grep -q goto state/rolldbg/debug-history
}

@test "nothing is read ahead: what is wrong far behind is met when one gets there" {
	rolldbg run --quiet --seed 42 --out a.jsonl
	for _ in {1..2000}; do sed -n 3p a.jsonl; done >lines
	{ head -n 2 a.jsonl; cat lines; echo garbage; cat lines; } >big.jsonl
	expect 0 rolldbg debug --batch big.jsonl -ex 'step 100'
	expect 2 rolldbg debug --batch big.jsonl -ex 'step 100' -ex 'goto end' -ex 'print step'
	has "$stderr" 'error: big.jsonl:2003: '
	printf 'goto end\nlist\nrs 50\n' >commands
	run rolldbg debug big.jsonl <commands
	has "$output" 'turn 0 · step 0'
}
