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
