#!/usr/bin/env bats
# fixtures/ci, an example repository with goldens: runs the shell steps of its workflow as GitHub does.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export XDG_STATE_HOME=$PWD/state
	cp -R "$root/fixtures/ci" repository
	mkdir bin state
	ln -s "$(realpath "$ROLLDBG")" bin/rolldbg
	PATH=$PWD/bin:$PATH
	cd repository || return
}

teardown() {
	[ -z "$SERVER" ] || kill "$SERVER" 2>/dev/null || true
}

# step NAME: runs the shell lines of that step; its files and $GITHUB_ENV variables remain for later steps.
step() {
	local name=$1 code=0
	: >"$BATS_TEST_TMPDIR/env"
	[ "$name" != start ] || rm -f server.log # a fresh checkout has none
	awk -v name="$name" '
		/^      - / { here = $0 == "      - name: " name; block = 0 }
		here && block { if (/^          /) print substr($0, 11); else if (NF) block = 0 }
		here && /^        run: \|$/ { block = 1 }
	' .github/workflows/goldens.yml >"$BATS_TEST_TMPDIR/step"
	[ -s "$BATS_TEST_TMPDIR/step" ]
	CI=true GITHUB_ENV=$BATS_TEST_TMPDIR/env GITHUB_STEP_SUMMARY=$BATS_TEST_TMPDIR/summary.md \
		bash --noprofile --norc -eo pipefail "$BATS_TEST_TMPDIR/step" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- || code=$?
	while IFS= read -r line; do
		export "${line?}"
	done <"$BATS_TEST_TMPDIR/env"
	return $code
}

# job WORLD CODE [OPTION OF serve...]: runs the steps of one job; the replay must exit with CODE.
job() {
	local code=0
	export WORLD=$1 SERVE_OPTIONS=${*:3}
	rm -f "$BATS_TEST_TMPDIR/summary.md" replayed.jsonl
	step start
	step replay || code=$?
	[ "$code" = "$2" ] || {
		printf 'exit code %s, not %s\n' "$code" "$2"
		cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"
		return 1
	}
	log=$(cat "$BATS_TEST_TMPDIR/out")
	annotations=$(grep '^::' "$BATS_TEST_TMPDIR/err" || true)
	summary=$(cat "$BATS_TEST_TMPDIR/summary.md")
	junit=$("$BATS_TEST_DIRNAME/xml" report.xml)
	step stop
	SERVER=
}

@test "unchanged behavior: nothing is reported" {
	job frozen_lake 0
	has "$log" 'no differences · 2 rollouts'
	[ -z "$annotations" ]
	has "$summary" '✅ rolldbg replay: 2 rollouts'
	has "$junit" 'tests=2 failures=0 errors=0'
}

@test "a fault: the golden's line is annotated, JUnit and the summary have it, the exit code is 1" {
	job frozen_lake 1 --fault drop-iserror
	line=$(grep -n '"step":1,' goldens/frozen_lake/goal.jsonl | cut -d : -f 1)
	has "$annotations" "::error file=goldens/frozen_lake/goal.jsonl,line=$line,title=difference::goal.0: step 1  lake_move action=DOWN: /outcome  ok -> tool-error"
	has "$summary" '❌ rolldbg replay: 2 rollouts, 2 failed'
	has "$summary" "**failed** \`goldens/frozen_lake/goal.jsonl:$line\` \`goal.0\`"
	has "$junit" 'tests=2 failures=2 errors=0'
	has "$log" '/outcome  ok -> tool-error'
	# the artifact has the recording of the replay
	has "$(rolldbg show replayed.jsonl --rollout goal.0)" 'tool-error'
}

@test "an accepted change passes afterwards" {
	job frozen_lake 1 --map 8x8
	export WORLD=frozen_lake SERVE_OPTIONS='--map 8x8'
	step start
	rolldbg replay goldens/frozen_lake --env "$ENV_URL" --accept >/dev/null
	step stop
	SERVER=
	job frozen_lake 0 --map 8x8
	has "$junit" 'tests=2 failures=0 errors=0'
	job frozen_lake 1
}

@test "a clock: the failure proposes masks, and with them the golden passes" {
	job desk 1
	options=$(sed -n 's/^if that may differ from run to run: //p' <<<"$log")
	[ "$options" = '--mask /observation/clock --mask /state/clock' ]
	has "$annotations" "%0Aif that may differ from run to run: $options"
	has "$junit" "$options"
	# shellcheck disable=SC2086 # several options
	rolldbg strip $options goldens/desk/tidy.jsonl >masked
	mv masked goldens/desk/tidy.jsonl
	job desk 0
	has "$log" 'no differences · 1 rollout · 8 steps'
	[ -z "$annotations" ]
}

@test "an unreachable environment: an error, not a failure" {
	export WORLD=frozen_lake ENV_URL=http://127.0.0.1:9/mcp
	code=0
	step replay || code=$?
	[ "$code" = 4 ]
	junit=$("$BATS_TEST_DIRNAME/xml" report.xml)
	has "$junit" 'tests=2 failures=0 errors=2'
	grep -q '^::error file=goldens/frozen_lake/goal.jsonl,line=1,title=no-result::goal.0: cannot connect to 127.0.0.1:9' "$BATS_TEST_TMPDIR/err"
}
