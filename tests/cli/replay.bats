#!/usr/bin/env bats
# replay: the calls of a golden, sent again, and what came compared.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# golden NAME ACTIONS [OPTION...]: a stripped recording of the built-in lake.
golden() {
	local name=$1 actions=$2
	shift 2
	rolldbg run --quiet --seed 42 --actions "$actions" --out raw.jsonl --force "$@"
	rolldbg strip raw.jsonl >"$name.jsonl"
}

@test "an environment that does the same: exit 0, the golden untouched" {
	golden lake "$goal"
	cp lake.jsonl before
	expect 0 rolldbg replay lake.jsonl
	[ "$output" = 'no differences · 1 rollout · 6 steps' ]
	cmp lake.jsonl before
	[ ! -e lake.jsonl.new ]
	# what is not stripped is as good
	expect 0 rolldbg replay raw.jsonl --quiet
	[ -z "$output" ]
}

@test "a difference: first step, pointer, expected and got; FILE.new, and --accept" {
	golden lake DOWN,DOWN,RIGHT
	cp lake.jsonl before
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	has "$output" $'lake.jsonl: rollout FrozenLake-v1.0\n'
	has "$output" $'  step 1  lake_move action=DOWN\n    /state/position  4 -> 8\n'
	has "$output" 'written: lake.jsonl.new'
	has "$output" 'recorded: '
	cmp lake.jsonl before
	# what came is the golden of that environment
	cp lake.jsonl.new other.jsonl
	expect 0 rolldbg replay other.jsonl --env 'builtin:frozen_lake?map=8x8'
	expect 0 rolldbg replay lake.jsonl
	[ ! -e lake.jsonl.new ]
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --accept
	has "$output" 'accepted: lake.jsonl'
	cmp lake.jsonl other.jsonl
}

@test "GOLDEN.new cannot be written: exit 5, and what differs is said all the same" {
	golden lake DOWN,DOWN,RIGHT
	mkdir lake.jsonl.new
	expect 5 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	has "$output" '/state/position  4 -> 8'
	has "$stderr" 'cannot write lake.jsonl.new'
	[ ! -e lake.jsonl.partial ]
}

@test "as JSON lines" {
	golden lake DOWN,DOWN
	expect 1 rolldbg replay --json lake.jsonl --env 'builtin:frozen_lake?fault=drop-iserror'
	[ "$(jq -cs '.[0] | [.type, .file, .line, .step, .pointer, .expected, .got]' <<<"$output")" = \
		'["difference","lake.jsonl","step",1,"/outcome","ok","tool-error"]' ]
	[ "$(jq -cs '.[-1] | [.type, .rollouts, .different]' <<<"$output")" = '["summary",1,1]' ]
}

@test "masks of the golden, of the options, and tolerances" {
	golden lake DOWN,DOWN --mask '/observation/grid' --mask '/state/grid'
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	lacks "$output" grid
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --mask '/**/position'
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --tolerance /state/position=12 \
		--tolerance /observation/position=12
}

@test "a suite: files and folders, several at a time; unequal ids" {
	mkdir goldens
	for n in 1 2 3 4; do
		golden goldens/$n DOWN,RIGHT --task "task$n"
	done
	expect 0 rolldbg replay goldens --jobs 4
	[ "$output" = 'no differences · 4 rollouts · 8 steps' ]
	[ -z "$stderr" ]
	cp goldens/1.jsonl again.jsonl
	expect 0 rolldbg replay goldens again.jsonl --jobs 4
	has "$stderr" 'two goldens have the rollout id task1.0: replayed one at a time'
	rolldbg run --quiet --actions DOWN -g 5 -j 5 --out many.jsonl
	expect 0 rolldbg replay many.jsonl --jobs 3
	[ "$output" = 'no differences · 5 rollouts · 5 steps' ]
}

@test "an environment that is not there, or refuses: nothing is accepted" {
	golden lake DOWN,DOWN
	cp lake.jsonl before
	expect 4 rolldbg replay lake.jsonl --env http://127.0.0.1:9/mcp --accept
	has "$stderr" 'connection refused'
	has "$stderr" 'lake.jsonl: rollout FrozenLake-v1.0 was not replayed to its end and is not compared'
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?max_envs=1'
	golden two DOWN -g 2 --task two
	expect 1 rolldbg replay two.jsonl --jobs 2 --env 'builtin:frozen_lake?max_envs=1&delay=500ms' --accept
	cmp lake.jsonl before
	[ ! -e lake.jsonl.new ] && [ ! -e two.jsonl.new ]
	[ "$(grep -c '"outcome":"ok"' two.jsonl)" = 4 ]
}

@test "calls that a model made, and those that were never sent" {
	golden lake DOWN,RIGHT
	# a turn without a call, and one whose call was not sent
	awk '{ print } NR == 2 {
		print "{\"type\":\"step\",\"rollout\":\"FrozenLake-v1.0\",\"turn\":7,\"step\":null,\"state\":null,\"tool_call\":null}"
		print "{\"type\":\"step\",\"rollout\":\"FrozenLake-v1.0\",\"turn\":8,\"step\":null,\"state\":null,\"tool_call\":{\"id\":\"x\",\"name\":\"lake_move\",\"arguments\":{}},\"outcome\":\"not-sent\"}"
	}' lake.jsonl >model.jsonl
	expect 0 rolldbg replay model.jsonl
	[ "$output" = 'no differences · 1 rollout · 2 steps' ]
}

@test "run --policy RECORDING: its calls, without a comparison" {
	golden lake DOWN,UP,DOWN
	expect 0 rolldbg run --policy lake.jsonl --env 'builtin:frozen_lake?map=8x8' --out again.jsonl --quiet
	[ "$(jq -r 'select(.type == "step") | .tool_call.arguments.action' again.jsonl | paste -sd,)" = DOWN,UP,DOWN ]
	[ "$(jq -r 'select(.type == "header") | .policy.kind' again.jsonl)" = replay ]
	expect 2 rolldbg run --policy lake.jsonl --actions DOWN
	has "$stderr" 'no --actions, no model'
	rolldbg run --quiet --actions DOWN -g 2 --out many.jsonl
	expect 3 rolldbg run --policy many.jsonl
	has "$stderr" 'policy many.jsonl: a recording of 2 rollouts'
	# the server has no such tool: nothing is sent, unless it is forced
	sed -i 's/"name":"lake_move"/"name":"lake_mov"/g' lake.jsonl
	expect 3 rolldbg run --policy lake.jsonl
	has "$stderr" "did you mean 'lake_move'?"
}

@test "goldens that cannot be used: exit 3, with the reason" {
	golden lake DOWN,DOWN
	grep -v '"type":"end"' lake.jsonl >no-end.jsonl
	expect 3 rolldbg replay no-end.jsonl
	has "$stderr" 'no-end.jsonl: rollout FrozenLake-v1.0 has no end line: a golden must be complete'
	head -c -9 lake.jsonl >torn.jsonl
	expect 3 rolldbg replay torn.jsonl
	has "$stderr" 'torn.jsonl:5: the last line is truncated: a golden must be complete'
	echo nothing >foreign.jsonl
	expect 3 rolldbg replay foreign.jsonl
	: >empty.jsonl
	expect 3 rolldbg replay empty.jsonl
	expect 3 rolldbg replay missing.jsonl
	expect 2 rolldbg replay
	expect 2 rolldbg replay lake.jsonl --jobs 0
	# nothing was sent, so nothing was recorded
	[ -z "$(find state -name '*.jsonl')" ]
}
