#!/usr/bin/env bats
# ORS on openreward's own server: the steps of its own client, tasks, faults, and what probe finds.

# shellcheck disable=SC2154,SC2094 # variables of lib.bash; moves is a function and a file
load lib

setup_file() {
	at_once 'ors_start lake' 'ors_start shared --shared' 'ors_start slow --setup 3'
}

# ors_start NAME [OPTIONS..]
ors_start() {
	local name=$1 dir=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}
	shift
	server_start "$name" python openreward "" "$servers/ors_lake.py" "$@" || return
	sed -i 's|/mcp$||' "$dir/$name.url"
	until curl -sf -o /dev/null "$(cat "$dir/$name.url")/health"; do sleep 0.1; done
}

@test "1,000 steps are those of openreward's client: observations, rewards, ends and errors" {
	moves 250 >moves
	"$installed/openreward/bin/python" "$BATS_TEST_DIRNAME/ors_client.py" "$(url lake)" train <moves >theirs
	"$ROLLDBG" run --env "$(url lake)" --tasks env:train --force-call --tool move \
		--actions "$(paste -s -d , moves)" --out ours.jsonl >run.out || [ $? = 1 ]
	jq -c 'select(.type == "step") | if .outcome == "ok" then [.observation.position, .reward, .terminated] else .error.code end' \
		ours.jsonl | sed 's/"input_validation"/"ToolCallError"/' >ours
	[ "$(wc -l <theirs)" = 1000 ]
	diff <(jq -c . theirs) ours
}

@test "an episode to the goal: the last reward counts; a golden of it is replayed, and a wrong reward is a difference" {
	drive walk 0 --env "$(url lake)/lake" --reset-json '{"split":"test","index":0}' --tool move --actions DOWN,RIGHT,RIGHT,RIGHT --state tool:look
	holds walk 'header.env.protocol == "ors" and header.env.name == "lake" and (header.tools | length == 3)'
	holds walk 'steps | map(.state.position) == [8, 12, 13, 14] and map(.reward) == [0.75, 0.8125, 0.875, 1]'
	holds walk 'ending.status == "terminated" and ending.total_reward == 1'
	"$ROLLDBG" strip walk.jsonl >golden.jsonl
	"$ROLLDBG" replay golden.jsonl --env "$(url lake)"
	sed 's/"reward":0.875/"reward":0.5/' golden.jsonl >other.jsonl
	run "$ROLLDBG" replay other.jsonl --env "$(url lake)"
	[ "$status" = 1 ]
	[[ $output == *reward* ]]
}

@test "an exception of the environment, and the episode that it ended" {
	"$ROLLDBG" run --env "$(url lake)" --call dig --call look --call look --out dig.jsonl >dig.out || [ $? = 1 ]
	holds dig 'steps[0] | .outcome == "tool-error" and .error.class == "environment" and .error.layer == "framework"'
	grep -q "no spade" dig.jsonl
}

@test "a setup that takes three seconds is waited for" {
	drive slow 0 --env "$(url slow)" --tool move --actions DOWN
	holds slow 'steps[0].observation.position == 4'
}

@test "probe: sessions of their own, and one lake for all" {
	"$ROLLDBG" probe --env "$(url lake)" --state tool:look --tool move --actions DOWN,DOWN,UP --sessions 8 >own.out
	grep -q '^ok  *capacity  *8 of 8' own.out
	grep -q '^ok  *isolation' own.out
	grep -q '^ok  *reset' own.out
	grep -q '^ok  *contract .*4 mistakes of a client answered' own.out
	run "$ROLLDBG" probe --env "$(url shared)" --state tool:look --tool move --actions DOWN,DOWN,UP --sessions 4
	[ "$status" = 1 ]
	[[ $output == *"isolation"* ]]
}

@test "tap: what openreward's client and the server say to each other, episode by episode" {
	"$ROLLDBG" tap --listen 0 --to "$(url lake)" --out seen.jsonl >tap.out 2>&1 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/tap.pid"
	until grep -q '^listening on' tap.out; do sleep 0.05; done
	moves 20 >moves
	"$installed/openreward/bin/python" "$BATS_TEST_DIRNAME/ors_client.py" "http://$(sed -n 's/^listening on //p' tap.out)" train <moves >theirs
	kill -INT "$(cat "$BATS_TEST_TMPDIR/tap.pid")"
	until [ "$(jq -s 'map(select(.type == "end")) | length' seen.jsonl)" = 4 ]; do sleep 0.05; done
	jq -c 'select(.type == "step") | if .outcome == "ok" then [.observation.position, .reward, .terminated] else "ToolCallError" end' \
		seen.jsonl >ours
	diff <(jq -c . theirs) ours
	[ "$(jq -r 'select(.type == "header") | .rollout' seen.jsonl | paste -s -d ' ')" = "train.0.0 train.1.0 train.2.0 train.3.0" ]
}
