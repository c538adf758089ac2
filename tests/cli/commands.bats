#!/usr/bin/env bats
# Output streams and exit codes of every command.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

broken='builtin:frozen_lake?fault=fallback-session&fault=capacity&max_envs=3'

# keys_of TEXT TYPE: the keys of the first line of that type, in order.
keys_of() {
	jq -rn --arg type "$2" 'first(inputs | select(.type == $type)) | keys_unsorted | join(" ")' <<<"$1"
}

@test "help: all commands, and each of them, within 80 columns" {
	expect 0 rolldbg help
	[ -z "$stderr" ]
	all=$output
	expect 0 rolldbg --help
	[ "$output" = "$all" ]
	for command in run check show replay diff strip list convert debug shrink bisect probe serve trust schema help; do
		has "$all" "  $command "
		expect 0 rolldbg help $command
		[ -z "$stderr" ]
		text=$output
		has "$text" "usage: rolldbg $command"
		expect 0 rolldbg $command --help
		[ "$output" = "$text" ]
		expect 0 rolldbg --help $command
		[ "$output" = "$text" ]
		[ "$(wc -L <<<"$text")" -le 80 ]
	done
	lacks "$all" __spec
}

@test "help: the options that most people need, all of them, or those of one subject" {
	rolldbg __spec | awk -F '\t' '$1 == "option" && $2 == "run" { print "--" $4 }' | sort >spec
	options() { grep -oE '^  (-.,|   ) --[a-z-]+' | grep -oE -- '--[a-z-]+' | sort; }
	expect 0 rolldbg run --help
	[ "$(options <<<"$output" | wc -l)" = 15 ]
	has "$output" "All $(wc -l <spec) options: rolldbg run --help all"
	expect 0 rolldbg run --help all
	[ -z "$(options <<<"$output" | comm -23 spec -)" ]
	all=$output
	expect 0 rolldbg help run all
	[ "$output" = "$all" ]
	expect 0 rolldbg --help run all
	[ "$output" = "$all" ]
	expect 0 rolldbg run --help task
	[ "$(options <<<"$output" | tr '\n' ' ')" = '--group-size --jobs --shard --tasks ' ]
	expect 2 rolldbg run --help modl
	has "$stderr" '--help modl: no options of this subject; available: all, recording, task, trainer, model, environment, report, verdict'
	# a command with few options shows them all
	expect 0 rolldbg check --help
	has "$output" 'verdict options:'
	has "$output" 'global options:'
}

