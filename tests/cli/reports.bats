#!/usr/bin/env bats
# --report: every format for the same cases, and the files they are written to.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

broken='builtin:frozen_lake?fault=fallback-session&max_envs=3'

# recordings: writes runs/ with a rollout that passes, one that fails, and a file that is not a recording.
recordings() {
	mkdir runs
	rolldbg run --quiet --task healthy --out runs/a.jsonl
	rolldbg run --quiet --task sick --env "$broken" --actions "$goal" --out runs/b.jsonl >/dev/null || true
	echo nothing >runs/c.jsonl
}

# golden NAME ACTIONS: writes a stripped recording of the built-in lake.
golden() {
	rolldbg run --quiet --seed 42 --actions "$2" --task "$1" --out raw.jsonl --force
	rolldbg strip raw.jsonl >"$1.jsonl"
}

# xml FILE: the elements of the file, one per line; fails if it is not well-formed.
xml() {
	"$BATS_TEST_DIRNAME/xml" "$1"
}

@test "all formats at once, beside the table: the same cases" {
	recordings
	expect 3 rolldbg check runs
	table=$output
	expect 3 rolldbg check runs --report table --report junit:j.xml --report sarif:s.json --report tap:t.tap \
		--report github:g.txt --report markdown:m.md --report json:l.jsonl
	[ "$output" = "$table" ]
	[ "$(xml j.xml | sed -n 1p | cut -f 2)" = 'name=rolldbg check tests=3 failures=1 errors=1 time=0.000' ]
	[ "$(grep -c '^ok ' t.tap)" = 1 ] && [ "$(grep -c '^not ok ' t.tap)" = 2 ]
	[ "$(jq '[.runs[0].results[] | select(.level == "error")] | length' s.json)" = 4 ]
	[ "$(grep -c '^::error ' g.txt)" = 4 ]
	grep -qx '### ❌ rolldbg check: 2 rollouts, 1 failed, 1 without a result' m.md
	expect 3 rolldbg check runs --json
	diff <(printf '%s\n' "$output") l.jsonl
	[ -z "$(find . -name '*.partial')" ]
}

@test "a report on standard output replaces the table; -q removes only the table" {
	recordings
	rm runs/c.jsonl
	for kind in json tap github junit:- sarif:- markdown:-; do
		expect 1 rolldbg check runs --report $kind
		lacks "$output" '2 rollouts ·'$'\n'
		lacks "$output" 'cause: '
		plain=$output
		expect 1 rolldbg check runs --report $kind --quiet
		[ "$output" = "$plain" ]
		expect 1 rolldbg check runs --report "$kind:report.$kind"
		[[ $kind != *:- ]] || continue
		diff <(printf '%s\n' "$plain") "report.$kind"
	done
}

@test "JUnit: a testcase per rollout, failures apart from errors, valid by the schema of Jenkins" {
	recordings
	expect 3 rolldbg check runs --report junit:j.xml
	xml j.xml | cut -f 1,2 >elements
	diff - <(cut -d = -f 1,2 elements | sed 's/ message.*//') <<-'END'
		testsuites	name=rolldbg check tests
		testsuites/testsuite	name=rolldbg check tests
		testsuites/testsuite/testcase	classname=runs/a name
		testsuites/testsuite/testcase	classname=runs/b name
		testsuites/testsuite/testcase/failure	type=fallback-session
		testsuites/testsuite/testcase	classname=runs/c name
		testsuites/testsuite/testcase/error	type=no-result
	END
	has "$(xml j.xml)" 'name=sick.0'
	has "$(xml j.xml | grep /failure)" 'first error: Maximum concurrent environments (3) reached\nwarning: '
	# findings below --fail-on are in the output of a passing test case
	expect 0 rolldbg check runs/b.jsonl --fail-on never --report junit:j.xml
	[ "$(xml j.xml | sed -n 1p | cut -f 2)" = 'name=rolldbg check tests=1 failures=0 errors=0 time=0.000' ]
	has "$(xml j.xml | grep /system-out)" 'fallback-session: turns 3-5: '
	# an unreachable server is an error: there is no result
	expect 4 rolldbg run --env http://127.0.0.1:9/mcp --actions UP --report junit:j.xml
	has "$(xml j.xml | grep /error)" 'type=unreachable message=unreachable: cannot connect to 127.0.0.1:9'
	expect 1 rolldbg run --actions DOWN --group-size 3 --jobs 3 --env 'builtin:frozen_lake?max_envs=2&delay=300ms' --report junit:j.xml
	has "$(xml j.xml | grep /failure)" 'type=refused message=refused: '
	# the class is the command: the file name of a recording in the state directory differs in each run
	has "$(xml j.xml)" 'classname=run name=env.0'
	# a group with findings is a test case
	has "$(xml j.xml)" 'tests=4 failures=2 errors=0'
	has "$(xml j.xml)" 'name=env, all samples'
}

