#!/usr/bin/env bats
# The built-in desk: a clock that only --ignore and --mask remove, tools marked read-only, and
# numbers and strings that must arrive as they were sent.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# run_look NAME ARGUMENTS...: runs the read-only policy on the desk of seed 7; records NAME.jsonl.
run_look() {
	local name=$1
	shift
	rolldbg run --env builtin:desk --seed 7 --policy "$root/policies/desk-look.json" --out "$name.jsonl" "$@"
}

# run_tidy NAME ARGUMENTS...: runs the policy that writes and moves items on the desk of seed 7; records NAME.jsonl.
run_tidy() {
	local name=$1
	shift
	rolldbg run --env builtin:desk --seed 7 --policy "$root/policies/desk-tidy.json" --out "$name.jsonl" "$@"
}

# write_script FILE CALL...: writes a script policy with these calls.
write_script() {
	local file=$1 IFS=,
	shift
	printf '{"kind":"script","name":"calls","calls":[%s]}' "$*" >"$file"
}

@test "the clock changes without a call and is not an effect, with and without --ignore" {
	expect 0 run_look a
	has "$output" '6 turns · 6 steps · 0 effective · 0 failed'
	expect 0 run_look b --ignore /clock
	has "$output" '6 turns · 6 steps · 0 effective · 0 failed'
	has "$output" 'no findings: no call had to change anything'
}

@test "a refused call that changes only the clock is no effect-despite-error" {
	write_script calls.json '{"name":"get_item","arguments":{"key":"nothing"}}' '{"name":"list_items"}'
	expect 0 rolldbg run --env builtin:desk --policy calls.json --fail-on warning
	lacks "$output" effect-despite-error
	expect 0 rolldbg run --env builtin:desk --policy calls.json --fail-on warning --ignore /clock
	has "$output" '2 turns · 2 steps · effective unknown · 1 failed'
}

@test "calls that only read: a named state is frozen unless the tools are marked read-only, another one may be a catalog" {
	run_look a --ignore /clock
	sed 's/"readOnlyHint":true/"readOnlyHint":false/g' a.jsonl >b.jsonl
	expect 0 rolldbg check --only frozen-state --fail-on warning b.jsonl
	run_look a --state tool:list_items --force
	expect 0 rolldbg check --only frozen-state a.jsonl
	lacks "$output" frozen-state
	sed 's/"readOnlyHint":true/"readOnlyHint":false/g' a.jsonl >b.jsonl
	expect 1 rolldbg check --only frozen-state --fail-on warning b.jsonl
	has "$output" "error: frozen-state: turns 0-5: 6 calls were answered, and the state never changed"
	expect 0 rolldbg check --only frozen-state --fail-on warning --read-only 'get_*,list_items,search' b.jsonl
}

@test "writing an equal value changes nothing, and that is reported" {
	write_script calls.json '{"name":"put_item","arguments":{"key":"k","value":1}}' \
		'{"name":"put_item","arguments":{"key":"k","value":1}}' '{"name":"put_item","arguments":{"key":"k","value":1.0}}'
	expect 0 rolldbg run --env builtin:desk --policy calls.json --ignore /clock --out a.jsonl
	has "$output" '3 turns · 3 steps · 1 effective · 0 failed'
}

@test "an effect that is in no answer is seen in the state" {
	write_script calls.json '{"name":"stamp_item","arguments":{"key":"tide"}}' '{"name":"stamp_item","arguments":{"key":"tide"}}'
	expect 0 rolldbg run --env builtin:desk --policy calls.json --ignore /clock --out a.jsonl
	has "$output" '2 turns · 2 steps · 2 effective · 0 failed'
	[ "$(jq -c 'select(.type == "step") | .observation' a.jsonl | sort -u)" = '"Done."' ]
}

@test "a repeated call: a loop after three rounds if it writes, after ten if it may be repeated" {
	write_script calls.json '{"name":"get_item","arguments":{"key":"tide"}}'
	sed 's/^{/{"on_end":"cycle",/' calls.json >get_item.json
	sed 's/"get_item"/"stamp_item"/' get_item.json >stamp_item.json
	sed 's/"get_item"/"move_item"/; s/"tide"/&,"drawer":"shelf"/' get_item.json >move_item.json
	while read -r tool rounds; do
		for n in $((rounds - 1)) "$rounds"; do
			expect $((n == rounds)) rolldbg run --env builtin:desk --seed 7 --policy "$tool.json" --only loop --fail-on warning \
				--ignore /clock --ignore /drawers/shelf/tide/stamps -n "$n"
		done
		has "$output" "warning: loop: turns 0-$((rounds - 1)): "
	done <<-'END'
		get_item 10
		move_item 10
		stamp_item 3
	END
	# when the stamps are part of the state, each stamp_item is an effect
	expect 0 rolldbg run --env builtin:desk --seed 7 --policy stamp_item.json --only loop --fail-on warning --ignore /clock -n 5
}