@test "--version" {
	expect 0 rolldbg --version
	[[ $output =~ ^rolldbg\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	expect 0 rolldbg run --help
	[ -z "$(find state -name '*.jsonl')" ]
}

@test "__spec: every line has a known kind and all its fields" {
	expect 0 rolldbg __spec
	[ -z "$(awk -F '\t' '!($1 == "command" && NF == 4 || $1 == "option" && NF == 12 || $1 == "topic" && NF == 4 || ($1 == "description" || $1 == "name") && NF == 3 || ($1 == "key" || $1 == "part" || $1 == "member") && NF == 6 || $1 == "result" && NF == 4)' <<<"$output")" ]
	for kind in env policy rule fault builtin exit; do
		grep -q "^topic	$kind	" <<<"$output"
	done
}

@test "run: the result on standard output, nothing on standard error" {
	expect 0 rolldbg run --out a.jsonl --seed 42
	[ -z "$stderr" ]
	[ "${lines[0]}" = 'FrozenLake-v1.0 · mcp-gym · policy actions · seed 42 · state from control-plane' ]
	[ "${lines[8]}" = 'terminated: the environment reported terminated' ]
	[ "${lines[9]}" = '6 turns · 6 steps · 6 effective · 0 failed · reward 1' ]
	[ "${lines[10]}" = 'no findings: 6 of 6 steps changed the state' ]
	[ "${#lines[@]}" = 11 ]
	jq -e . a.jsonl >/dev/null
}

@test "show: an environment without sessions is identified by its era" {
	expect 0 rolldbg run --out a.jsonl
	all_are a.jsonl header '.meta.mcp == {revision: "2025-11-25", era: "legacy", transport: "Streamable HTTP"}'
	expect 0 rolldbg show a.jsonl
	lacks "$output" 'era '
	sed 's/"era":"legacy"/"era":"modern"/' a.jsonl >b.jsonl
	expect 0 rolldbg show b.jsonl
	has "$output" 'FrozenLake-v1.0 · mcp-gym · era modern · policy'
}

@test "run: findings give exit 1, and --fail-on sets the threshold" {
	expect 1 rolldbg run --env "$broken" --actions "$goal"
	has "$output" 'error: multi-step-illusion: turns 3-5: '
	has "$output" 'findings: 3 errors, 2 warnings'
	has "$output" 'cause: fallback-session: explains capacity, '
	lacks "$output" $'\nmore: '
	expect 0 rolldbg run --env "$broken" --actions "$goal" --fail-on never
	expect 0 rolldbg run --env "$broken" --actions "$goal" --only retry-same-error
	has "$output" $'\nmore: rolldbg check --explain retry-same-error'
	expect 0 rolldbg run --quiet --env "$broken" --actions "$goal" --only retry-same-error
	lacks "$output" 'more: '
	expect 1 rolldbg run --env "$broken" --actions "$goal" --only retry-same-error --fail-on warning
	expect 0 rolldbg run --env "$broken" --actions "$goal" --without capacity,fallback-session,multi-step-illusion
}

@test "run: --min-effective, and how an unknown effect becomes known" {
	expect 0 rolldbg run --actions "$goal" --min-effective 6
	expect 1 rolldbg run --actions "$goal" --min-effective 7 --out a.jsonl
	has "$output" 'error: min-effective: 6 of 6 steps were effective; at least 7 are required'
	expect 1 rolldbg check --min-effective 7 a.jsonl
	expect 0 rolldbg check --min-effective 6 a.jsonl
	expect 1 rolldbg run --actions "$goal" --state none --min-effective 1
	has "$output" 'error: min-effective: 0 of 6 steps were effective (the effect of every step is unknown)'
	expect 0 rolldbg run --actions "$goal" --state none --out b.jsonl
	expect 0 rolldbg check b.jsonl
	has "${lines[-1]}" '--state tool:NAME[:JSON] or --state resource:URI'
	lacks "$output" 'state observation'
	printf '{"kind":"script","calls":[{"name":"put_item","arguments":{"key":"k","value":1}}]}' >put.json
	expect 0 rolldbg run --env builtin:desk --policy put.json --state none
	has "$output" '--state tool:NAME[:JSON] (read-only: get_task, list_items, get_item, search) or --state resource:URI'
}

@test "run: messages about inconclusive runs" {
	expect 0 rolldbg run --state none
	has "$output" 'unknown: whether the 6 calls changed the environment'
	expect 0 rolldbg run --max-turns 0
	has "$output" 'nothing to check: no call was sent'
	expect 0 rolldbg run --actions UP,UP,DOWN
	has "$output" 'no findings: 1 of 3 steps changed the state, 2 changed nothing (turns 0-1)'
	expect 4 rolldbg run --env http://127.0.0.1:1/mcp --actions UP
	has "$output" 'no findings: the rollout did not start'
	expect 1 rolldbg run --seed -1
	has "$output" 'refused: the reset failed: POST /control/reset_session returned HTTP 500 (Gymnasium refuses negative seeds)'
}

@test "check: what was seen of a batch is told in numbers, and what would settle the rest" {
	fixtures=$BATS_TEST_DIRNAME/../../fixtures/check
	expect 0 rolldbg check "$fixtures/only-counts/good-two-calls.jsonl"
	has "$output" 'no findings: 2 of 2 steps changed the state'
	expect 0 rolldbg check "$fixtures/only-counts/good-two-calls.jsonl" "$fixtures/frozen-state/good-shows-nothing-but-replies-differ.jsonl"
	has "$output" 'no findings: 2 of 5 steps changed the state, 3 unknown'
	has "$output" 'run with --confirm'
	lacks "$output" clean
}

@test "run --quiet prints findings only" {
	expect 0 rolldbg run --quiet
	[ -z "$output$stderr" ]
	expect 1 rolldbg -q run --env "$broken" --actions "$goal"
	[ "$(grep -cv '^error: \|^warning: ' <<<"$output")" = 0 ]
	[ "${#lines[@]}" = 5 ]
	[ -z "$stderr" ]
}

@test "run --json and check --json: the lines, their keys and their order" {
	expect 1 rolldbg run --env "$broken" --actions "$goal" --json --out b.jsonl
	[ -z "$stderr" ]
	live=$output
	[ "$(keys_of "$live" finding)" = 'type file rollout task rule severity first_turn last_turn first_step last_step pointer message cause failure' ]
	[ "$(keys_of "$live" rollout)" = 'type file rollout status turns steps effective unknown failed longest_failed_run reward failure reward_valid' ]
	[ "$(keys_of "$live" summary)" = 'type rollouts turns steps effective unknown failed reward findings failures environment_failures rewards_invalid not_checked confirmed' ]
	[ "$(jq -c 'select(.type == "summary") | .findings | keys_unsorted' <<<"$live")" = '["error","warning","info"]' ]
	[ "$(jq -r .type <<<"$live" | uniq | tr '\n' ' ')" = 'finding rollout summary ' ]
	expect 1 rolldbg check --json b.jsonl
	[ "$output" = "$live" ]
	[ "$(tail -n 1 <<<"$output")" = '{"type":"summary","rollouts":1,"turns":6,"steps":6,"effective":null,"unknown":6,"failed":3,"reward":0,"findings":{"error":3,"warning":2,"info":0},"failures":{"policy":0,"environment":0,"transport":0,"capacity":1,"verifier":0,"harness":0},"environment_failures":1,"rewards_invalid":1,"not_checked":[],"confirmed":null}' ]
}

@test "check --json of a stripped recording names what it could not check" {
	rolldbg run --quiet --out a.jsonl
	rolldbg strip a.jsonl >stripped.jsonl
	expect 0 rolldbg check --json stripped.jsonl
	not_checked=$(jq -r 'select(.type == "summary") | .not_checked | join(", ")' <<<"$output")
	has "$not_checked" 'fallback-session'
	expect 0 rolldbg check stripped.jsonl
	has "$output" "need data that is not recorded, stripped or too large: $not_checked"
}

@test "check: files, directories and several rollouts; findings name their rollout" {
	mkdir runs
	rolldbg run --quiet --task good --out runs/a.jsonl
	rolldbg run --quiet --env "$broken" --actions "$goal" --task bad --out runs/b.jsonl || true
	expect 1 rolldbg check runs
	has "$output" 'runs/b.jsonl: bad.0: error: capacity: '
	has "$output" '2 rollouts · 12 turns · 12 steps · 6 effective (6 unknown) · 3 failed'
	has "$output" 'findings: 3 errors, 2 warnings'
	expect 1 rolldbg check runs/a.jsonl runs/b.jsonl
	expect 0 rolldbg check runs/a.jsonl
	[ "$output" = $'6 turns · 6 steps · 6 effective · 0 failed · reward 1\nno findings: 6 of 6 steps changed the state' ]
	cat runs/*.jsonl >both.jsonl
	expect 1 rolldbg check both.jsonl
	has "$output" 'bad.0: error: capacity: '
	expect 0 rolldbg check both.jsonl --fail-on never
}

@test "check --list and --explain" {
	expect 0 rolldbg check --list
	list=$output
	for rule in $(rolldbg __spec | sed -n 's/^topic	rule	\([^	]*\).*/\1/p'); do
		has "$list" "$rule "
		expect 0 rolldbg check --explain "$rule"
		[[ $output == "$rule: "* ]]
		has "$output" $'\nSeverity: '
		[ "${#lines[@]}" -ge 2 ]
		[ "$(wc -L <<<"$output")" -le 80 ]
	done
}

@test "check --list and --explain as JSON lines, and what they cannot be combined with" {
	expect 0 rolldbg check --list --json
	[ "$(jq -r 'select(.type == "rule").rule' <<<"$output")" = "$(rolldbg check --list | cut -d' ' -f1)" ]
	[ "$output" = "$(rolldbg check --report json --list)" ]
	list=$output
	expect 0 rolldbg check --explain capacity --json
	[ "${lines[0]}" = "$(grep '"rule":"capacity"' <<<"$list")" ]
	[ "$(jq -r 'select(.type == "rule") | .severity, (.explains | length > 2), .title' <<<"$output")" = "error
true
$(rolldbg check --list | sed -n 's/^capacity  *error  *//p')" ]
	[ "$(jq -r '.title, .explanation, .raised, .lowered' <<<"$list" | grep -cP '[\x01\x02]')" -eq 0 ]
	expect 2 rolldbg check --list x.jsonl
	has "$stderr" "--list reads no recording: unexpected operand 'x.jsonl'"
	expect 2 rolldbg check --explain capacity x.jsonl
	has "$stderr" "--explain reads no recording: unexpected operand 'x.jsonl'"
	expect 2 rolldbg check --list --explain capacity
	has "$stderr" '--list and --explain are mutually exclusive'
	expect 2 rolldbg check --explain capacit --json
	has "$stderr" "--explain: unknown rule 'capacit'; did you mean 'capacity'?"
}

@test "check --explain prints at most 15 lines for every rule" {
	local rules long='' rule
	rules=$(rolldbg check --list --json | jq -r 'select(.type == "rule").rule')
	[ -n "$rules" ]
	for rule in $rules; do
		rolldbg check --explain "$rule" >explained
		[ -s explained ]
		[ "$(wc -l <explained)" -le 15 ] || long+=" $rule"
	done
	[ -z "$long" ]
}

@test "show: a table, a turn in full; --rollout is required if there are several" {
	rolldbg run --quiet --task one --out one.jsonl
	rolldbg run --quiet --task two --actions DOWN,UP --out two.jsonl
	expect 0 rolldbg show one.jsonl
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 9 ]
	has "${lines[2]}" '   0  lake_move action=DOWN   ok       position 0 -> 4         0  {"position":4,'
	expect 0 rolldbg show one.jsonl --turn 5
	has "$output" 'reward        1'
	has "$output" 'terminated    true'
	cat one.jsonl two.jsonl >both.jsonl
	expect 2 rolldbg show both.jsonl --turn 1
	has "$stderr" '--turn requires --rollout ID: the recording has 2 rollouts; available: one.0, two.0'
	expect 0 rolldbg show both.jsonl --turn 1 --rollout two.0
	has "$output" '"UP"'
	expect 0 rolldbg show both.jsonl --rollout two.0
	lacks "$output" one.0
	expect 2 rolldbg show both.jsonl --rollout three.0
	has "$stderr" "the recording has no rollout 'three.0'; available: one.0, two.0"
	expect 2 rolldbg show one.jsonl --turn 6
	has "$stderr" 'the recording has no turn 6; the last is turn 5'
}

@test "strip: the same seed gives the same bytes; stripping twice changes nothing" {
	for map in 4x4 '4x4&slippery=1' 'random&slippery=1' 8x8; do
		for name in a b; do
			rolldbg run --quiet --env "builtin:frozen_lake?map=$map" --policy random:5 --seed 11 -n 30 --force --out $name.jsonl
			rolldbg strip $name.jsonl >$name.stripped
		done
		run ! cmp -s a.jsonl b.jsonl
		cmp a.stripped b.stripped
		rolldbg strip a.stripped | cmp - a.stripped
	done
	rolldbg run --quiet --env "builtin:frozen_lake?map=random&slippery=1" --policy random:5 --seed 12 -n 30 --out c.jsonl
	rolldbg strip c.jsonl >c.stripped
	run ! cmp -s a.stripped c.stripped
}

@test "strip: the golden of the lake's shortest path" {
	rolldbg run --quiet --seed 42 --out a.jsonl
	expect 0 rolldbg strip a.jsonl
	[ -z "$stderr" ]
	diff -u "$data/lake-goal.stripped" - <<<"$output"
}

@test "strip --mask, and the masks of the recording" {
	rolldbg run --quiet --mask /state/grid --out a.jsonl
	expect 0 rolldbg strip a.jsonl --mask '/observation/*'
	has "$output" '"state":{"grid":"<masked>","position":4}'
	has "$output" '"observation":{"action":"<masked>","grid":"<masked>","position":"<masked>"}'
	expect 0 rolldbg strip a.jsonl
	lacks "$output" '"position":"<masked>"'
}

@test "serve: prints its address, serves, and exits cleanly on a signal" {
	start lake "$ROLLDBG" serve --port 0
	[[ $url =~ ^http://127\.0\.0\.1:[0-9]+/mcp$ ]]
	expect 0 rolldbg run --env "$url" --actions "$goal"
	has "$output" 'no findings: 6 of 6 steps changed the state'
	expect 0 rolldbg run --env "$url/" --actions "$goal"
	pid=$(cat lake.pid)
	kill -INT "$pid"
	wait "$pid"
	[ "$(wc -l <lake.log)" = 1 ]
	expect 4 rolldbg run --env "$url" --actions "$goal"
}

@test "serve: a port in use gives exit 5" {
	start lake "$ROLLDBG" serve --port 0
	port=${url#http://127.0.0.1:}
	expect 5 rolldbg serve --port "${port%/mcp}"
	has "$stderr" "${port%/mcp}"
	[ -z "$output" ]
}

@test "serve: its options are the keys of builtin: targets" {
	start lake "$ROLLDBG" serve 'frozen_lake?map=8x8' --port 0 --max-envs 1 --slippery --delay 1ms --fault stale-reward
	expect 0 rolldbg run --env "$url" --actions RIGHT --out a.jsonl
	has "$(cat a.jsonl)" 'FFFHFFFG'
}

@test "-v explains decisions on standard error" {
	expect 0 rolldbg run --env builtin:frozen_lake -v
	has "$stderr" 'builtin:frozen_lake is served at http://127.0.0.1:'
	has "$stderr" 'control plane'
	expect 0 rolldbg -v run --env builtin:frozen_lake
	has "$stderr" 'control plane'
}

@test "colors: only on a terminal, never with NO_COLOR, or as --color says" {
	rolldbg run --quiet --out a.jsonl
	expect 0 rolldbg show a.jsonl
	lacks "$output" $'\e'
	expect 0 rolldbg show a.jsonl --color always
	has "$output" $'\e[32mok'
	expect 0 env NO_COLOR=1 "$ROLLDBG" --color=always show a.jsonl
	has "$output" $'\e[32mok'
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	has "$(script -qec "'$ROLLDBG' show a.jsonl" /dev/null)" $'\e[32mok'
	lacks "$(NO_COLOR=1 script -qec "'$ROLLDBG' show a.jsonl" /dev/null)" $'\e'
	lacks "$(script -qec "'$ROLLDBG' show a.jsonl --color never" /dev/null)" $'\e'
}

@test "the table keeps to the terminal's width" {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	rolldbg run --quiet --env "$broken" --actions "$goal" --out a.jsonl || true
	for columns in 40 70 80 91 100 120 200; do
		NO_COLOR=1 script -qec "stty cols $columns; '$ROLLDBG' show a.jsonl" /dev/null | tr -d '\r' >table
		[ "$(LC_ALL=C.UTF-8 wc -L <table)" -le "$columns" ]
		has "$(cat table)" observation
		[ "$columns" -ge 70 ] || continue
		NO_COLOR=1 script -qec "stty cols $columns; '$ROLLDBG' check a.jsonl" /dev/null | tr -d '\r' >verdict
		[ "$(LC_ALL=C.UTF-8 wc -L <verdict)" -le "$columns" ]
		script -qec "stty cols $columns; '$ROLLDBG' check --list" /dev/null | tr -d '\r' >list
		[ "$(wc -L <list)" -le "$columns" ]
	done
	# a short call is never cut: a live table on 80 columns has two lines per row, a recorded one need not
	for columns in 72 80 90 100; do
		COLUMNS=$columns rolldbg run --actions RIGHT,DOWN >table
		has "$(cat table)" 'lake_move action=RIGHT '
		COLUMNS=$columns rolldbg show >table
		has "$(cat table)" 'lake_move action=RIGHT '
	done
	[ "$(COLUMNS=80 rolldbg show | wc -l)" = 5 ]
	# COLUMNS takes precedence; the default for a pipe is 100 columns
	COLUMNS=60 rolldbg show a.jsonl | tail -n +2 >table
	[ "$(LC_ALL=C.UTF-8 wc -L <table)" -le 60 ]
	rolldbg show a.jsonl >table
	[ "$(LC_ALL=C.UTF-8 wc -L <table)" = 100 ]
	COLUMNS=wide rolldbg show a.jsonl | cmp - table
	# in a pipe, findings, causes and rules are one line each
	expect 1 rolldbg check a.jsonl
	[ "${#lines[@]}" = 9 ]
	[ "${lines[5]}" = 'FrozenLake-v1.0: cause: fallback-session: explains capacity, multi-step-illusion, retry-same-error; more: rolldbg check --explain fallback-session, rolldbg probe --env URL --sessions 8' ]
	expect 0 rolldbg check --list
	[ "${#lines[@]}" = "$(rolldbg __spec | grep -c '^topic	rule	')" ]
}

@test "--read-only, --noop and --expect-error: facts that recordings do not contain" {
	echo '{"kind":"script","calls":[{"name":"put_item","arguments":{"key":"a","value":1}},{"name":"put_item","arguments":{"key":"b","value":2}},{"name":"delete_item","arguments":{"key":"b"}}]}' >put.json
	expect 1 rolldbg run --quiet --out a.jsonl --env builtin:desk --policy put.json --state tool:get_task
	has "$output" 'error: frozen-state: '
	expect 1 rolldbg check a.jsonl --fail-on warning
	has "$output" 'error: frozen-state: '
	expect 0 rolldbg check a.jsonl --fail-on warning --read-only 'look,put_*,delete_*'
	expect 0 rolldbg check a.jsonl --fail-on warning --noop put_item
	expect 1 rolldbg run --quiet --out b.jsonl --env "$broken" --actions "$goal"
	has "$output" 'error: multi-step-illusion: '
	expect 0 rolldbg check b.jsonl --only multi-step-illusion --expect-error '*'
	expect 1 rolldbg check b.jsonl --only multi-step-illusion --expect-error 'no such text'
	# negative tests: a missing expected error is a finding
	expect 1 rolldbg check b.jsonl --only expected-error-missing --expect-error 'no such text' --expect-error 3 --expect-error 0 --expect-error 99
	has "$output" "error: expected-error-missing: an error was expected, but none of 6 steps failed with: no such text"
	has "$output" "error: expected-error-missing: turn 0: an error was expected in this turn, but none occurred"
	has "$output" "error: expected-error-missing: turn 99: an error was expected in this turn, but the rollout has no such turn"
	lacks "$output" 'turn 3'
	expect 0 rolldbg check b.jsonl --only expected-error-missing --expect-error 3
	[ "$(rolldbg check b.jsonl --expect-error '*' --json | jq -r 'select(.type == "rollout") | .failed')" = 3 ]
}

@test "rollouts of one task are judged together, over all files" {
	rolldbg run --quiet --task t --out one.jsonl
	jq -c 'if .type == "header" then .limits.group_size = 2 else . end' one.jsonl >a.jsonl
	expect 1 rolldbg check a.jsonl
	has "$output" 'a.jsonl: error: group-size: task t has 1 of the 2 rollouts of its group'
	sed 's/"t\.0"/"t.1"/' a.jsonl | jq -c 'if .type == "header" then .sample = 1 else . end' >b.jsonl
	expect 1 rolldbg check a.jsonl b.jsonl --json
	[ "$(jq -r 'select(.type == "finding" and .rule != "session-alias") | [.file, .rollout, .task, .rule, .severity] | map(tostring) | join(" ")' <<<"$output")" = \
		'null null t zero-variance-group warning' ]
	[ "$(jq -r 'select(.type == "finding" and .rule == "session-alias") | .rollout' <<<"$output")" = t.1 ]
}
