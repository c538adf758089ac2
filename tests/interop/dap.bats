#!/usr/bin/env bats
# debug --dap with a real client of the Debug Adapter Protocol: @vscode/debugadapter-testsupport.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

client() {
	node "$BATS_TEST_DIRNAME/dap_client.js" "$installed/dap/node_modules" "$ROLLDBG" "$@"
}

wanted() {
	cat <<-'END'
		steps back: true
		breakpoints: true,false
		configurationDone: entry: start of rollout FrozenLake-v1.0 (line 2, 1 frames)
		continue: breakpoint: turn 2 · step 2  lake_move action=RIGHT  ok  reward 0 (line 5, 4 frames)
		Step: turn=2 step=2 reward=0 env_steps=3
		State: position=9
		State before: position=8
		stepBack: step: turn 1 · step 1  lake_move action=DOWN  ok  reward 0 (line 4, 3 frames)
		position: 8
		next: breakpoint: turn 2 · step 2  lake_move action=RIGHT  ok  reward 0 (line 5, 4 frames)
		reverseContinue: pause: start of rollout FrozenLake-v1.0 (line 2, 1 frames)
		exit 0
	END
}

@test "a recording: breakpoints by condition, frames, variables, back and forth" {
	"$ROLLDBG" run --quiet --seed 42 --out a.jsonl
	diff <(wanted) <(client a.jsonl)
}

@test "a live session: the same, and its recording" {
	client --env builtin:frozen_lake --seed 42 --actions DOWN,DOWN,RIGHT,DOWN --out a.jsonl >got
	diff <(wanted) got
	[ "$(jq -r 'select(.type == "end").status' a.jsonl)" = stopped ]
}