@test "strip: a clock differs between runs until it is ignored in the state and masked in the reset" {
	for name in a b; do
		run_tidy $name --quiet --ignore /clock --mask /observation/clock
		rolldbg strip $name.jsonl >$name.stripped
		rolldbg strip $name.stripped | cmp - $name.stripped
	done
	cmp a.stripped b.stripped
	run_tidy c --quiet
	rolldbg strip --mask /state/clock --mask /observation/clock c.jsonl >c.stripped
	has "$(head -3 c.stripped | tail -1)" '"state":{"clock":"<masked>",'
	expect 0 rolldbg check a.stripped
	has "$output" '8 turns · 8 steps · 7 effective · 0 failed · reward 3'
}

@test "numbers and strings are recorded as they were sent and received" {
	numbers='[9007199254740993,-0,1E400,0.10,1.0,100000000000000000000001]'
	write_script calls.json '{"name":"put_item","arguments":{"key":"big","value":'"$numbers"'}}' \
		'{"name":"put_item","arguments":{"key":"e\u0301","value":"\ud83d\udddd \/ \u0001"}}' \
		'{"name":"get_item","arguments":{"key":"\u00e9"}}' '{"name":"get_item","arguments":{"key":"big"}}'
	expect 0 rolldbg run --env builtin:desk --seed 7 --policy calls.json --out a.jsonl
	for n in 0 3; do
		grep "\"turn\":$n," a.jsonl | grep -qF '"observation":{"key":"big","drawer":"inbox","value":'"$numbers"'}'
	done
	grep '"turn":0,' a.jsonl | grep -qF '"tool_call":{"id":"c0","name":"put_item","arguments":{"key":"big","value":'"$numbers"'}}'
	grep '"turn":1,' a.jsonl >second
	grep -qF '"big":{"value":'"$numbers"',"stamps":0}' second
	grep -qF '"ledger":{"value":9007199254740993132,"stamps":0},"memo":{"value":"nul \u0000, tab \t, 77","stamps":0},"mass":{"value":[1E400,-0,89.0e-3,null],"stamps":0}' second
	grep -qF '"caf\u00e9":{"value":{"open":true,"tables":198},"stamps":0}' second
	grep -qF $'"cafe\u0301":{"value":"op\\u0065n, \\/47","stamps":0},"\U1f5dd":{"value":"\\ud83d\\udd11 56","stamps":0}' second
	# escapes of the script are sent as they are, and the desk repeats them
	grep -qF '"observation":{"key":"e\u0301","drawer":"inbox","value":"\ud83d\udddd \/ \u0001"}' second
	# the third call used the precomposed letter: a different key
	grep '"turn":2,' a.jsonl | grep -qF $'No item \'\u00e9\' on the desk'
	rolldbg strip a.jsonl >a.stripped
	grep '"turn":1,' a.stripped >second
	grep -qF '"big":{"stamps":0,"value":'"$numbers"'}' second
	grep -qF $'"cafe\u0301":{"stamps":0,"value":"open, /47"},"caf\u00e9":{"stamps":0,' second
	grep -qF '"memo":{"stamps":0,"value":"nul \u0000, tab \t, 77"}' second
}

@test "search returns text and structured content: both are recorded" {
	run_look a --quiet
	grep -F '"name":"search"' a.jsonl | grep -qF $'"observation":"2 of 8 items","structured":{"result":[{"key":"caf\\u00e9","drawer":"shelf","value":{"open":true,"tables":198}},{"key":"cafe\u0301","drawer":"shelf","value":"op\\u0065n, \\/47"}]}'
}

@test "a seed determines the desk, the task and its end" {
	for seed in 1 2; do
		rolldbg run --quiet --env builtin:desk --seed $seed --policy "$root/policies/desk-tidy.json" --out $seed.jsonl
		all_are $seed.jsonl end '.status == "terminated" and .total_reward == 3'
	done
	[ "$(jq -c 'select(.type == "reset") | .observation.task' 1.jsonl)" != "$(jq -c 'select(.type == "reset") | .observation.task' 2.jsonl)" ]
}

