#!/usr/bin/env bats
# Agents that only seem to act, in the variants of real servers, each compared with a healthy run of the same actions.

load lib

# These actions reach neither a wall nor a hole on the standard map, even if the walk starts over at any point.
walk=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT
paces=RIGHT,DOWN,RIGHT,DOWN,RIGHT,DOWN,RIGHT,DOWN,RIGHT,DOWN,RIGHT,DOWN

setup_file() {
	gym_start newest D gym_lake.py
	gym_start c C gym_lake.py
}

healthy() {
	drive healthy 0 --env "$1" --actions $walk
	holds healthy 'positions == [0, 4, 8, 9, 13, 14, 15]'
	no_findings healthy
}

@test "broken proxy: refusals with isError false are failures, and nothing changed" {
	MAX_CONCURRENT_ENVS=3 gym_start proxy D gym_proxy.py
	drive proxied 1 --env "$(url proxy)" --actions $walk
	fires proxied "multi-step-illusion error"
	fires proxied "capacity error"
	fires proxied "fallback-session error"
	holds proxied 'steps | map(select(.outcome == "capacity")) | length >= 3 and all(.observation |
		.error == "Maximum concurrent environments (3) reached" and .tool == "lake_move" and
		(.session_id | startswith("proxy_fallback_")) and length == 3)'
	holds proxied 'steps | map(select(.outcome == "capacity")) | all(.error |
		.class == "capacity" and .layer == "body" and .disagrees == "mcp")'
	healthy "$(url newest)"
}

@test "eval-protocol 0.2.22 without a client session id: every step is an error" {
	drive bare 1 --env "$(url c)" --protocol mcp --actions $walk
	holds bare 'steps | length == 6 and all(.outcome == "session-lost" and .error.class == "session" and .error.layer == "mcp")'
	fires bare "multi-step-illusion error"
	healthy "$(url c)"
}

@test "eval-protocol 0.3.33 without a client session id: no errors, each step starts over, and no state shows it" {
	# A new server: on a used one even the first call may reach an earlier session's environment.
	gym_start fresh D gym_lake.py
	drive bare 0 --fail-on never --env "$(url fresh)" --protocol mcp --actions $paces
	holds bare 'steps | length == 12 and all(.outcome == "ok")'
	# The server may let a call continue in the environment of an earlier one, so not all of them are first moves.
	holds bare 'steps | map(select(.observation.position == 1 or .observation.position == 4)) | length >= 6'
	silent bare multi-step-illusion
	jq -es 'map(select(.type == "rollout")) | length == 1 and all(.effective == null)' bare.json >/dev/null
	holds bare 'steps | all(.state == null)'
	healthy "$(url newest)"
}

@test "reward-kit 0.4.1 is not accused of an illusion" {
	gym_start b B gym_lake.py
	drive walk 0 --env "$(url b)" --actions $walk
	silent walk multi-step-illusion
	silent walk frozen-state
	silent walk capacity
	silent walk fallback-session
	holds walk 'steps | map(.observation.position) == [4, 8, 9, 13, 14, 15]'
}

@test "a server without free sessions is reported as such, and works again when one is released" {
	gym_start full D gym_lake.py --max-sessions 1
	hold_session "$(url full)" "$BATS_TEST_TMPDIR/held"
	drive refused 1 --env "$(url full)" --actions $walk
	fires refused "capacity error"
	holds refused 'ending | .status == "refused" and .turns == 0 and .steps == 0'
	holds refused 'reset | .outcome == "capacity" and .error.class == "capacity" and .error.message == "Too many open sessions"'
	end_session "$(url full)" "$BATS_TEST_TMPDIR/held"
	healthy "$(url full)"
	# The run closed its session, too.
	drive again 0 --env "$(url full)" --actions $walk
	no_findings again
}
