#!/usr/bin/env bats
# ORS on openreward's own server: the steps of its own client, tasks, faults, and what probe finds.

# shellcheck disable=SC2154,SC2094 # variables of lib.bash; moves is a function and a file
load lib

setup_file() {
	server_start lakes python openreward "" "$servers/ors_lake.py" || return
	sed -i 's|/mcp$||' "$BATS_FILE_TMPDIR/lakes.url"
	until curl -sf -o /dev/null "$(url lakes)/health"; do sleep 0.1; done
}

# as_client FILE: what the client prints, from a recording.
as_client() {
	jq -c 'select(.type == "step") | if .outcome == "ok" then [.observation.position, .reward, .terminated] else .error.code end' "$1" |
		sed 's/"input_validation"/"ToolCallError"/'
}

@test "1,000 steps of openreward's client are those of run: observations, rewards, ends and errors; so says the tap between" {
	moves 250 >moves
	tap_start "$(url lakes)"
	OPENREWARD_DISABLE_UPDATE_CHECK=1 "$installed/openreward/bin/python" "$BATS_TEST_DIRNAME/ors_client.py" "$tap" train <moves >theirs
	tap_end 0
	"$ROLLDBG" run --env "$(url lakes)/lake" --tasks env:train --force-call --tool move \
		--actions "$(paste -s -d , moves)" --out ours.jsonl >run.out || [ $? = 1 ]
	[ "$(wc -l <theirs)" = 1000 ]
	diff <(jq -c . theirs) <(as_client ours.jsonl)
	diff <(jq -c . theirs) <(as_client tap.jsonl)
	[ "$(jq -r 'select(.type == "header") | .rollout' tap.jsonl | paste -s -d ' ')" = "train.0.0 train.1.0 train.2.0 train.3.0" ]
}

@test "an episode to the goal: the last reward counts; a golden of it is replayed, and a wrong reward is a difference" {
	drive walk 0 --env "$(url lakes)/lake" --reset-json '{"split":"test","index":0}' --tool move --actions DOWN,RIGHT,RIGHT,RIGHT --state tool:look
	holds walk 'header.env.protocol == "ors" and header.env.name == "lake" and (header.tools | length == 3)'
	holds walk 'steps | map(.state.position) == [8, 12, 13, 14] and map(.reward) == [0.75, 0.8125, 0.875, 1]'
	holds walk 'ending.status == "terminated" and ending.total_reward == 1'
	"$ROLLDBG" strip walk.jsonl >golden.jsonl
	"$ROLLDBG" replay golden.jsonl --env "$(url lakes)/lake"
	sed 's/"reward":0.875/"reward":0.5/' golden.jsonl >other.jsonl
	run "$ROLLDBG" replay other.jsonl --env "$(url lakes)/lake"
	[ "$status" = 1 ]
	[[ $output == *reward* ]]
}

@test "an exception of the environment, and the episode that it ended" {
	"$ROLLDBG" run --env "$(url lakes)/lake" --call dig --call look --call look --out dig.jsonl >dig.out || [ $? = 1 ]
	holds dig 'steps[0] | .outcome == "tool-error" and .error.class == "environment" and .error.layer == "framework"'
	grep -q "no spade" dig.jsonl
}

@test "a setup that takes three seconds is waited for" {
	drive slow 0 --env "$(url lakes)/slow" --tool move --actions DOWN
	holds slow 'steps[0].observation.position == 4'
}

@test "probe: sessions of their own, the ceiling of the reward, and one lake for all" {
	"$ROLLDBG" run --env "$(url lakes)/lake" --tool move --actions DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT --out goal.jsonl >run.out
	"$ROLLDBG" probe --env "$(url lakes)/lake" --state tool:look --tool move --actions DOWN,DOWN,UP --sessions 8 --solution goal.jsonl >own.out
	grep -q '^ok  *reward  *ceiling 1, floor 0' own.out
	grep -q '^ok  *capacity  *8 of 8' own.out
	grep -q '^ok  *isolation' own.out
	grep -q '^ok  *reset' own.out
	grep -q '^ok  *contract .*4 mistakes of a client answered' own.out
	run "$ROLLDBG" probe --env "$(url lakes)/shared" --state tool:look --tool move --actions DOWN,DOWN,UP --sessions 4
	[ "$status" = 1 ]
	[[ $output == *"isolation"* ]]
}