@test "replay: differences are failures that name the first; an unreachable environment is an error" {
	golden lake DOWN,DOWN
	golden other DOWN
	expect 0 rolldbg replay lake.jsonl other.jsonl --report junit:j.xml --report tap:t.tap
	has "$output" 'no differences · 2 rollouts'
	has "$(xml j.xml)" 'tests=2 failures=0 errors=0'
	tail -n +2 t.tap | diff - <(printf 'ok 1 - lake.jsonl: lake.0\nok 2 - other.jsonl: other.0\n1..2\n')
	expect 1 rolldbg replay lake.jsonl other.jsonl --env 'builtin:frozen_lake?fault=drop-iserror' \
		--report junit:j.xml --report github:g.txt --report markdown:m.md --report sarif:s.json
	has "$(xml j.xml)" 'tests=2 failures=1 errors=0'
	has "$(xml j.xml | grep /failure)" 'type=difference message=step 1  lake_move action=DOWN: /outcome  ok -> tool-error (and '
	# step 1, the second one, is line 4 of the golden
	grep -q '^::error file=lake.jsonl,line=4,title=difference::lake.0: step 1  lake_move' g.txt
	[ "$(wc -l <g.txt)" = 1 ]
	jq -e '.runs[0].results[0] | .ruleId == "golden-difference" and
		.locations[0].physicalLocation.region.startLine == 4 and (.message.text | startswith("lake.0: step 1"))' s.json
	grep -q '/outcome  ok -> tool-error' m.md
	# accepted differences are no failures
	cp lake.jsonl accepted.jsonl
	expect 0 rolldbg replay accepted.jsonl --env 'builtin:frozen_lake?fault=drop-iserror' --accept --report junit:j.xml --report github:g.txt --report sarif:s.json
	has "$(xml j.xml)" 'tests=1 failures=0 errors=0'
	[ ! -s g.txt ]
	jq -e '.runs[0].results == []' s.json
	expect 4 rolldbg replay lake.jsonl --env http://127.0.0.1:9/mcp --report junit:j.xml
	has "$(xml j.xml | grep /error)" 'message=cannot connect to 127.0.0.1:9: connection refused'
	expect 3 rolldbg replay raw.jsonl no.jsonl --report junit:j.xml
	has "$(xml j.xml | grep /error)" 'no.jsonl'
}

@test "TAP: prove reads it and fails for the rollouts that failed" {
	recordings
	expect 3 rolldbg check runs --report tap:t.tap
	run prove --exec cat t.tap
	[ "$status" = 1 ]
	has "$output" 'Failed tests:  2-3'
	lacks "$output" 'Parse errors'
	expect 0 rolldbg check runs/a.jsonl --report tap:t.tap
	prove --exec cat t.tap
	mkdir empty
	expect 0 rolldbg run --quiet --tasks /dev/null --report tap:t.tap || true
}

