#!/usr/bin/env bats
# A healthy FrozenLake on four generations of the MCP-Gym base class: the recording matches the calls, and there are no
# findings.

load lib

to_goal=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

setup_file() {
	gym_start newest D gym_lake.py
	gym_start c C gym_lake.py
}

# whole_walk NAME: the recording goes to the goal of the standard map, and the control plane counted the steps.
whole_walk() {
	holds "$1" 'header.env.protocol == "mcp-gym" and header.env.name == "FrozenLake-v1"'
	holds "$1" 'header.tools | map(.name) == ["lake_move"]'
	holds "$1" 'positions == [0, 4, 8, 9, 13, 14, 15]'
	holds "$1" 'steps | map(.tool_call.arguments.action) == ["DOWN", "DOWN", "RIGHT", "DOWN", "RIGHT", "RIGHT"]'
	holds "$1" 'steps | map(.observation.position) == [4, 8, 9, 13, 14, 15]'
	holds "$1" 'steps | all(.outcome == "ok" and .error == null)'
	holds "$1" 'steps | map(.env_steps) == [1, 2, 3, 4, 5, 6]'
	holds "$1" 'steps | map(.reward) == [0, 0, 0, 0, 0, 1]'
	holds "$1" 'steps | map(.terminated) == [false, false, false, false, false, true]'
	holds "$1" 'events == []'
	holds "$1" 'ending | .status == "terminated" and .turns == 6 and .steps == 6 and .total_reward == 1'
	no_findings "$1"
	[ "$(jq -c 'select(.type == "rollout") | [.status, .steps, .effective, .failed]' "$1.json")" = '["terminated",6,6,0]' ]
}

@test "eval-protocol 0.3.33: reaches the goal" {
	drive walk 0 --env "$(url newest)" --actions $to_goal
	whole_walk walk
}

@test "eval-protocol 0.2.22: reaches the goal" {
	drive walk 0 --env "$(url c)" --actions $to_goal
	whole_walk walk
}

# This SDK's server fails for good after a client has ended its session: each run needs a new server.
@test "eval-protocol 0.2.22 on mcp 1.9, which redirects /mcp to /mcp/" {
	gym_start bare C-on-mcp-1.9 gym_lake.py
	drive walk 0 --env "$(url bare)" --actions $to_goal
	whole_walk walk
	gym_start slash C-on-mcp-1.9 gym_lake.py
	drive slash 0 --env "$(url slash)/" --actions $to_goal
	whole_walk slash
}

@test "mcp 1.30 redirects /mcp/ to /mcp" {
	drive slash 0 --env "$(url newest)/" --actions $to_goal
	whole_walk slash
}

# Its control plane identifies the environment by a hash; with the client's id it would report a different environment.
@test "reward-kit 0.4.1: reaches the goal" {
	gym_start b B gym_lake.py
	drive walk 0 --env "$(url b)" --actions $to_goal
	whole_walk walk
}

@test "reward-kit 0.4.1: the same with a seed" {
	gym_start b B gym_lake.py
	drive walk 0 --env "$(url b)" --actions DOWN,DOWN,RIGHT,RIGHT --seed 42
	holds walk 'steps | all(.outcome == "ok")'
	holds walk 'steps | map(.observation.position) == [4, 8, 9, 10]'
	# The server honors the seed only if its first request is a call, so the state before it is not read.
	holds walk 'positions == [null, 4, 8, 9, 10]'
	silent walk multi-step-illusion
	silent walk frozen-state
}

@test "reward-kit 0.3.6: state and reward are read from resources" {
	gym_start a A gym_lake.py
	drive walk 0 --env "$(url a)" --actions $to_goal
	whole_walk walk
}

@test "bumping into the wall is a step without effect, not a failure" {
	drive walk 0 --env "$(url newest)" --actions LEFT,UP,DOWN
	holds walk 'positions == [0, 0, 0, 4]'
	holds walk 'steps | map(.env_steps) == [1, 2, 3]'
	no_findings walk
	[ "$(jq -c 'select(.type == "rollout") | [.steps, .effective, .failed]' walk.json)" = '[3,1,0]' ]
}

@test "an action that the server refuses is a failed step, and the rollout continues" {
	drive walk 0 --env "$(url newest)" --actions DOWN,JUMP,DOWN --force-call
	holds walk 'steps | map(.outcome) == ["ok", "tool-error", "ok"]'
	holds walk 'steps[1].error | .layer == "mcp" and (.message | contains("no such direction"))'
	holds walk 'positions == [0, 4, 4, 8]'
	holds walk 'steps | map(.env_steps) == [1, 1, 2]'
}

@test "a seed determines the map" {
	drive one 0 --env "$(url newest)" --actions DOWN,DOWN,RIGHT,RIGHT,DOWN,RIGHT --seed 42
	drive two 0 --env "$(url newest)" --actions DOWN,DOWN,RIGHT,RIGHT,DOWN,RIGHT --seed 42
	holds one 'header.seed == 42'
	holds one 'steps[0].state.grid | contains("FHFF")'
	holds one 'positions == [0, 4, 8, 9, 10, 14, 15]'
	diff <("$ROLLDBG" strip one.jsonl) <("$ROLLDBG" strip two.jsonl)
	# The two runs had different sessions.
	[ "$(jq -s '[.[] | select(.type == "header")] | map(.meta.session) | unique | length' one.jsonl two.jsonl)" = 2 ]
}

@test "another seed gives another map" {
	drive one 0 --env "$(url newest)" --actions DOWN --seed 42
	drive two 0 --env "$(url newest)" --actions DOWN --seed 7
	[ "$(jq -r 'select(.type == "step") | .state.grid' one.jsonl)" != "$(jq -r 'select(.type == "step") | .state.grid' two.jsonl)" ]
}

@test "the end of the episode ends the run" {
	drive walk 0 --env "$(url newest)" --actions DOWN,RIGHT,LEFT,LEFT --seed 42
	holds walk 'ending.status == "terminated" and ending.steps == 2'
	no_findings walk
}

@test "a session that the server loses during a run is replaced, and that is reported" {
	gym_start forgetful D gym_lake.py --forget-after 4
	"$ROLLDBG" run --env "$(url forgetful)" --actions $to_goal --out walk.jsonl >walk.out 2>&1 || [ $? = 1 ]
	holds walk 'events | contains(["session-replaced"])'
	holds walk 'steps | map(.outcome) == ["ok", "ok", "ok", "ok", "session-lost", "ok"]'
	holds walk 'steps[4].error | .class == "session" and .code == 404'
	# The client's id still identifies the environment: it continued, without the lost move.
	holds walk 'ending.state.position == 14'
}
