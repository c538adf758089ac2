#!/usr/bin/env bats
# show: one turn in full, and the pager on a terminal.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# on_terminal COMMAND: runs it on a terminal of 80 columns without colors; sets $output, whose last line is the exit code.
on_terminal() {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	output=$(NO_COLOR=1 TERM=xterm script -qec "stty cols 80; $1; echo \"code \$?\"" /dev/null </dev/null | tr -d '\r')
}

@test "show --turn: the states before and after, and the changes between them" {
	rolldbg run --quiet --out a.jsonl
	expect 0 rolldbg show a.jsonl --turn 2
	[ -z "$stderr" ]
	has "$output" 'turn 2 · step 2 of rollout FrozenLake-v1.0'
	has "$output" $'state before\n  position    8\n  grid\n      (Down)\n    SFFF\n    FHFH\n    [F]FFH\n    HFFG\n'
	has "$output" $'call          "lake_move"\narguments     {"action":"RIGHT"}\n'
	has "$output" $'outcome       ok\nobservation\n  position    9\n'
	has "$output" $'reward        0\nterminated    false\ntruncated     false\n'
	has "$output" $'state after\n  position    9\n'
	has "$output" $'changed\n  position 8 -> 9\n'
}

@test "show --turn: the layer that reported a failure, and the state that did not change" {
	rolldbg run --quiet --actions DOWN,NORTH --force-call --out a.jsonl || true
	expect 0 rolldbg show a.jsonl --turn 1
	has "$output" 'outcome       tool-error (class arguments, reported by layer mcp)'
	has "$output" "error         \"Error executing tool lake_move: Invalid action 'NORTH'."
	has "$output" 'state after   unchanged'
	# the recording ends before the line with the next state
	head -n 4 a.jsonl >torn.jsonl
	expect 0 rolldbg show torn.jsonl --turn 1
	has "$output" $'state after   unknown\nchanged       unknown'
}

@test "show --turn: a value on one line has no blanks but those in its strings" {
	rolldbg run --quiet --out a.jsonl
	jq -c '.' a.jsonl | sed '2,3s/"state":{[^}]*}/"state":{"list":[  {   "a b": "x \\" ,  y",  "n" :  1 } ]}/' >b.jsonl
	expect 0 rolldbg show b.jsonl --turn 0
	has "$output" '[{"a b":"x \" ,  y","n":1}]'
}

@test "show --turn: several steps of one turn, and the events between them" {
	rolldbg run --quiet --out a.jsonl
	jq -c 'if .type == "step" and .turn == 1 then .turn = 0 else . end
		| ., (select(.step == 0) | {type: "event", rollout, event: "retry", turn, detail: {why: "one more try"}})' a.jsonl >b.jsonl
	expect 0 rolldbg show b.jsonl --turn 0
	[ "$(grep -c '^turn 0' <<<"$output")" = 3 ]
	[ "$(grep -nE '^turn 0|retry|0 -> 4|4 -> 8' <<<"$output" | sed 's/^[0-9]*://' | paste -sd '|')" = \
		'turn 0 · step 0 of rollout FrozenLake-v1.0|  position 0 -> 4|turn 0 · event of rollout FrozenLake-v1.0|event         "retry"|turn 0 · step 1 of rollout FrozenLake-v1.0|  position 4 -> 8' ]
}

@test "on a terminal show uses the pager, and the exit code is kept" {
	rolldbg run --quiet --out a.jsonl
	unset ROLLDBG_PAGER
	PAGER='sed s/^/P:/' on_terminal "'$ROLLDBG' show a.jsonl"
	has "$output" 'P:turn  call'
	has "$output" $'\ncode 0'
	ROLLDBG_PAGER='sed s/^/Q:/' PAGER='sed s/^/P:/' on_terminal "'$ROLLDBG' show a.jsonl --turn 0"
	has "$output" 'Q:turn 0'
	for none in cat ''; do
		ROLLDBG_PAGER=$none PAGER='sed s/^/P:/' on_terminal "'$ROLLDBG' show a.jsonl"
		has "$output" $'\nturn  call'
	done
	PAGER='sed s/^/P:/' on_terminal "'$ROLLDBG' --no-pager show a.jsonl"
	has "$output" $'\nturn  call'
	PAGER='sed s/^/P:/' on_terminal "TERM=dumb '$ROLLDBG' show a.jsonl"
	has "$output" $'\nturn  call'
	PAGER='sed s/^/P:/' on_terminal "'$ROLLDBG' show '$root/fixtures/recordings/not-object.jsonl'"
	has "$output" 'P:lake.0'
	has "$output" $'\ncode 3'
	# no pager in a pipe
	PAGER='sed s/^/P:/' expect 0 rolldbg show a.jsonl
	lacks "$output" 'P:'
}

@test "a missing pager, and one that is quit early" {
	rolldbg run --quiet --out a.jsonl
	unset ROLLDBG_PAGER
	PAGER='no-such-pager -x' on_terminal "'$ROLLDBG' show a.jsonl"
	has "$output" 'no-such-pager: not found'
	has "$output" $'\nturn  call'
	has "$output" $'\ncode 0'
	printf 'a.jsonl\n%.0s' {1..400} | xargs cat >many.jsonl
	PAGER='head -n 1' on_terminal "'$ROLLDBG' show many.jsonl"
	[ "$(wc -l <<<"$output")" = 2 ]
	has "$output" $'\ncode 0'
}