@test "SARIF: rules with help, results with file and line" {
	recordings
	expect 3 rolldbg check runs --report sarif:s.json
	jq -e '.version == "2.1.0" and (.runs | length == 1)' s.json
	[ "$(jq '.runs[0].tool.driver.rules | length' s.json)" = $(($(rolldbg check --list | wc -l) + 4)) ]
	jq -e '.runs[0].tool.driver.rules | all(.id and .shortDescription.text and .help.text and (.defaultConfiguration.level | IN("error", "warning", "note")))' s.json
	lacks "$(cat s.json)" '\u0001'
	# each result refers to its rule by index, and to the line of its first turn
	jq -e '.runs[0] | .tool.driver.rules as $rules | .results | all(.ruleId == $rules[.ruleIndex].id)' s.json
	line=$(grep -n '"turn":3,' runs/b.jsonl | grep '"type":"step"' | cut -d : -f 1)
	jq -e --argjson line "$line" '.runs[0].results[] | select(.ruleId == "capacity") | .locations[0].physicalLocation |
		.artifactLocation.uri == "runs/b.jsonl" and .region.startLine == $line' s.json
	jq -e '.runs[0].invocations == [{executionSuccessful: false}]' s.json
	cp runs/a.jsonl 'a b%.jsonl'
	mv runs/b.jsonl 'c d%.jsonl'
	expect 1 rolldbg check 'c d%.jsonl' "$PWD/c d%.jsonl" --report sarif:s.json
	[ "$(jq -r '[.runs[0].results[].locations[0].physicalLocation.artifactLocation.uri] | unique | join(" ")' s.json)" = \
		"c%20d%25.jsonl file://$PWD/c%20d%25.jsonl" ]
	# standard input has no file to refer to
	expect 1 rolldbg check --report sarif:s.json - <'c d%.jsonl'
	jq -e '.runs[0].results | all(.locations == [])' s.json
}

