#!/usr/bin/env bats
# Written lines are never lost: full disks, limits, a second writer, kill -9, torn and fused lines.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# expect_whole FILE: the file ends with a line feed, and every line is an object with a type.
expect_whole() {
	[ -z "$(tail -c 1 "$1" | tr -d '\n')" ]
	jq -e .type "$1" >/dev/null
}

limited_run() {
	ulimit -f 4
	rolldbg run --out run.jsonl
}

@test "a file size limit: exit 5, and the lines written are complete" {
	expect 5 limited_run
	has "$stderr" "of this run: File too large"
	expect_whole run.jsonl
	[ "$(wc -c <run.jsonl)" -le 4096 ]
	[ "$(wc -l <run.jsonl)" -gt 2 ]
	expect 1 rolldbg check run.jsonl
	has "$output" incomplete
	lacks "$output" "the last line is truncated"
}

@test "a disk that fills up in the middle of a run" {
	ulimit -c 0
	export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
	expect 5 strace -f -o trace -P "$PWD/run.jsonl" -e inject=write:error=ENOSPC:when=4+ \
		"$ROLLDBG" run --out "$PWD/run.jsonl"
	has "$stderr" "run.jsonl after 3 complete lines of this run: No space left on device"
	expect_whole run.jsonl
	[ "$(wc -l <run.jsonl)" = 3 ]
}

@test "a full device on standard output" {
	full() { rolldbg "$@" >/dev/full; }
	expect 5 full run --out -
	expect 5 full strip "$root/fixtures/recordings/good.jsonl"
}

@test "a recording that another process writes is not touched" {
	exec 9>>run.jsonl
	flock -x 9
	expect 5 rolldbg run --out run.jsonl --force
	has "$stderr" "run.jsonl is being written by another process"
	[ ! -s run.jsonl ]
	exec 9>&-
	expect 0 rolldbg run --out run.jsonl --force
	expect_whole run.jsonl
}

@test "an existing recording is replaced only with --force" {
	expect 0 rolldbg run --out run.jsonl
	cp run.jsonl first
	expect 2 rolldbg run --out run.jsonl
	has "$stderr" "run.jsonl exists; use --force to overwrite it"
	cmp run.jsonl first
}

@test "kill -9 loses at most the line that was being written" {
	rolldbg run --env 'builtin:frozen_lake?fault=slow' --actions "$goal" --out run.jsonl >/dev/null 2>&1 3>&- &
	pid=$!
	wait_for 30 grep -qs '"type":"step"' run.jsonl
	kill -9 "$pid"
	wait "$pid" || true
	head -n "$(wc -l <run.jsonl)" run.jsonl | jq -e .type >/dev/null
	[ "$(grep -c '"type":"step"' run.jsonl)" -ge 1 ]
	expect 1 rolldbg check run.jsonl
	has "$output" incomplete
}

@test "check: file and line of each unreadable line" {
	cd "$root"
	expect 1 rolldbg check fixtures/recordings/torn.jsonl
	has "$output" "the last line is truncated"
	expect 1 rolldbg check fixtures/recordings/fused.jsonl
	has "$output" "not on their own line"
	expect 3 rolldbg check fixtures/recordings/nul-block.jsonl
	has "$stderr" "nul-block.jsonl:2: a NUL byte"
	expect 3 rolldbg check fixtures/recordings/newer-version.jsonl
	has "$stderr" "version 2, but this rolldbg reads versions up to 1"
	expect 1 rolldbg check fixtures/recordings/duplicate-header.jsonl
	has "$output" 'no end line: the recording stops after 1 line'
	expect 3 rolldbg check no-such.jsonl
	has "$stderr" "cannot read no-such.jsonl: No such file or directory"
	expect 0 rolldbg check fixtures/recordings/unknown.jsonl
}

@test "check: a rollout that never started is not clean, as with run" {
	expect 4 rolldbg run --env http://127.0.0.1:1/mcp --actions X --out gone.jsonl
	expect 1 rolldbg check gone.jsonl
	has "$output" 'no findings: the rollout did not start'
	expect 0 rolldbg check --fail-on never gone.jsonl
	expect 0 rolldbg check --only loop gone.jsonl
	expect 1 rolldbg check "$root/fixtures/recordings/refused.jsonl"
}

