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
