#!/usr/bin/env bats
# The tap between clients that others wrote and their servers: what it recorded is what the clients saw.

# shellcheck disable=SC2154,SC2016 # variables of lib.bash and of bats
bats_require_minimum_version 1.5.0
load lib

setup_file() {
	at_once 'openenv_start lake 0.10 --cap 256' 'openenv_start one 0.10 --cap 1' 'gym_start gym D gym_lake.py' 'sdk_start modern 2'
}

# openenv_client SCENARIO URL [NUMBER]
openenv_client() {
	(python openenv openenv-0.10 "$BATS_TEST_DIRNAME/tap_client.py" "$@")
}

# mcp_client GENERATION KIND TARGET..
mcp_client() {
	local python=sdk2
	[ "$1" = 2 ] || python=gym
	(python $python "" "$BATS_TEST_DIRNAME/tap_mcp_client.py" "${@:2}")
}

# ends: "STATUS STEPS REASON" of each rollout.
ends() {
	jq -r 'select(.type == "end") | "\(.status) \(.steps) \(.reason)"' tap.jsonl
}

# episodes_recorded: the recording in the form of tap_client.py's `many`.
episodes_recorded() {
	jq -cs 'group_by(.rollout)[] | {id: (map(select(.type == "header"))[0].meta.env_session),
		steps: map(select(.type == "step") | [.tool_call.arguments.direction, .observation.position])}' tap.jsonl
}

@test "openenv: 720 steps of 60 sessions are those that the client sees without the tap" {
	tap_start "$(url lake)"
	openenv_client walk "$(url lake)" 60 >direct.json
	openenv_client walk "$tap" 60 >tapped.json
	diff direct.json tapped.json
	tap_end 0
	holds tap 'of("header") | length == 120'
	diff <(jq -c 'map(.[][1:][]) | sort | .[]' tapped.json) \
		<(jq -cs 'map(select(.type == "step") | [.observation.position, .reward, .terminated]) | sort | .[]' tap.jsonl)
}

@test "openenv: 64 clients with resets, timeouts and reconnects at random: no message in a wrong rollout" {
	tap_start "$(url lake)"
	openenv_client many "$tap" 64 >seen.json
	tap_end 1
	[ "$(jq 'map(.steps | length) | add' seen.json)" -ge 9900 ]
	# a reply that comes while the client gives up is seen by the tap alone
	diff <(jq -c '.[] | .steps |= map(if .[0] == "SLOW" then [.[0], null] else . end)' seen.json | sort) \
		<(episodes_recorded | jq -c '.steps |= map(if .[0] == "SLOW" then [.[0], null] else . end)' | sort)
	holds tap 'of("event") | map(select(.event == "session-replaced")) | length > 10'
	holds tap 'of("end") | any(.reason | startswith("the client closed the connection first"))'
}

@test "openenv: with --ask-state the client sees nothing of it, and each step has the state before it" {
	openenv_client walk "$(url lake)" 8 >direct.json
	tap_start "$(url lake)" --ask-state
	openenv_client walk "$tap" 8 >tapped.json
	diff direct.json tapped.json
	openenv_client states "$tap" >seen
	[ "$(paste -s -d ' ' seen)" = "0 4 8 9" ]
	tap_end 0
	holds tap 'of("header") | length == 17 and all(.state_source.kind == "openenv")'
	holds tap 'of("step") | group_by(.rollout) | all((map(.state.position)[:3] == [0, 4, 8]) and all(.env_steps == .step + 1))'
	grep -q '99 steps · 99 effective' tap.out
}

@test "openenv: 64 clients at random with --ask-state: no message in a wrong rollout, and states are those of the steps before" {
	tap_start "$(url lake)" --ask-state
	openenv_client many "$tap" 64 >seen.json
	tap_end 1
	diff <(jq -c '.[] | .steps |= map(if .[0] == "SLOW" then [.[0], null] else . end)' seen.json | sort) \
		<(episodes_recorded | jq -c '.steps |= map(if .[0] == "SLOW" then [.[0], null] else . end)' | sort)
	holds tap 'of("step") | group_by(.rollout) | all(. as $s | all(range(1; $s | length);
		$s[. - 1].observation.position as $p | $p == null or $s[.].state.position == $p))'
	holds tap 'of("step") | map(select(.state == null)) | length < 200'
}

@test "openenv: a connection that is lost within an episode, and the environment that replaces it" {
	tap_start "$(url lake)"
	openenv_client replaced "$tap" >seen
	tap_end 1
	[ "$(ends)" = $'stopped 3 the client dropped the connection\nterminated 3 the environment reported terminated' ]
	grep -q 'error: session-replaced' tap.out
}

@test "openenv: a client that gives up a slow step has closed first, and the next step has no episode" {
	tap_start "$(url lake)"
	openenv_client late "$tap" >seen
	tap_end 1
	[ "$(sed -n 2p seen)" = TimeoutError ]
	[[ "$(ends | head -n 1)" == "stopped 2 the client closed the connection first"*", with a call in flight" ]]
	holds tap 'of("event") | any(.event == "session-replaced")'
}