@test "show and check agree on what changed" {
	rolldbg run --quiet --out a.jsonl
	jq -c '(select(.type == "end").lines) += 1 | ., (select(.step == 2) | {type: "event", rollout, event: "session-replaced", turn})' a.jsonl >b.jsonl
	expect 1 rolldbg check --json b.jsonl
	[ "$(jq -c 'select(.type == "summary") | [.steps, .effective]' <<<"$output")" = '[6,5]' ]
	expect 0 rolldbg show b.jsonl
	[ "$(grep -c ' position .* -> ' <<<"$output")" = 5 ]
	has "$output" '(position 8 -> 9)' # not counted
}

@test "show: interleaved rollouts are shown one after the other" {
	rolldbg run --quiet --out - -g 6 -j 3 | tee many.jsonl | "$ROLLDBG" show - >piped
	expect 0 rolldbg show many.jsonl
	[ "$output" = "$(<piped)" ]
	lacks "$output" '(continued)'
	lacks "$output" unknown
	[ "$(grep -c '^ *5  lake_move' <<<"$output")" = 6 ]
	for one in 0 1 2 3 4 5; do
		expect 0 rolldbg show many.jsonl --rollout "env.$one"
		has "$(<piped)" "$output"
	done
	# a recording without headers is shown as far as possible
	grep -v '"header"' many.jsonl >headless.jsonl
	expect 0 rolldbg show headless.jsonl
	[ "$(grep -c '(continued)' <<<"$output")" = 6 ]
	[ "$(grep -c ' position .* -> ' <<<"$output")" = 36 ]
}

@test "strip: rollouts in the order of their ids, whatever --jobs and the input order" {
	rolldbg run --quiet --out one.jsonl -g 12 -j 3 --policy random:3 -n 9 || true
	rolldbg run --quiet --out two.jsonl -g 12 -j 3 --policy random:3 -n 9 || true
	rolldbg run --quiet --out three/ -g 12 -j 1 --policy random:3 -n 9 || true
	rolldbg strip one.jsonl >one.stripped
	[ "$(grep -c '"type":"end"' one.stripped)" = 12 ]
	jq -r .rollout one.stripped | uniq | LC_ALL=C sort -c -u
	rolldbg strip two.jsonl | cmp - one.stripped
	rolldbg strip three/ | cmp - one.stripped
	rolldbg strip - <one.jsonl | cmp - one.stripped
	# shellcheck disable=SC2002 # pipes are read differently from files
	cat one.jsonl | "$ROLLDBG" strip - | cmp - one.stripped
	rolldbg strip <(cat one.jsonl) | cmp - one.stripped
	rolldbg strip one.stripped | cmp - one.stripped
	# one recording in two parts, with a rollout's lines in both
	head -50 one.jsonl >head.jsonl
	tail -n +51 one.jsonl >tail.jsonl
	rolldbg strip head.jsonl tail.jsonl | cmp - one.stripped
}

@test "a closed standard output gives exit 5, for a recording and for a summary" {
	code=0
	rolldbg run --out - >&- 2>err || code=$?
	[ $code = 5 ]
	has "$(cat err)" 'standard output'
	code=0
	rolldbg run --out a.jsonl >&- 2>err || code=$?
	[ $code = 5 ]
	has "$(cat err)" 'standard output'
	rolldbg check a.jsonl
}

@test "a step's time is when the call was sent, not when it was answered" {
	rolldbg run --quiet --env 'builtin:frozen_lake?delay=300ms' --actions DOWN --out run.jsonl
	jq -se 'def ms: sub("\\.(?<ms>[0-9]+)Z$"; "Z") as $s | ($s | fromdate) * 1000 + (match("\\.([0-9]+)Z").captures[0].string | tonumber);
		(map(select(.type == "end"))[0].meta.ended | ms) as $ended | map(select(.type == "step"))[0].meta
		| $ended - (.at | ms) >= .latency_ms - 2 and .latency_ms > 290' run.jsonl
}

@test "strip and show of a file without a line: no recording; /dev/null is an empty one" {
	: >empty.jsonl
	printf '\n\n' >blank.jsonl
	mkdir directory
	: >directory/a.jsonl
	for file in empty.jsonl blank.jsonl; do
		expect 3 rolldbg strip "$file"
		has "$stderr" "$file: contains no recording"
		expect 3 rolldbg show "$file"
		has "$stderr" "$file: contains no recording"
		expect 3 rolldbg show --turn 1 "$file"
		has "$stderr" "$file: contains no recording"
	done
	expect 3 rolldbg strip directory
	has "$stderr" 'directory/a.jsonl: contains no recording'
	expect 3 rolldbg strip - <blank.jsonl
	has "$stderr" 'standard input: contains no recording'
	expect 0 rolldbg strip /dev/null
	[ -z "$output" ]
}
