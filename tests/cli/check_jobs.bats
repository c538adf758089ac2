#!/usr/bin/env bats
# check --jobs N: what it prints is what one thread prints.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# same ARGUMENTS..: with one thread and with several, also more than there are files.
same() {
	rolldbg check "$@" >one 2>one.err || echo "exit code $?" >>one
	for jobs in 2 3 64; do
		rolldbg check --jobs $jobs "$@" >many 2>many.err || echo "exit code $?" >>many
		cmp one many
		cmp one.err many.err
	done
}

@test "the same bytes: all fixtures, in several orders" {
	# they share ids of sessions and rollouts, and groups go on from file to file
	mapfile -t files < <(printf '%s\n' "$root"/fixtures/check/*/*.jsonl "$root"/fixtures/recordings/*.jsonl)
	[ ${#files[@]} -gt 300 ]
	same --json "${files[@]}"
	has "$(cat one)" '"type":"summary"'
	for seed in 1 2 3; do
		mapfile -t shuffled < <(printf '%s\n' "${files[@]}" | shuf --random-source=<(yes $seed))
		same "${shuffled[@]}"
	done
}

@test "the same bytes: groups over several files, and a session that is used again" {
	rolldbg run --quiet --task lake --group-size 4 --seed 7 --policy random:1 --max-turns 9 --fail-on never --out group/ >lake.said
	same group
	lacks "$(cat one)" session-alias
	# the second file's sessions are those of the first
	sed 's/"rollout":"lake.0"/"rollout":"lake.9"/' group/lake.0.jsonl >group/again.jsonl
	same --json group
	has "$(cat one)" session-alias
}

@test "the same bytes: files that cannot be used, standard input, an empty file" {
	rolldbg run --quiet --out a.jsonl
	cp a.jsonl b.jsonl
	head -n 3 a.jsonl >torn.jsonl
	echo nothing >nothing.jsonl
	: >empty.jsonl
	same a.jsonl nothing.jsonl torn.jsonl empty.jsonl b.jsonl
	has "$(cat one.err)" nothing.jsonl
	rolldbg check a.jsonl - b.jsonl <torn.jsonl >one || true
	rolldbg check --jobs 3 a.jsonl - b.jsonl <torn.jsonl >many || true
	cmp one many
}

@test "a number of threads that cannot be meant" {
	expect 2 rolldbg check --jobs 0 "$root/fixtures/check"
	has "$stderr" '--jobs: expected a number from 1 to 64, got 0'
	expect 2 rolldbg check --jobs 65 "$root/fixtures/check"
}

@test "the same bytes: how to make an unknown effect known" {
	cp "$root/fixtures/check/frozen-state/good-a-tank-that-leaks.jsonl" a.jsonl
	sed 's/"rollout":"/&b-/' a.jsonl >b.jsonl
	same a.jsonl b.jsonl
	has "$(cat one)" 'calls change a member of the state that is ignored'
	cp "$root"/fixtures/convert/openai/*.jsonl .
	same ./*.jsonl
}
