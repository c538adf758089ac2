#!/usr/bin/env bats
# Ctrl-C: the recording has an end line, the session is closed, and the exit code is 130.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# start_run OPTION...: starts a run in the background; it records to a.jsonl, and its exit code goes to the file code.
start_run() {
	(
		# shells make background jobs ignore SIGINT: restore the default
		env --default-signal=INT "$ROLLDBG" run --out a.jsonl "$@" >out 2>err 3>&- &
		echo $! >run.pid
		code=0
		wait $! || code=$?
		echo $code >code.new
		mv code.new code
	) 3>&- &
}

interrupt() {
	kill "-${1:-INT}" "$(cat run.pid)"
}

steps_written() {
	[ "$(grep -c '"type":"step"' a.jsonl 2>/dev/null)" -ge "$1" ]
}

ended_with() {
	wait_for 60 [ -s code ]
	[ "$(cat code)" = "$1" ] || {
		cat code out err >&2
		return 1
	}
}

@test "SIGINT while a call hangs: end interrupted, session deleted, exit 130" {
	canned peer <<-'END'
		tools/call	hang
	END
	start_run --env "$url" --actions A,B
	wait_for 60 grep -q 'POST tools/call' peer.log
	interrupt
	ended_with 130
	all_are a.jsonl end '.status == "interrupted" and .steps == 1'
	all_are a.jsonl step '.outcome == "transport-error" and .error.message == "interrupted before the reply"'
	has "$(cat out)" interrupted
	wait_for 60 grep -q '^DELETE$' peer.log
	[ "$(grep -c 'POST tools/call' peer.log)" = 1 ]
}

@test "SIGINT while a step over a WebSocket hangs: a late reply is not taken for its answer" {
	start peer "$ROLLDBG_BUILD/tests/tools/misbehaving_openenv" silent
	start_run --env "${url%/mcp}" --actions on,on,on
	wait_for 60 grep -q 'step 2' peer.log
	interrupt
	ended_with 130
	all_are a.jsonl end '.status == "interrupted" and .steps == 2'
	all_are a.jsonl step '.step == 0 or (.outcome == "transport-error" and .observation == null
		and .error.message == "interrupted before the reply")'
}

@test "SIGINT before the session is open: a recording with an end line" {
	canned peer <<-'END'
		initialize	hang
	END
	start_run --env "$url" --actions A
	wait_for 60 grep -q 'POST initialize' peer.log
	interrupt
	ended_with 130
	all_are a.jsonl end '.status == "interrupted" and .steps == 0'
}

@test "SIGINT between slow steps: finished steps are kept, the slot is released" {
	start lake "$ROLLDBG" serve --port 0 --max-envs 1 --fault slow --delay 200ms
	start_run --env "$url" --policy "$root/policies/lake-wander.json" --max-turns 10000
	wait_for 60 steps_written 2
	interrupt
	ended_with 130
	all_are a.jsonl end '.status == "interrupted" and .steps >= 2'
	expect 0 rolldbg run --env "$url" --actions RIGHT
}

@test "SIGTERM and SIGHUP act like SIGINT" {
	for signal in TERM HUP; do
		rm -f code a.jsonl
		start_run --env builtin:frozen_lake?fault=hang --actions UP
		wait_for 60 [ -s a.jsonl ]
		interrupt $signal
		ended_with 130
		all_are a.jsonl end '.status == "interrupted"'
	done
}

@test "a second SIGINT exits at once" {
	canned peer <<-'END'
		tools/call	hang
	END
	start_run --env "$url" --actions A,B
	wait_for 60 grep -q 'POST tools/call' peer.log
	# the process is stopped, so that both signals are pending when it continues
	interrupt STOP
	interrupt INT
	interrupt TERM
	interrupt CONT
	ended_with 130
	jq -e . a.jsonl >/dev/null
	run ! grep '"type":"end"' a.jsonl
}

@test "replay and bisect say that they were interrupted" {
	local command
	rolldbg run --quiet --out golden.jsonl
	canned peer <<-'END'
		tools/call	hang
	END
	for command in "replay golden.jsonl --env $url" "bisect golden.jsonl --env $url --env $url"; do
		# shellcheck disable=SC2086 # several words
		expect 130 env --default-signal=INT timeout --preserve-status --foreground -s INT 3 "$ROLLDBG" $command
		has "$stderr" 'rolldbg: interrupted'
	done
}

@test "one signal ends the wait for a named pipe that nobody writes to, and for standard input" {
	mkfifo pipe
	while read -r arguments; do
		for input in pipe -; do
			[[ $arguments != debug || $input != - ]] || continue # debug reads its commands there
			[[ $arguments != *--policy || $input != pipe ]] || continue # refused
			# shellcheck disable=SC2086 # words
			env --default-signal=INT "$ROLLDBG" $arguments "$input" < <(exec sleep 60 3>&-) 2>err 3>&- &
			pid=$!
			# its handler is installed, and it waits
			wait_for 60 grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"
			wait_for 60 grep -q '^State:.S' "/proc/$pid/status"
			sleep 0.1
			kill -INT $pid
			code=0
			wait $pid || code=$?
			[ "$code" = 130 ] || {
				echo "$arguments $input: exit code $code, $(cat err)" >&2
				return 1
			}
			has "$(cat err)" ': interrupted'
		done
	done <<-'END'
		replay
		serve
		debug
		shrink --rule loop
		run --tasks
		run --policy
	END
}

has_files() {
	[ -n "$(ls "$1")" ]
}

@test "a signal leaves no unfinished file behind: not SIGINT, nor SIGPIPE" {
	mkdir in out
	rolldbg run --quiet --out in/a.jsonl
	while read -r arguments; do
		# shellcheck disable=SC2086 # words
		env --default-signal=INT "$ROLLDBG" $arguments < <(exec sleep 60 3>&-) >/dev/null 2>&1 3>&- &
		pid=$!
		wait_for 60 has_files out
		kill -INT $pid
		code=0
		wait $pid || code=$?
		[ "$code" = 130 ]
		[ -z "$(ls out)" ]
	done <<-'END'
		check - --report junit:out/a.xml --report sarif:out/a.sarif
		check - --html out/a.html
		show - --html out/a.html
		convert - --from chat --out out/b.jsonl
	END
	exec {closed}> >(:)
	wait $!
	jq -c 'range(2000) as $i | .rollout = "r\($i)"' in/a.jsonl >in/many.jsonl # more than is kept until the end
	code=0
	env --default-signal=PIPE "$ROLLDBG" check in/many.jsonl --json --report junit:out/a.xml >&"$closed" || code=$?
	[ "$code" = 141 ]
	[ -z "$(ls out)" ]
}