@test "serve desk: the same world for every session; settings of the lake are refused" {
	start desk "$ROLLDBG" serve desk --port 0 --max-envs 2
	expect 0 rolldbg run --env "$url" --seed 7 --policy "$root/policies/desk-tidy.json" --ignore /clock
	has "$output" 'Desk-v1.0 · mcp-gym · policy desk-tidy · seed 7 · state from control-plane'
	has "$output" '8 turns · 8 steps · 7 effective · 0 failed · reward 3'
	expect 2 rolldbg run --env builtin:desk
	has "$stderr" "no policy: use --call 'TOOL key=value', --actions A,B,C or --policy FILE (or random:SEED)"
	expect 2 rolldbg run --env "$url" --actions UP
	has "$stderr" "available: get_task, list_items, get_item, search, put_item, move_item, stamp_item, delete_item"
}

@test "check --verify: hashes match the states without ignored members, stripped or not" {
	run_tidy a --quiet --ignore /clock
	rolldbg strip --mask /state/drawers/archive a.jsonl >stripped.jsonl
	expect 0 rolldbg check --verify a.jsonl stripped.jsonl
	# an ignored member may be changed, another may not
	sed '4s/"clock":[0-9]*/"clock":1/' a.jsonl >clock.jsonl
	expect 0 rolldbg check --verify clock.jsonl
	sed '4s/9007199254740993132/9007199254740993133/' a.jsonl >digit.jsonl
	cmp -s a.jsonl digit.jsonl && return 1
	expect 0 rolldbg check digit.jsonl
	expect 3 rolldbg check --verify digit.jsonl
	has "$stderr" 'digit.jsonl:4: state_hash is '
	has "$stderr" ': one of them was changed after recording'
	sed '/"type":"end"/s/"state_hash":"./"state_hash":"x/' a.jsonl >end.jsonl
	expect 3 rolldbg check --verify end.jsonl
	has "$stderr" "end.jsonl:$(wc -l <a.jsonl | tr -d ' '): state_hash is x"
}

@test "a streak of failed steps: the state did not change during them, although it changed before" {
	printf '{"name":"%s","arguments":{"key":"%s","%s":"shelf"}}\n' put_item a value move_item x drawer move_item y drawer move_item z drawer >calls.json
	expect 1 rolldbg run --env builtin:desk --policy calls.json
	has "$output" 'the last 3 of 4 steps failed; the state did not change during them; first error: '
	has "$output" '4 turns · 4 steps · 1 effective'
}

@test "--baseline: a tool that never changed the state there is read-only" {
	run_look a --quiet --state tool:list_items
	run_tidy b --quiet --state tool:list_items
	for name in a b; do
		sed 's/"readOnlyHint":[a-z]*,//g' $name.jsonl >$name.silent.jsonl
	done
	expect 1 rolldbg check --fail-on warning a.silent.jsonl
	has "$output" 'error: frozen-state: turns 0-5: 6 calls'
	# get_task is the only tool that b called without effect
	expect 1 rolldbg check --fail-on warning --baseline b.silent.jsonl a.silent.jsonl
	has "$output" 'error: frozen-state: turns 1-5: 5 calls were answered, and the state never changed'
	expect 0 rolldbg check --fail-on warning --baseline b.silent.jsonl --baseline a.jsonl a.silent.jsonl
	# a tool that the server marks as writing is not treated as read-only
	sed 's/"readOnlyHint":true/"readOnlyHint":false/g' a.jsonl >writes.jsonl
	expect 1 rolldbg check --fail-on warning --baseline a.jsonl writes.jsonl
	# a tool with one effect anywhere in the baseline is not read-only
	sed 's/"name":"move_item"/"name":"get_item"/g' b.silent.jsonl >c.jsonl
	expect 1 rolldbg check --fail-on warning --baseline a.jsonl --baseline c.jsonl a.silent.jsonl
	has "$output" 'error: frozen-state: turns 3-5: 3 calls'
	expect 3 rolldbg check --baseline nowhere.jsonl a.jsonl
	has "$stderr" '--baseline: '
	expect 3 rolldbg run --env builtin:desk --policy "$root/policies/desk-look.json" --baseline nowhere.jsonl --out d.jsonl
	[ ! -e d.jsonl ]
	expect 0 rolldbg run --env builtin:desk --policy "$root/policies/desk-look.json" --baseline a.jsonl --out d.jsonl
}
