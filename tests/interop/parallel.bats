#!/usr/bin/env bats
# Parallel rollouts on the real OpenEnv core: how many got an environment, and whether they shared one.

load lib

walk=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

# drive_16 NAME EXIT_CODE OPTIONS..: drive with sixteen rollouts at a time.
drive_16() {
	local name=$1 wanted=$2
	shift 2
	drive "$name" "$wanted" --jobs 16 "$@"
}

# summary_counts NAME: rollouts, turns, steps, effective and failed steps, and the total reward.
summary_counts() {
	jq -c 'select(.type == "summary") | [.rollouts, .turns, .steps, .effective, .failed, .reward]' "$1.json"
}

# half_refused GENERATION: eight rollouts are complete, and eight are refused for capacity.
half_refused() {
	openenv_start "full$1" "$1" --cap 8 --gather 16
	drive_16 full 1 --env "$(url "full$1")" --force --actions $walk --group-size 16
	[ "$(summary_counts full)" = '[16,48,48,48,0,8]' ]
	[ "$(jq -r 'select(.type == "finding" and .rule == "capacity") | .rollout' full.json | sort -u | wc -l)" = 8 ]
	[ "$(jq -r 'select(.type == "rollout") | "\(.status) \(.steps) \(.effective)"' full.json | sort | uniq -c | tr -s ' ')" = \
		$' 8 refused 0 null\n 8 terminated 6 6' ]
	holds full 'of("reset") | map(select(.outcome == "capacity")) | length == 8 and
		all(.error | .code == "CAPACITY_REACHED" and (.message | startswith("Server at capacity: 8/8")))'
	fires full "capacity error"
	fires full "group-size error"
	silent full session-alias
}

@test "16 at a time on a cap of 8: a trainer's loop reports success, although half of it never ran" {
	openenv_start loop 0.10 --cap 8 --gather 16
	(python openenv openenv-0.10 "$BATS_TEST_DIRNAME/trainer_loop.py" "$(url loop)" 16 ${walk//,/ }) >loop.json
	# The loop reports sixteen rollouts of six turns each, no errors, and a mean reward of one half.
	[ "$(jq -c '[.rollouts, .turns, .messages, .mean_reward]' loop.json)" = '[16,96,112,0.5]' ]

	half_refused 0.10
}

@test "16 at a time on a cap of 8: the refusals of openenv-core 0.3 and 0.2 are recognized" {
	for generation in 0.3 0.2; do
		half_refused $generation
	done
}

@test "16 at a time on a cap of 16: each rollout has its own environment" {
	openenv_start room 0.10 --cap 16 --gather 16
	drive_16 room 0 --env "$(url room)" --actions $walk --group-size 16
	[ "$(summary_counts room)" = '[16,96,96,96,0,16]' ]
	holds room 'of("header") | map(.meta.env_session) | unique | length == 16'
	holds room 'steps | map(.state.episode_id) | unique | length == 16'
	holds room 'steps | group_by(.rollout) | all(map(.state.position) == [0, 4, 8, 9, 13, 14])'
	# All rollouts were equal: zero variance is the only finding.
	[ "$(findings room)" = "zero-variance-group warning" ]
}

# Lines of different rollouts are interleaved; the lines of each rollout do not depend on the number of jobs.
@test "four tasks, four times each: the same rollouts 16 at a time and one at a time" {
	cat >tasks.jsonl <<-'JSONL'
		{"id": "goal", "actions": ["DOWN", "DOWN", "RIGHT", "DOWN", "RIGHT", "RIGHT"]}
		{"id": "hole", "actions": ["RIGHT", "DOWN"]}
		{"id": "wall", "actions": ["LEFT", "UP", "LEFT", "RIGHT"]}
		{"id": "there", "actions": ["RIGHT", "LEFT", "RIGHT", "LEFT", "DOWN"]}
	JSONL
	openenv_start tasks 0.10 --cap 16 --gather 16
	drive_16 many 0 --env "$(url tasks)" --tasks tasks.jsonl --group-size 4
	drive single 0 --jobs 1 --env "$(url tasks)" --tasks tasks.jsonl --group-size 4
	holds many 'of("header") | map(.rollout) | unique | length == 16'
	holds many 'of("header") | map(.meta.env_session) | unique | length == 16'
	silent many session-alias
	for name in many single; do
		"$ROLLDBG" strip $name.jsonl | jq -c .rollout | sort -u | while read -r id; do
			"$ROLLDBG" strip $name.jsonl | grep -F "\"rollout\":$id,"
		done >$name.sorted
	done
	diff many.sorted single.sorted
}

@test "a world shared by all sessions is found by the steps of others in the state" {
	openenv_file faulty 0.10 openenv_faulty.py --gather 2
	shared=$(sed -n 's|^shared: listening on ||p' "$BATS_TEST_TMPDIR/faulty.log")
	# two calls of one between two readings of the other must not undo each other
	cat >pace.json <<-'JSON'
		{"kind": "script", "name": "pace", "tool": "step", "actions": ["RIGHT", "RIGHT", "LEFT", "LEFT"], "on_end": "cycle"}
	JSON
	drive shared 1 --env "$shared" --policy pace.json --max-turns 500 --group-size 2 --jobs 2
	fires shared "session-alias error"
}

@test "openenv-core 0.1, one environment for all clients: two rollouts are found in it" {
	openenv_start old 0.1
	cat >pace.json <<-'JSON'
		{"kind": "script", "name": "pace", "on_end": "cycle", "calls": [
		{"name": "step", "arguments": {"direction": "DOWN"}}, {"name": "step", "arguments": {"direction": "UP"}}]}
	JSON
	drive old 1 --env "$(url old)" --protocol openenv-http --policy pace.json --max-turns 500 --group-size 2 --jobs 2
	fires old "session-alias error"
}
