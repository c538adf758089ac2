#!/usr/bin/env bats
# What the README and the manual show is what the program does.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

setup_page() {
	mkdir bin
	ln -s "$ROLLDBG" bin/rolldbg
	ln -s "$root/policies" policies
	PATH=$PWD/bin:$PATH
}

@test "README: every console block" {
	setup_page
	"$root/tests/cli/console" "$root/README.md"
}

@test "README: the exit codes are those of the program" {
	while IFS=$'\t' read -r _ _ code _; do
		grep -q "^| $code | " "$root/README.md"
	done < <(rolldbg __spec | grep '^topic	exit')
}

@test "man/ and completions/ are what the program's tables give today" {
	cd "$root"
	tests/lint/generated "$ROLLDBG"
}

@test "the manual: its examples run, one after the other" {
	setup_page
	awk '/^```$/ { inside = !inside; next } inside' "$root/man/rolldbg.1.scd.in" >examples
	[ "$(wc -l <examples)" = 7 ]
	code=0
	while IFS= read -r command; do
		[ $code = 0 ]
		eval "$command" >got || code=$?
	done <examples
	[ $code = 1 ]
	grep -q multi-step-illusion got
}

@test "the manual: every key of every JSON line" {
	expect 1 rolldbg run --env 'builtin:frozen_lake?fault=fallback-session&max_envs=3' --policy random:7 --max-turns 10 --json --out a.jsonl
	printf '%s\n' "$output" >run
	expect 1 rolldbg check --json a.jsonl
	printf '%s\n' "$output" >check
	expect 0 rolldbg probe --json
	printf '%s\n' "$output" >probe
	expect 0 rolldbg stats --by task --json a.jsonl
	printf '%s\n' "$output" >stats
	rolldbg run --quiet --actions DOWN,UP --task one --out golden.jsonl
	echo '{"id":"two"}' >tasks.jsonl
	mkdir goldens
	rolldbg strip golden.jsonl >goldens/one.jsonl
	other='builtin:frozen_lake?map=8x8'
	expect 1 rolldbg replay goldens --env "$other" --json --tasks tasks.jsonl --out b.jsonl
	printf '%s\n' "$output" >replay
	[ "$(jq -r .type replay | sort -u | paste -sd ' ')" = 'difference divergence golden summary' ]
	expect 1 rolldbg diff --json goldens b.jsonl
	printf '%s\n' "$output" >diff
	expect 1 rolldbg diff --stat --json goldens b.jsonl
	printf '%s\n' "$output" >'diff --stat'
	for command in run check probe stats replay diff 'diff --stat'; do
		for type in $(jq -r .type "$command" | sort -u); do
			section=$(awk -v command="*$command*" -v type="\"$type\"" \
				'/^\*.*"type":/ { on = index($0, command) && index($0, type) } on' "$root/man/rolldbg.1.scd.in" | sed 's/[\\]//g')
			[[ $command != 'diff --stat' || $type != summary ]] || continue # as without it
			[ -n "$section" ]
			[[ $command != stats || $type != @(task|metrics) ]] || continue # named under METRICS
			for key in $(jq -r "select(.type == \"$type\") | keys[]" "$command" | sort -u | grep -vx type); do
				has "$section" "*$key*"
			done
		done
	done
}

@test "a page that is wrong is noticed" {
	setup_page
	cat >wrong.md <<-'END'
		```console
		$ echo a
		b
		```
	END
	run "$root/tests/cli/console" wrong.md
	[ "$status" = 1 ]
	sed 's/echo a/echo b; echo c/' wrong.md >longer.md
	run "$root/tests/cli/console" longer.md
	[ "$status" = 1 ]
	cat >right.md <<-'END'
		```console
		$ seq 5
		1
		...
		5
		$ echo "[x] * \\n"
		[x] * \n
		$ false
		$ echo $?
		1
		```
	END
	"$root/tests/cli/console" right.md
}
