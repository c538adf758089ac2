#!/usr/bin/env bats
# Reports, read by third-party programs.

# shellcheck disable=SC2154 # variables of lib.bash
load lib

schema=${ROLLDBG_SHARED:-$root/../shared}/schemas/sarif-schema-2.1.0.json

# A directory with a rollout that passes, one that fails, one with a hostile id, and a file that is not a recording.
setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir runs
	"$ROLLDBG" run --quiet --task healthy --out runs/a.jsonl
	"$ROLLDBG" run --quiet --task sick --env 'builtin:frozen_lake?fault=fallback-session&max_envs=3' \
		--actions DOWN,DOWN,RIGHT,DOWN --out runs/b.jsonl >/dev/null || true
	sed 's/sick/x]]><\/failure>\&amp;\\u001b[31m\\ufffe\\u202e(a)/g' runs/b.jsonl >runs/c.jsonl
	echo nothing >runs/d.jsonl
}

@test "JUnit: junitparser tells failures from errors" {
	"$ROLLDBG" check runs --report junit:report.xml >/dev/null 2>&1 || [ $? = 3 ]
	"$installed/reports/bin/python" "$BATS_TEST_DIRNAME/read_junit.py" report.xml >cases
	[ "$(head -n 1 cases)" = '4 2 1' ]
	printf '%s\t%s\n' runs/a healthy.0 | diff - <(sed -n 2p cases)
	printf '%s\t%s\t%s\n' runs/b sick.0 'Failure capacity' | diff - <(sed -n 3p cases)
	grep -qF 'x]]></failure>&amp;\x1b[31m\u{fffe}\u{202e}(a).0' <(sed -n 4p cases)
	printf '%s\t%s\t%s\n' runs/d 'the whole file' 'Error no-result' | diff - <(sed -n 5p cases)
}

@test "SARIF: what check, run and replay write is valid by the schema of OASIS" {
	[ -e "$schema" ] || skip 'no shared schemas'
	"$ROLLDBG" check runs --report sarif:check.sarif >/dev/null 2>&1 || [ $? = 3 ]
	"$ROLLDBG" run --quiet --report sarif:run.sarif --env 'builtin:frozen_lake?fault=drop-iserror' --actions DOWN,DOWN >/dev/null || [ $? = 1 ]
	"$ROLLDBG" strip runs/a.jsonl >golden.jsonl
	"$ROLLDBG" replay golden.jsonl --env 'builtin:frozen_lake?map=8x8' --report sarif:replay.sarif >/dev/null || [ $? = 1 ]
	"$ROLLDBG" check runs/a.jsonl --report sarif:clean.sarif >/dev/null
	"$installed/reports/bin/check-jsonschema" --schemafile "$schema" check.sarif run.sarif replay.sarif clean.sarif
	[ "$(jq '.runs[0].results | length' check.sarif)" -gt 4 ]
	[ "$(jq '.runs[0].results | length' replay.sarif)" -gt 0 ]
}

@test "the workflow of fixtures/ci is valid" {
	"$installed/reports/bin/check-jsonschema" --builtin-schema vendor.github-workflows \
		"$root/fixtures/ci/.github/workflows/goldens.yml"
}
