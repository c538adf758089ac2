#!/usr/bin/env bats
# Nothing that was written is lost: full disks, limits, a second writer, kill -9, torn and fused lines.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# whole FILE: it ends with a line feed, and every line is an object that names its type.
whole() {
	[ -z "$(tail -c 1 "$1" | tr -d '\n')" ]
	jq -e .type "$1" >/dev/null
}

limited_run() {
	ulimit -f 4
	rolldbg run --out run.jsonl
}

@test "a file that may not grow: exit 5, and the lines so far are whole" {
	expect 5 limited_run
	has "$stderr" "the next cannot be written: File too large"
	whole run.jsonl
	[ "$(wc -c <run.jsonl)" -le 4096 ]
	[ "$(wc -l <run.jsonl)" -gt 2 ]
	expect 1 rolldbg check run.jsonl
	has "$output" incomplete
	lacks "$output" "half a line"
}

@test "a disk that fills up in the middle of a run" {
	ulimit -c 0
	export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
	expect 5 strace -f -o trace -P "$PWD/run.jsonl" -e inject=write:error=ENOSPC:when=4+ \
		"$ROLLDBG" run --out "$PWD/run.jsonl"
	has "$stderr" "run.jsonl has 3 whole lines of this run, the next cannot be written: No space left on device"
	whole run.jsonl
	[ "$(wc -l <run.jsonl)" = 3 ]
}

@test "a full device on standard output" {
	full() { rolldbg "$@" >/dev/full; }
	expect 5 full run --out -
	expect 5 full strip "$root/fixtures/recordings/good.jsonl"
}

@test "a recording that another process is writing is left alone" {
	exec 9>>run.jsonl
	flock -x 9
	expect 5 rolldbg run --out run.jsonl --force
	has "$stderr" "run.jsonl is being written by another process"
	[ ! -s run.jsonl ]
	exec 9>&-
	expect 0 rolldbg run --out run.jsonl --force
	whole run.jsonl
}

@test "an existing recording is replaced by force only" {
	expect 0 rolldbg run --out run.jsonl
	cp run.jsonl first
	expect 2 rolldbg run --out run.jsonl
	has "$stderr" "run.jsonl exists; --force replaces it"
	cmp run.jsonl first
}

@test "kill -9 costs at most the line that was being written" {
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

@test "check: a place for each line that cannot be read" {
	cd "$root"
	expect 1 rolldbg check fixtures/recordings/torn.jsonl
	has "$output" "half a line"
	expect 1 rolldbg check fixtures/recordings/fused.jsonl
	has "$output" "not on a line of their own"
	expect 3 rolldbg check fixtures/recordings/nul-block.jsonl
	has "$stderr" "nul-block.jsonl:2: a NUL byte"
	expect 3 rolldbg check fixtures/recordings/newer-version.jsonl
	has "$stderr" "version 2, this rolldbg reads up to 1"
	expect 3 rolldbg check fixtures/recordings/duplicate-header.jsonl
	has "$stderr" 'a second header of rollout "lake.0" before its end'
	expect 3 rolldbg check no-such.jsonl
	has "$stderr" "cannot read no-such.jsonl: No such file or directory"
	expect 0 rolldbg check fixtures/recordings/unknown.jsonl
}

@test "check: a rollout that never was is not clean, as run said" {
	expect 4 rolldbg run --env http://127.0.0.1:1/mcp --actions X --out gone.jsonl
	expect 1 rolldbg check gone.jsonl
	has "$output" 'the rollout did not run to its end'
	expect 0 rolldbg check --fail-on never gone.jsonl
	expect 0 rolldbg check --only loop gone.jsonl
	expect 1 rolldbg check "$root/fixtures/recordings/refused.jsonl"
}