@test "less quits if the output fits and passes colors through, unless LESS is set" {
	rolldbg run --quiet --out a.jsonl
	mkdir bin
	cat >bin/less <<-'END'
		#!/bin/sh
		echo "LESS=$LESS LV=$LV"
		cat
	END
	chmod +x bin/less
	unset ROLLDBG_PAGER PAGER LESS LV
	PATH=$PWD/bin:$PATH on_terminal "'$ROLLDBG' show a.jsonl"
	has "$output" 'LESS=FRX LV=-c'
	LESS=S PATH=$PWD/bin:$PATH on_terminal "'$ROLLDBG' show a.jsonl"
	has "$output" 'LESS=S LV=-c'
}

@test "show: what is missing from an incomplete recording" {
	rolldbg run --quiet --out a.jsonl
	head -n 4 a.jsonl >stopped.jsonl
	expect 0 rolldbg show stopped.jsonl
	[ "${lines[-1]}" = 'incomplete: no end line' ]
	sed 4d a.jsonl >gap.jsonl
	expect 0 rolldbg show gap.jsonl
	counted=$(jq -r 'select(.type == "end").lines' a.jsonl)
	[ "${lines[-1]}" = "incomplete: the end line counts $counted lines, but the rollout has $((counted - 1))" ]
	expect 0 rolldbg show a.jsonl
	[[ $output != *incomplete* ]]
}

@test "show --json: each step with its effect, what it changed and why" {
	rolldbg run --quiet --actions DOWN,LEFT --task a --out a.jsonl --fail-on never
	expect 0 rolldbg show --json a.jsonl
	[ "$(jq -c 'select(.type == "step") | [.rollout, .step, .outcome, .reward == 0, .effect, .explanation]' <<<"$output")" = \
		$'["a.0",0,"ok",true,"changed","effect"]\n["a.0",1,"ok",true,"unchanged","no-difference"]' ]
	[ "$(jq -c 'select(.step == 0) | .changes[] | [.pointer, .explanation]' <<<"$output")" = $'["/grid","ignored"]\n["/position","effect"]' ]
	[ "$(jq -c 'select(.step == 0) | [.arguments.action, .state.position, (.changes[1] | .before, .after)]' <<<"$output")" = '["DOWN",0,0,4]' ]
	[ "${lines[-1]}" = '{"type":"summary","rollouts":1,"steps":2}' ]
	# the table of convert has the same rows
	rolldbg show --json a.jsonl | jq -c 'select(.type == "step") | del(.type, .observation) | .changes |= map(del(.before, .after))' >rows
	rolldbg convert --to steps a.jsonl | jq -c '(.arguments, .state, .changes) |= fromjson | del(.observation)
		| .changes |= map(del(.before, .after))' | cmp - rows
	# an unfinished rollout, without its header; interleaved ones
	sed -n '2,3p' a.jsonl >part.jsonl
	expect 0 rolldbg show --json part.jsonl
	[ "$(jq -c 'select(.type == "step") | [.effect, .changes]' <<<"$output")" = '["unknown",null]' ]
	rolldbg run --quiet --task b --out b.jsonl
	paste -d '\n' a.jsonl b.jsonl | grep . >both.jsonl
	expect 0 rolldbg show --json both.jsonl --rollout b.0
	[ "$(jq -r 'select(.type == "step").effect' <<<"$output" | sort -u)" = changed ]
	[ "${lines[-1]}" = '{"type":"summary","rollouts":1,"steps":6}' ]
	expect 2 rolldbg show --json both.jsonl --rollout c
	has "$stderr" "no rollout 'c'; available: a.0, b.0"
	expect 2 rolldbg show --json a.jsonl --turn 0
	has "$stderr" '--json prints all steps'
}

@test "show --json: volatile members, additions and removals" {
	rolldbg run --quiet --env builtin:desk --policy "$root/policies/desk-tidy.json" --out d.jsonl
	expect 0 rolldbg show --json d.jsonl
	[ "$(jq -r 'select(.type == "step").changes[] | select(.pointer == "/clock").explanation' <<<"$output" | sort -u)" = volatile ]
	[ "$(jq -c '[select(.type == "step").changes[] | select(.explanation == "effect") | keys_unsorted[1:-1] | join("-")] | .[]' <<<"$output" |
		sort -u | paste -sd ' ')" = '"after" "before" "before-after"' ]
}

@test "show --turn: base64 as its type and size, unless --raw" {
	rolldbg run --quiet --out a.jsonl
	image=iVBORw0KGgo$(head -c 300 "$ROLLDBG" | tail -c 200 | base64 -w 0)aB9
	jq -c --arg i "$image" 'if .step == 0 then .observation = [{type: "image", data: $i, mimeType: "image/png"}]
		| .raw = ({content: .observation} | tojson) | .messages = [{role: "user", content: "see data:image/png;base64,\($i) here"}] else . end' a.jsonl >b.jsonl
	expect 0 rolldbg show b.jsonl --turn 0
	lacks "$output" "${image:20:40}"
	[ "$(grep -c '<base64 of a PNG image, 2[0-9]* bytes>' <<<"$output")" -ge 3 ]
	has "$output" 'see data:image/png;base64,<base64 of a PNG image, '
	expect 0 rolldbg show b.jsonl --turn 0 --raw
	has "$output" "$image"
	expect 2 rolldbg show b.jsonl --raw
}

@test "diff on a terminal: both values fit on its line, however long the pointer" {
	rolldbg run --quiet --out lake.jsonl
	long=$(printf '%s ' {1..40})
	sed "s/\"position\":14/\"position of the field\":\"$long\"/g" lake.jsonl >a.jsonl
	sed "s/\"position\":14/\"position of the field\":[\"$long\"]/g" lake.jsonl >b.jsonl
	on_terminal "'$ROLLDBG' diff a.jsonl b.jsonl"
	has "$output" '/state/position of the field  "1 2 3'
	[ "$(grep '/state/' <<<"$output" | jq -R length | sort -n | tail -n 1)" -le 80 ]
}