@test "openenv: a server that dies within a step" {
	openenv_start dying 0.10
	tap_start "$(url dying)"
	openenv_client late "$tap" >seen 2>&1 3>&- &
	local client=$!
	until grep -q '"type":"step"' tap.jsonl; do sleep 0.05; done
	sleep 0.2
	kill -9 "$(cat "$BATS_TEST_TMPDIR/dying.pid")"
	wait $client || true
	tap_end 1
	[[ "$(ends | head -n 1)" == "unreachable 2 the server dropped the connection"*", with a call in flight" ]]
}

@test "openenv: one that asks for the state after each step has the states of its server; refusals are named" {
	tap_start "$(url one)"
	openenv_client states "$tap" >seen
	[ "$(paste -s -d ' ' seen)" = "0 4 8 9" ]
	run openenv_client walk "$tap" 3
	tap_end 1
	holds tap 'header.state_source.kind == "openenv" and (of("step")[:3] | map(.state.position) == [0, 4, 8])'
	grep -q 'error: capacity' tap.out
}

@test "openenv: tools that no client has listed are not known from the schema of actions" {
	openenv_start tools 0.10 --world tools
	tap_start "$(url tools)"
	curl -sSf "$tap/schema" >schema.json
	(python openenv openenv-0.10 -c '
import json, sys
from websockets.sync.client import connect
with connect("ws" + sys.argv[1].removeprefix("http") + "/ws") as session:
    call = {"type": "call_tool", "tool_name": "add", "arguments": {"by": 1}}
    for message in {"type": "reset", "data": {}}, {"type": "step", "data": call}, {"type": "step", "data": call | {"more": 1}}:
        session.send(json.dumps(message))
        session.recv()
' "$tap")
	tap_end 0
	holds tap 'steps | map(.outcome) == ["ok", "tool-error"] and .[1].error.class == "arguments"'
	"$ROLLDBG" check --json tap.jsonl >tap.json || [ $? = 1 ]
	silent tap unknown-tool
}

@test "eval-protocol: its rollout has a name, and rewards and ends of the control plane; redirects and DELETE pass" {
	tap_start "$(url gym)"
	# another directory than that of the tests for what it writes
	(python gym "" "$root/tests/bench/ep_rollout.py" "$tap/mcp/" 8) >theirs 2>theirs.err
	tap_end 0
	[ "$(tail -n 1 theirs | jq .steps)" = 8 ]
	holds tap 'header | .env.protocol == "mcp-gym" and .seed == 42 and (.task.id | startswith("bench-"))'
	holds tap 'steps | length == 8 and all(.reward == 0 and .terminated == false and .meta.control == {reward: "ok", status: "ok"})'
	[[ "$(ends)" == "finished 8 "* ]]
}

@test "eval-protocol: with --ask-state each step has the control plane's state before it, and the client sees the same" {
	tap_start "$(url gym)" --ask-state
	(python gym "" "$root/tests/bench/ep_rollout.py" "$tap/mcp/" 8) >theirs 2>theirs.err
	tap_end 0
	[ "$(tail -n 1 theirs | jq .steps)" = 8 ]
	holds tap 'header.state_source.kind == "control-plane"'
	holds tap 'steps | map(.state.position) == [0, 1, 0, 1, 0, 1, 0, 1]'
	holds tap 'steps | all(.reward == 0 and .terminated == false and .meta.control == {reward: "ok", status: "ok"})'
}

@test "mcp 2.3 and 1.30: the same calls with and without sessions" {
	local kind source
	for kind in "2 modern" "1 http"; do
		source=tool:peek
		[ "$kind" = "2 modern" ] || source=resource:state://counter
		tap_start "$(url modern)" --force --state $source
		# shellcheck disable=SC2086 # two words
		mcp_client $kind "$tap/mcp" >seen
		tap_end 0
		diff <(jq -r 'fromjson | .value' seen) <(jq -r 'select(.type == "step") | .observation.value' tap.jsonl)
		holds tap 'steps | length == 3 and all(.state.value + .tool_call.arguments.by == .observation.value)'
		holds tap "ending.reason == \"the client $([ "$kind" = "2 modern" ] && echo closed the connection || echo deleted the session)\""
	done
}

@test "stdio: server-everything of npm behind the tap, in the place of its command" {
	local everything=$installed/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js
	mcp_client 1 stdio node "$everything" stdio >direct 2>direct.err
	mcp_client 1 stdio "$ROLLDBG" tap --out tap.jsonl -- node "$everything" stdio >seen 2>seen.err
	diff direct seen
	diff direct.err <(head -n "$(wc -l <direct.err)" seen.err)
	grep -q '2 steps' seen.err
	holds tap 'steps | map(.outcome) == ["ok", "tool-error"] and .[1].error.class == "unknown-tool"'
}