@test "findings of a live run have line numbers, too" {
	for out in one.jsonl many/; do
		rm -f g.txt
		expect 1 rolldbg run --quiet --env "$broken" --actions "$goal" --out $out --report github:g.txt
		file=$(sed -n 's/.*file=\([^,]*\),line=\([0-9]*\),title=capacity.*/\1/p' g.txt)
		line=$(sed -n 's/.*file=\([^,]*\),line=\([0-9]*\),title=capacity.*/\2/p' g.txt)
		[ "$(sed -n "${line}p" "${file//%25/%}" | jq -c '[.type, .turn]')" = '["step",3]' ]
	done
}

@test "GitHub: the most severe first, ten per level, the rest in one notice" {
	recordings
	for n in {1..6}; do
		sed "s/sick/sick$n/g" runs/b.jsonl >>many.jsonl
	done
	expect 1 rolldbg check many.jsonl --report github
	[ "$(cut -d ' ' -f 1 <<<"$output" | uniq -c | tr -s ' ' | paste -sd,)" = ' 10 ::error, 10 ::warning, 1 rolldbg:' ]
	errors=$(rolldbg check many.jsonl --json | jq -s 'map(select(.severity == "error")) | length')
	[ "$(tail -n 1 <<<"$output")" = "rolldbg: not annotated: $((errors - 10)) more errors, 2 more warnings (GitHub shows 10 of a level)" ]
	expect 1 rolldbg check runs/b.jsonl --report github
	lacks "$output" 'not annotated'
	expect 0 rolldbg check runs/a.jsonl --report github
	[ -z "$output" ]
}

@test "hostile text stays text in every kind of report" {
	golden lake DOWN
	# an id with the delimiters of all formats, and with U+009B (CSI), U+FFFE and U+202E (bidi override)
	# shellcheck disable=SC1003 # the last backslash escapes no quote
	id='x]]></failure>&amp;\"'"'"'```<b>\n::error::a%0A]( ##[error]b\u001b[31m\u009b\ufffe\u202e\u0000#skip\\'
	jq -c --argjson id "\"$id\"" '.rollout = $id | if .task then .task.id = $id else . end' lake.jsonl >hostile.jsonl
	sed 's/"type":"end"/"type":"event","event":"capacity"/' hostile.jsonl >'cut,:%.jsonl'
	for command in 'check cut,:%.jsonl' 'replay hostile.jsonl --env builtin:frozen_lake?map=8x8'; do
		# shellcheck disable=SC2086 # splits the command from its arguments
		expect 1 rolldbg $command --report junit:j.xml --report tap:t.tap --report sarif:s.json --report github:g.txt --report markdown:m.md
		xml j.xml >elements
		[ "$(grep -c /testcase elements)" = 2 ]
		grep -q 'x\]\]></failure>&amp;"' elements
		# the id starts no line of its own in the line-based formats
		run ! grep -vE '^(TAP version 13|not ok 1 - |  (---|\.\.\.|[a-z]+: )|    |1\.\.1$)' t.tap
		run prove --exec cat t.tap
		lacks "$output" 'Parse errors'
		run ! grep -v '^::error file=' g.txt
		run ! grep -lP '[\x00-\x08\x0b-\x1f\x7f]' j.xml t.tap g.txt m.md s.json
		jq -e '.runs[0].results[0].message.text | contains("\\]( \\x23#[error]b")' s.json
		# code fences of the summary are longer than any fence inside
		grep -qF '```` x]]></failure>' m.md
		[[ $command = check* ]] || grep -q '^````text$' m.md
	done
	expect 1 rolldbg check 'cut,:%.jsonl' --report github
	has "$output" '::error file=cut%2C%3A%25.jsonl,line='
}

@test "report files: unwritable ones are noticed before the work, and written ones are complete" {
	golden lake DOWN
	for file in nowhere/j.xml .; do
		expect 5 rolldbg run --out run.jsonl --report "junit:$file"
		has "$stderr" "cannot write $file: "
		[ ! -e run.jsonl ]
		expect 5 rolldbg check lake.jsonl --report "tap:$file"
		expect 5 rolldbg replay lake.jsonl --report "tap:$file"
	done
	# an existing report is replaced only when the new one is complete
	echo 'TAP version 12' >t.tap
	expect 2 rolldbg run --report tap:t.tap --report junit:j.xml --report json --json
	[ "$(cat t.tap)" = 'TAP version 12' ]
	[ -z "$(ls ./*.partial j.xml 2>/dev/null)" ]
	expect 0 rolldbg check lake.jsonl --report tap:t.tap
	grep -q '^1\.\.1$' t.tap
	# to a pipe and to standard error
	expect 0 rolldbg check lake.jsonl --report "tap:"/dev/fd/7 7> >(cat >got)
	wait_for 60 cmp -s got t.tap
	mkfifo pipe
	cat pipe >got &
	expect 0 rolldbg check lake.jsonl --report tap:pipe
	wait $!
	cmp got t.tap
	expect 0 rolldbg check lake.jsonl --report tap:/dev/stderr
	[ "$stderr" = "$(cat t.tap)" ]
	has "$output" 'no findings: 1 of 1 steps changed the state'
	expect 0 rolldbg check lake.jsonl --report tap:/dev/stdout
	[ "$output" = "$(cat t.tap)" ]
	if [ -e /dev/full ]; then
		expect 5 rolldbg check lake.jsonl --report tap:/dev/full --report junit:j.xml
		has "$stderr" 'cannot write /dev/full: No space left on device'
		xml j.xml
	fi
}

@test "a report does not replace a recording" {
	rolldbg run -q --out a.jsonl
	cp a.jsonl kept
	ln -s a.jsonl link
	cp "$BATS_TEST_DIRNAME"/../../fixtures/convert/atif/in.json traj.json
	cp traj.json traj.kept
	expect 2 rolldbg check a.jsonl --report junit:a.jsonl
	has "$stderr" 'a.jsonl exists and is not a JUnit report: name another file, or remove it'
	expect 2 rolldbg check a.jsonl --report junit:link
	expect 2 rolldbg replay a.jsonl --report sarif:a.jsonl
	expect 2 rolldbg run -q --report markdown:a.jsonl
	cmp a.jsonl kept
	expect 2 rolldbg check traj.json --report sarif:./traj.json
	has "$stderr" './traj.json exists and is not a SARIF report: name another file, or remove it'
	cmp traj.json traj.kept
	expect 2 rolldbg run -q --out b.jsonl --report junit:b.jsonl
	[ "$(head -c 16 b.jsonl)" = '{"type":"header"' ]
	[ -z "$(find . -name '*.partial')" ]
}

@test "a local failure is in the reports, too" {
	golden lake DOWN
	mkdir lake.jsonl.new
	expect 5 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --report junit:j.xml
	has "$(xml j.xml)" 'tests=2 failures=1 errors=1'
	has "$(xml j.xml | grep /error)" 'cannot write lake.jsonl.new'
	sed 's/"name":"lake_move"/"name":"lake_mov"/g' lake.jsonl >gone.jsonl
	expect 3 rolldbg run --policy gone.jsonl --report junit:j.xml
	has "$(xml j.xml | grep /error)" "did you mean 'lake_move'?"
}

@test "replay proposes masks only for what changes from run to run" {
	rolldbg run --quiet --env builtin:desk --policy "$root/policies/desk-tidy.json" --out raw.jsonl
	rolldbg strip raw.jsonl >desk.jsonl
	expect 1 rolldbg replay desk.jsonl --env builtin:desk --report junit:j.xml --report github:g.txt
	hint='if that may differ from run to run: --mask /observation/clock --mask /state/clock'
	has "$output" "$hint"
	has "$(xml j.xml | grep /failure)" "$hint"
	grep -q "%0A$hint\$" g.txt
	expect 0 rolldbg replay desk.jsonl --env builtin:desk --mask /observation/clock --mask /state/clock
	golden lake DOWN,DOWN
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	lacks "$output" 'may differ'
}

@test "a suite: obsolete and missing goldens are cases that fail" {
	mkdir goldens
	golden goal DOWN
	golden wall LEFT
	mv goal.jsonl wall.jsonl goldens
	printf '{"id":"%s"}\n' goal other >tasks.jsonl
	expect 1 rolldbg replay goldens --tasks tasks.jsonl --report junit:j.xml --report sarif:s.json --report github:g.txt
	has "$(xml j.xml)" 'tests=4 failures=2 errors=0'
	# four tests with different names
	[ "$(xml j.xml | cut -f 2 | grep ^classname= | sort -u | wc -l)" = 4 ]
	has "$(xml j.xml)" $'classname=goldens/wall name=the golden of task wall time=0.000\t'
	has "$(xml j.xml)" $'classname=tasks name=the golden of task other time=0.000\t'
	[ "$(xml j.xml | grep /failure | cut -d ' ' -f 1 | cut -f 2 | sort | paste -sd ' ')" = 'type=missing type=obsolete' ]
	[ "$(jq -r '[.runs[0].results[].ruleId] | unique | join(" ")' s.json)" = golden-suite ]
	jq -e '.runs[0] | .tool.driver.rules as $rules | .results | all(.ruleId == $rules[.ruleIndex].id)' s.json
	grep -q '^::error file=tasks.jsonl,line=2,title=missing::the golden of task other: task other has no golden' g.txt
}

# A CI runner reads commands from the log, a harness its results: GitHub's ::error:: after any blanks, ##[error] anywhere.
@test "a peer's words begin no line, and its controls reach none" {
	evil=$'::error title=x::evil\nnot ok 1 - evil\n# SKIP evil\n##[error]evil\r::set-output name=x::evil \u202e\u009b2J\e]0;x\a'
	name=$'::error x::evil\nnot ok 2 evil\r\u202e\u009b.jsonl'
	rolldbg run --quiet --out plain.jsonl
	for n in 1 2; do
		jq -c --arg evil "$evil" --arg n "$n" '.rollout = $evil | if .type == "header" then
			.task.id = $evil | .env.name = $evil | .env.version = $evil | .policy.name = $evil | .tools[0].name = $evil
			elif .type == "step" then .state = {($evil): {("evil" + $evil): ($evil + $n)}, pos: .state.position, t: ("::notice::" + $n + $evil)}
			| .state_hash = null | .observation = {($evil): ($evil + $n)} | .tool_call = {id: $evil, name: $evil, arguments: {($evil): $evil}}
			| .messages = [{role: "assistant", content: ($evil + $n), ($evil): $evil}]
			| if .step > 2 then .outcome = "tool-error" | .error = {class: null, layer: null, code: $evil, message: ($evil + $n), ($evil): $evil}
			else . end else . end, if .type == "step" then {type: "event", rollout: $evil, turn, event: "stderr", detail: {text: $evil}} else empty end' \
			plain.jsonl >"$n.jsonl"
	done
	mkdir goldens others
	cp 1.jsonl "$name"
	cp 1.jsonl "goldens/$name"
	cp 2.jsonl "others/$name"
	echo '{"evil": 1' >"others/x$name"
	while read -r arguments; do
		read -ra words <<<"$arguments"
		words=("${words[@]//_/ }")
		"$ROLLDBG" "${words[@]//NAME/"$name"}" >out 2>&1 </dev/null || true
		! grep -P '^\s*::[a-z]|^not ok \d - evil|^not ok 2 evil|^# SKIP|^evil|##\[|[\x{80}-\x{9f}\x{202e}]|\r|\e(?!\[[0-9;]*m)' out |
			grep -vE '^::(error|warning) (file|title)=' || {
			echo "$arguments" >&2
			return 1
		}
		[ -s out ]
	done <<-'END'
		show 1.jsonl
		show --color=always 1.jsonl --turn 3
		show NAME --turn 4
		check NAME others
		check NAME others --json
		check NAME others --report tap
		check NAME others --report github
		check NAME others --report junit:-
		check NAME others --report sarif:-
		check NAME others --report markdown:-
		stats NAME others
		stats NAME --json
		diff 1.jsonl 2.jsonl
		diff --json NAME 2.jsonl
		diff --stat goldens others
		diff --word-diff goldens others
		replay NAME goldens
		replay goldens --report tap
		replay goldens --report github
		replay goldens --json
		debug --batch 1.jsonl -ex step -ex step -ex print -ex print_state -ex list -ex tools -ex backtrace
		run --policy NAME
		run --policy others/xNAME
		run --tasks NAME
		run --env stdio:cat_1.jsonl_>&2;cat_1.jsonl --actions a
		list
	END
}

@test "junit: a test that failed is named for its error, whatever warnings come first" {
	rolldbg run --quiet --actions DOWN,NORTH,NORTH,NORTH,NORTH --force-call --out a.jsonl --fail-on never
	expect 1 rolldbg check a.jsonl --report junit:out.xml --report json
	[ "$(jq -r 'select(.type == "finding").severity' <<<"$output" | sort -u | wc -l)" -gt 1 ]
	error=$(jq -r 'select(.type == "finding" and .severity == "error").rule' <<<"$output" | head -n 1)
	has "$(cat out.xml)" "<failure type=\"$error\" message=\"error: $error: "
	grep -o '^[a-z]*: [a-z-]*: ' out.xml | cut -d: -f1 >severities # the text's other lines
	awk '/error/ && later { exit 1 } !/error/ { later = 1 }' severities
	lacks "$(cat out.xml)" 'the group of'
}
