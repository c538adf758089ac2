#!/usr/bin/env bats
# debug --dap with a real client of the Debug Adapter Protocol: @vscode/debugadapter-testsupport.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

client() {
	node "$BATS_TEST_DIRNAME/dap_client.js" "$installed/dap/node_modules" "$ROLLDBG" "$@"
}

expected_output() {
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
	diff <(expected_output) <(client look a.jsonl)
}

@test "a live session: the same, and its recording" {
	client look --env builtin:frozen_lake --seed 42 --actions DOWN,DOWN,RIGHT,DOWN --out a.jsonl >got
	diff <(expected_output) got
	[ "$(jq -r 'select(.type == "end").status' a.jsonl)" = stopped ]
}

@test "pause stops a running rollout; disconnect ends it" {
	client pause --env 'builtin:frozen_lake?delay=50ms' --policy random:1 --max-turns 1000 --out a.jsonl | sed 's/turn [0-9]* · step .*/TITLE/' >got
	diff - got <<-'END'
		configurationDone: entry: start of rollout FrozenLake-v1.0 (line 2, 1 frames)
		continue: answered while it runs
		pause: pause
		evaluate: true
		stepIn: step: TITLE
		exit 0
	END
	jq -es 'last.type == "end" and (map(select(.type == "step")) | length < 30)' a.jsonl
}

@test "pause interrupts a slow model; its call is made by hand" {
	echo '{"then": "last", "replies": [{"delay": "60s", "text": "x"}, {"text": "y"}]}' >script.json
	"$ROLLDBG" serve llm script.json --port 0 >model.log 3>&- &
	echo $! >model.pid
	until base=$(sed -n 's/^listening on \([0-9.:]*\).*/\1/p' model.log) && [ -n "$base" ]; do sleep 0.05; done
	client model --env builtin:frozen_lake --policy llm --model m --base-url "http://$base/v1" --out a.jsonl >got
	diff - got <<-'END'
		configurationDone: pause
		call: step
		position: 1
		exit 0
	END
	[ "$(jq -r 'select(.type == "step").tool_call.arguments.action' a.jsonl)" = RIGHT ]
}
