#!/usr/bin/env bats
# The examples in the README and the manual match the program's behavior.

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

@test "man/ and completions/ are up to date with the program's tables" {
	cd "$root"
	tests/lint/generated "$ROLLDBG"
}

# run_examples PAGE: runs a page's examples in a new directory. COLUMNS=69: man indents them on 80 columns.
run_examples() {
	mkdir "$1"
	ln -s "$root/policies" "$1/policies"
	(cd "$1" && XDG_STATE_HOME=$PWD/state COLUMNS=69 "$root/tests/cli/console" "$root/man/$1.scd")
}

@test "the manual: the examples of the overview run" {
	setup_page
	run_examples rolldbg.1
}

@test "the manual: each command has a page, and its examples run" {
	setup_page
	for command in $(rolldbg __spec | awk -F '\t' '$1 == "command" { print $2 }'); do
		for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
			grep -qx "# $section" "$root/man/rolldbg-$command.1.scd"
		done
		run_examples "rolldbg-$command.1"
		grep -q "^\*rolldbg-$command\*(1)$" "$root/man/rolldbg.1.scd"
	done
}

@test "the tutorial: its commands run and print what it shows" {
	setup_page
	run_examples rolldbg-tutorial.7
}

@test "the manual: all pages and sections it refers to exist" {
	cd "$root/man"
	grep -oE '\*rolldbg[a-z-]*\*\([0-9]\)' rolldbg*.scd | sed 's/.*://; s/[*)]//g; s/(/./' | sort -u >"$BATS_TEST_TMPDIR/named"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/named")" -ge 20 ]
	while read -r page; do
		[ -f "$page.scd" ] || echo "no page $page"
	done <"$BATS_TEST_TMPDIR/named" >"$BATS_TEST_TMPDIR/missing"
	for file in rolldbg*.scd "$root"/src/cmd/*.c "$root"/src/cmd/*/*.c; do
		tr -s '"\n\t ' ' ' <"$file" | grep -oE '[ (*][A-Z][A-Z ]+\*? in \*?rolldbg[a-z-]*\*?\([0-9]\)' | sed 's/^.//; s/[*)]//g; s/ in / /; s/(/./' |
			while read -r section; do
				grep -qx "# ${section% *}" "${section##* }.scd" || echo "$file: no section $section"
			done
	done >>"$BATS_TEST_TMPDIR/missing"
	cat "$BATS_TEST_TMPDIR/missing"
	[ ! -s "$BATS_TEST_TMPDIR/missing" ]
}

# documented_keys SECTION...: the keys in these sections of rolldbg-policy(5), each with "required" or nothing. Their
# examples are written to examples.json, as one JSON object.
documented_keys() {
	printf '%s\n' "$@" | awk 'FILENAME == "-" { wanted["# " $0]; next }
		/^# / { inside = $0 in wanted }
		!inside { next }
		{ gsub(/\\/, "") }
		/^\t\t\*/ { examples = examples (examples == "" ? "" : ",") substr($0, 4, length($0) - 4) }
		/^\*.*\)$/ {
			needed = / required\)$/ ? "required" : ""
			sub(/ \(.*/, "")
			gsub(/\*/, "")
			for (i = split($0, key, ", "); i; i--) print key[i] "\t" needed
		}
		END { print "{" examples "}" >"examples.json" }' - "$root/man/rolldbg-policy.5.scd" | sort
}

# table_keys KIND: the keys in the reader's table. "kind" is marked here: it is read before the table is selected.
table_keys() {
	rolldbg __spec | awk -F '\t' -v OFS='\t' -v kind="key-of-$1" '$2 == kind { print $3, $3 == "kind" ? "required" : $4 }' | sort
}

@test "the manual: rolldbg-policy(5) describes the keys that the program reads" {
	setup_page
	run_examples rolldbg-policy.5
	diff <(table_keys script) <(documented_keys 'KEYS OF EVERY KIND' 'KEYS OF A SCRIPT')
	jq 'del(.calls)' examples.json >script.json
	expect 0 rolldbg run --policy script.json --max-turns 2
	jq 'del(.actions, .tool)' examples.json >script.json
	expect 0 rolldbg run --policy script.json --max-turns 2

	diff <(table_keys llm) <(documented_keys 'KEYS OF EVERY KIND' 'KEYS OF A MODEL')
	jq '.kind = "llm" | .base_url = "http://127.0.0.1:1"' examples.json >llm.json
	MODEL_KEY=1234 expect 4 rolldbg run --policy llm.json --model-retries 0
	[ "$(jq length llm.json)" -ge 20 ]

	diff <(table_keys task) <(documented_keys 'TASK FILES')
	jq -c . examples.json >tasks.jsonl
	expect 0 rolldbg run --tasks tasks.jsonl --fail-on never
	jq -c 'del(.policy)' examples.json >tasks.jsonl
	expect 0 rolldbg run --tasks tasks.jsonl
}

@test "an error in a page is noticed" {
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
