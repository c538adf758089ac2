#!/usr/bin/env bats
# check --jobs N: the output equals that of one thread. Large recordings.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# same_check ARGUMENTS..: check prints the same with one thread and with several, also with more threads than files.
same_check() {
	rolldbg check "$@" >one 2>one.err || echo "exit code $?" >>one
	for jobs in 2 3 64; do
		rolldbg check --jobs $jobs "$@" >many 2>many.err || echo "exit code $?" >>many
		cmp one many
		cmp one.err many.err
	done
}

@test "the same bytes: all fixtures, in several orders" {
	# the fixtures share session and rollout ids, and groups span files
	mapfile -t files < <(printf '%s\n' "$root"/fixtures/check/*/*.jsonl "$root"/fixtures/recordings/*.jsonl)
	[ ${#files[@]} -gt 300 ]
	same_check --json "${files[@]}"
	has "$(cat one)" '"type":"summary"'
	for seed in 1 2 3; do
		mapfile -t shuffled < <(printf '%s\n' "${files[@]}" | shuf --random-source=<(yes $seed))
		same_check "${shuffled[@]}"
	done
	same_check --report tap "${files[@]}"
	same_check --report junit:- "${files[@]}"
}

@test "the same bytes: more verdicts in a file than a thread keeps" {
	sed -n '1p;$p' "$root/fixtures/check/incomplete/good-whole.jsonl" >two
	awk '{ line[NR] = $0 }
		END {
			for (i = 0; i < 14000; i++)
				for (k = 1; k <= NR; k++) {
					one = line[k]
					sub(/"rollout":"/, "&" i ".", one)
					print one
				}
		}' two >many.jsonl
	head -n 1000 many.jsonl >few.jsonl
	same_check many.jsonl few.jsonl
	has "$(cat one)" 'many.jsonl: error: incomplete: 14000 findings in all'
}

@test "the same bytes: groups over several files, and a session that is used again" {
	rolldbg run --quiet --task lake --group-size 4 --seed 7 --policy random:1 --max-turns 9 --fail-on never --out group/ >lake.said
	same_check group
	lacks "$(cat one)" session-alias
	# the second file has the first one's sessions
	sed 's/"rollout":"lake.0"/"rollout":"lake.9"/' group/lake.0.jsonl >group/again.jsonl
	same_check --json group
	has "$(cat one)" session-alias
}

@test "the same bytes: unusable files, standard input, an empty file" {
	rolldbg run --quiet --out a.jsonl
	cp a.jsonl b.jsonl
	head -n 3 a.jsonl >torn.jsonl
	echo nothing >nothing.jsonl
	: >empty.jsonl
	same_check a.jsonl nothing.jsonl torn.jsonl empty.jsonl b.jsonl
	has "$(cat one.err)" nothing.jsonl
	rolldbg check a.jsonl - b.jsonl <torn.jsonl >one || true
	rolldbg check --jobs 3 a.jsonl - b.jsonl <torn.jsonl >many || true
	cmp one many
}

# recordings: writes a.jsonl, many rollouts.
recordings() {
	"$ROLLDBG_BUILD/tests/bench/gen_recording" dense 4 >a.jsonl
	[ "$(grep -c '"type":"header"' a.jsonl)" -gt 50 ]
}

@test "strip: the same bytes of a large file with blank lines, two objects on a line, an invalid line" {
	recordings
	rolldbg strip a.jsonl >stripped
	while IFS='|' read -r name script; do
		sed -E "$script" a.jsonl >"$name.jsonl"
		cmp stripped <(rolldbg strip "$name.jsonl")
	done <<-'END'
		blank-lines|7~100s/$/\n/
		blanks|7~100s/^/  /
		carriage-returns|7~100s/$/\r/
		fused|7~100{N;s/\n//}
		spaced|7~100s/,"([a-z_]*)":/, "\1" :\t/g
	END
	head -c -1 a.jsonl >unterminated.jsonl
	cmp stripped <(rolldbg strip unterminated.jsonl)
	# an invalid line far into the file: everything before it in the output order is printed
	sed '/"rollout":"task-7.0"/s/"outcome":"ok"/"outcome":"fine"/' a.jsonl >bad.jsonl
	expect 3 rolldbg strip bad.jsonl
	[ "${#output}" -gt 1000 ]
	# an invalid line is reported with its number
	sed '2000s/"outcome"/outcome/' a.jsonl >bad.jsonl
	expect 3 rolldbg strip bad.jsonl
	has "$stderr" 'bad.jsonl:2000: '
}

@test "an invalid number of jobs" {
	expect 2 rolldbg check --jobs 0 "$root/fixtures/check"
	has "$stderr" '--jobs: expected a number from 1 to 64, got 0'
	expect 2 rolldbg check --jobs 65 "$root/fixtures/check"
}

@test "the same bytes: hints on how to make an unknown effect known" {
	cp "$root/fixtures/check/frozen-state/good-shows-nothing-but-replies-differ.jsonl" a.jsonl
	sed 's/"rollout":"/&b-/' a.jsonl >b.jsonl
	same_check a.jsonl b.jsonl
	has "$(cat one)" 'run with --confirm'
	cp "$root"/fixtures/convert/openai/*.jsonl .
	same_check ./*.jsonl
}

@test "a line of 4 GiB is refused at once" {
	rolldbg run --quiet --out a.jsonl
	cp a.jsonl long.jsonl
	truncate -s 4G long.jsonl # a hole: no space, but bytes without a line feed
	cat a.jsonl >>long.jsonl
	for command in strip 'diff a.jsonl'; do
		# shellcheck disable=SC2086 # a command and its operand
		expect 3 timeout 30 "$ROLLDBG" $command long.jsonl
		has "$stderr" 'long.jsonl:10: the line is longer than 64 MiB'
	done
}
