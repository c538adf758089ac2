#!/usr/bin/env bats
# Each check of `make lint` finds its errors and accepts good code.

setup() {
	lint=$BATS_TEST_DIRNAME
	root=$(cd "$lint/../.." && pwd)
	export CFLAGS_FOR_LINT="-std=c11 -Isrc -Wall"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p src/base src/json src/check src/net src/serve src/env/mcp src/rollout
	good_header >src/base/thing.h
	good_source >src/base/thing.c
}

good_header() {
	printf '/* A thing. */\n#pragma once\nint thing(void);\n'
}

good_source() {
	printf '/* A thing. */\n#include "base/thing.h"\n\nint thing(void)\n{\n\treturn 3;\n}\n'
}

source_check() {
	awk -f "$lint/source.awk" "$lint/rules" "$@"
}

# source_with LAYER LINE: checks a source file of that layer with that line.
source_with() {
	printf '/* A sample. */\n%s\n' "$2" >"src/$1/sample.c"
	run source_check "src/$1/sample.c"
}

needs() {
	command -v "$1" >/dev/null || skip "no $1"
}

@test "good code passes" {
	run source_check src/base/thing.h src/base/thing.c
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "kinds of error that no peer can cause, and where the calls of an adapter are" {
	source_with env/mcp 'int f(struct error *e) { return error_set(e, FAIL_USAGE, "no"); }'
	[ "$status" = 1 ]
	[[ $output == *'FAIL_USAGE is no kind of error that a peer can cause'* ]]
	source_with env/mcp 'bool f(struct error *e) { return e->kind == FAIL_SYSTEM; }'
	[ "$status" = 0 ]
	source_with rollout 'int f(struct env *e) { return e->ops->step(e); }'
	[ "$status" = 1 ]
	[[ $output == *'ops->step() is called in src/env/environments.c alone'* ]]
}

@test "a lower layer that includes a higher one is found" {
	source_with base '#include "json/scan.h"'
	[ "$status" = 1 ]
	[ "$output" = 'src/base/sample.c:2: layer base may not include json/scan.h' ]
}

@test "a side layer is found, the way down passes" {
	source_with check '#include "net/http.h"'
	[ "$status" = 1 ]
	source_with check '#include "base/buf.h"'
	[ "$status" = 0 ]
}

@test "an include that is not written from src/ on is found" {
	source_with base '#include "thing.h"'
	[ "$status" = 1 ]
}

@test "a library header outside its place is found" {
	for header in cjson/cJSON.h curl/curl.h microhttpd.h wslay/wslay.h openssl/evp.h histedit.h; do
		source_with check "#include <$header>"
		[ "$status" = 1 ]
	done
	source_with net '#include <curl/curl.h>'
	[ "$status" = 0 ]
}

@test "a line that is broken because of its comment is found" {
	source_with base $'struct s {\n\tuint64_t\n\t\tstart; /* of the trace */\n};'
	[ "$status" = 1 ]
	[ "$output" = 'src/base/sample.c:4: a comment that does not fit belongs above its line' ]
	source_with base $'#define MOST \\\n\t8 /* per line */'
	[ "$status" = 1 ]
	source_with base $'struct s {\n\t/* of the trace */\n\tuint64_t start;\n\tint end; /* of the trace */\n};'
	[ "$status" = 0 ]
}

@test "every banned call is found" {
	# shellcheck disable=SC2013 # one word per line
	for name in $(awk '$1 == "call" && $3 == "-" { print $2 }' "$lint/rules"); do
		source_with base "int f(void) { return $name (1); }"
		[ "$status" = 1 ]
		[[ $output == *"$name() is banned" ]]
	done
}

@test "exit and strtol are found outside their place" {
	source_with json 'void f(void) { exit(1); }'
	[ "$status" = 1 ]
	source_with json 'void f(void) { strtol("1", 0, 10); }'
	[ "$status" = 1 ]
	source_with base 'void f(void) { strtol("1", 0, 10); _exit(1); }'
	[ "$status" = 0 ]
}

@test "comments and strings are not code" {
	source_with base '/* never exit(1) */ const char *a = "say \" exit(1)"; // exit(1)'
	[ "$status" = 0 ]
	printf '/* A sample.\n   exit(1) */\nint a;\n' >src/base/sample.c
	run source_check src/base/sample.c
	[ "$status" = 0 ]
}

@test "a file without its purpose and a directory that is no layer are found" {
	echo 'int a;' >src/base/sample.c
	run source_check src/base/sample.c
	[ "$status" = 1 ]
	mkdir src/other
	good_source >src/other/thing.c
	run source_check src/other/thing.c
	[ "$status" = 1 ]
}

@test "a struct tag for two things is found" {
	printf '/* A. */\nstruct thing {\n\tint a;\n};\n' >src/base/a.c
	printf '/* B. */\nstruct thing {\n\tint b;\n};\n' >src/json/b.c
	run source_check src/base/a.c
	[ "$status" = 0 ]
	run source_check src/base/a.c src/json/b.c
	[ "$status" = 1 ]
	[ "$output" = 'src/json/b.c:2: struct thing names something else in src/base/a.c' ]
}

@test "a table row without its file is found" {
	mkdir -p src/check/rules
	printf '/* Rules. */\nCHECK(loop)\n' >src/check/checks.def
	run source_check src/check/checks.def
	[ "$status" = 1 ]
	[[ $output == *'CHECK(loop) has no src/check/rules/loop.c' ]]
	good_source >src/check/rules/loop.c
	run source_check src/check/checks.def
	[ "$status" = 0 ]
}

@test "an option that is spelled outside src/cmd is found, and so are its types" {
	source_with check 'const char *a = "give --ignore POINTER";'
	[ "$status" = 1 ]
	[ "$output" = 'src/check/sample.c:2: the option --ignore is spelled outside src/cmd: name the setting (base/settings.h)' ]
	source_with check '/* as --ignore says */'
	[ "$status" = 1 ]
	source_with check 'struct opt_list ignored;'
	[ "$status" = 1 ]
	[ "$output" = 'src/check/sample.c:2: option types belong in src/cmd' ]
	source_with check 'const char *a = "start vLLM with --tool-call-parser X"; int b(int c) { return --c; }'
	[ "$status" = 0 ]
	mkdir -p src/cmd
	source_with cmd 'struct opt_list a; const char *b = "--ignore";'
	[ "$status" = 0 ]
}

@test "a header that needs another is found" {
	needs clang
	run "$lint/headers" src/base/thing.h
	[ "$status" = 0 ]
	printf '/* A thing. */\nsize_t thing(void);\n' >src/base/thing.h
	run "$lint/headers" src/base/thing.h
	[ "$status" = 1 ]
}

@test "a long file and a long function are found" {
	needs ctags
	run "$lint/sizes" src/base/thing.c
	[ "$status" = 0 ]
	{ good_source && yes '/* . */' | head -n 600; } >src/base/long.c
	run "$lint/sizes" src/base/long.c
	[ "$status" = 1 ]
	[[ $output == *'607 lines, at most 600'* ]]
	{ echo '/* . */' && echo 'int thing(void)' && echo '{' && yes '	;' | head -n 60 && echo '}'; } >src/base/long.c
	run "$lint/sizes" src/base/long.c
	[ "$status" = 1 ]
	[[ $output == *'thing() has 63 lines, at most 60'* ]]
}

@test "clang-tidy fails on a bug, on recursion and on deep nesting" {
	needs clang-tidy
	cp "$root/.clang-tidy" .
	run "$lint/tidy" src/base/thing.c
	[ "$status" = 0 ]
	printf '/* . */\nint f(int *p);\nint f(int *p)\n{\n\tif (!p)\n\t\treturn *p;\n\treturn 0;\n}\n' >src/base/bug.c
	run "$lint/tidy" src/base/bug.c src/base/thing.c
	[ "$status" != 0 ]
	[[ $output == *NullDereference* ]]
	printf '/* . */\nint f(int n);\nint f(int n)\n{\n\treturn n > 9 ? n : f(n + 1);\n}\n' >src/base/bug.c
	run "$lint/tidy" src/base/bug.c
	[ "$status" != 0 ]
}

@test "shellcheck reads scripts by their first line" {
	needs shellcheck
	# shellcheck disable=SC2016 # a variable of the script under test
	printf '#!/bin/sh\necho "$1"\n' >script
	run "$lint/shell" script src/base/thing.c
	[ "$status" = 0 ]
	# shellcheck disable=SC2016 # the same
	printf '#!/bin/sh\nrm $1\n' >script
	run "$lint/shell" script
	[ "$status" = 1 ]
}

@test "a broken manual page is found" {
	needs scdoc
	needs mandoc
	printf 'page(1)\n\n# NAME\n\npage - a page\n' >page.1.scd
	run "$lint/manuals" page.1.scd
	[ "$status" = 0 ]
	printf 'page(1)\n\n# NAME\n\npage - a *page\n' >page.1.scd
	run "$lint/manuals" page.1.scd
	[ "$status" = 1 ]
	printf 'page(1)\n\n#NAME\n' >page.1.scd
	run "$lint/manuals" page.1.scd
	[ "$status" = 1 ]
	printf 'page(1)\n\n# NAME\n\npage - a page\n\n- a list\n' >page.1.scd
	run "$lint/manuals" page.1.scd
	[ "$status" = 1 ]
	for width in 69 70; do
		# shellcheck disable=SC2016 # a literal block
		printf 'page(1)\n\n# NAME\n\npage - a page\n\n```\n%s·\n```\n' "$(printf '%*s' $((width - 1)) '' | tr ' ' x)" >page.1.scd
		run "$lint/manuals" page.1.scd
		[ "$status" = $((width - 69)) ]
	done
	[[ $output == *'wider than 69 columns'* ]]
}

@test "a generated file that is out of date is found" {
	mkdir man completions
	cp "$root"/man/generate "$root"/man/*.awk man/
	cp "$root"/completions/generate "$root"/completions/*.awk "$root"/completions/functions.sh completions/
	printf 'page(1)\n\n@commands@\n' >man/page.1.scd.in
	printf '#!/bin/sh\nprintf "command\\tshow\\tdrive a policy\\t\\n"\n' >program
	chmod +x program
	man/generate ./program
	completions/generate ./program
	run "$lint/generated" ./program
	[ "$status" = 0 ]
	printf '#!/bin/sh\nprintf "command\\twalk\\tdrive a policy\\t\\n"\n' >program
	run "$lint/generated" ./program
	[ "$status" = 1 ]
	[[ $output == *'man/page.1.scd: run make man'* ]]
	[[ $output == *'completions/_rolldbg: run make completions'* ]]
}

@test "an option without a class is found" {
	# option OWNER CLASS: a row of __spec
	option() {
		printf 'option\\t%s\\t\\tout\\tFILE\\tstring\\t\\twhere to write\\t\\t%s\\n' "$1" "$2"
	}
	printf '#!/bin/sh\nprintf "%s"\n' "$(option run power)$(option show never)" >program
	chmod +x program
	run "$lint/classes" ./program
	[ "$status" = 0 ]
	printf '#!/bin/sh\nprintf "%s"\n' "$(option run power)$(option show '')" >program
	run "$lint/classes" ./program
	[ "$status" = 1 ]
	[ "$output" = 'show: --out has no class' ]
	printf '#!/bin/sh\n' >program
	run "$lint/classes" ./program
	[ "$status" = 1 ]
}

@test "an unexpected skip is found, a listed one passes" {
	mkdir tap
	echo 'ok 1 - a # skip no shared recordings' >tap/a
	run "$root/tests/skips" --unexpected tap
	[ "$status" = 0 ]
	echo 'ok 1 - a # skip felt like it' >tap/b
	run "$root/tests/skips" --unexpected tap
	[ "$status" = 1 ]
	[ "$output" = 'skipped: b: felt like it' ]
	[[ $("$root/tests/skips" tap) == *'no shared recordings'* ]]
}

@test "a circle of includes inside a directory is found" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p src/base
	printf '#include "base/b.h"\n' >src/base/a.h
	printf '#include "base/c.h"\n' >src/base/b.h
	: >src/base/c.h
	run "$lint/rings" src/base/*.h
	[ "$status" = 0 ]
	# c.c belongs to c.h, whatever it includes first
	printf '#include "base/c.h"\n#include "base/a.h"\n' >src/base/c.c
	run "$lint/rings" src/base/*
	[ "$status" = 1 ]
	[[ $output == *"a circle of includes:"* ]]
}
