#!/usr/bin/env bats
# OpenEnv servers of four generations: sessions over /ws, refusals, and plain HTTP with its limits.

load lib

to_goal=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

setup_file() {
	at_once 'openenv_start new 0.10 --cap 2' 'openenv_start v3 0.3 --cap 2' 'openenv_start v2 0.2 --cap 2'
}

ws_url() {
	local address
	address=$(url "$1")
	echo "ws${address#http}"
}

@test "the lake, from start to goal, on three generations and with either URL" {
	for server in new v3 v2; do
		for address in "$(url $server)" "$(ws_url $server)" "$(ws_url $server)/ws"; do
			rm -f walk.jsonl
			drive walk 0 --env "$address" --actions $to_goal --seed 42
			holds walk 'header.env.protocol == "openenv" and header.env.name == "Lake"'
			holds walk 'header.state_source == {kind: "openenv", ignore: ["/step_count", "/episode_id"]}'
			holds walk 'positions == [0, 4, 8, 9, 13, 14, 15]'
			holds walk 'steps | map(.tool_call) | all(.name == "step")'
			holds walk 'steps | map(.env_steps) == [1, 2, 3, 4, 5, 6]'
			holds walk 'steps | map(.reward) == [0, 0, 0, 0, 0, 1] and map(.terminated) == [false, false, false, false, false, true]'
			holds walk 'ending.status == "terminated" and ending.total_reward == 1'
			no_findings walk
		done
	done
}

@test "two equal runs are the same after strip" {
	for server in new v3 v2; do
		drive one$server 0 --env "$(url $server)" --actions $to_goal --seed 42
		drive two$server 0 --env "$(url $server)" --actions $to_goal --seed 42
		diff <("$ROLLDBG" strip one$server.jsonl) <("$ROLLDBG" strip two$server.jsonl)
		[ "$(jq -s '[.[] | select(.type == "header")] | map(.meta.env_session) | unique | length' one$server.jsonl two$server.jsonl)" = 2 ]
	done
}

@test "metadata is found where each generation puts it" {
	drive new 0 --env "$(url new)" --actions DOWN
	holds new 'steps[0] | .observation.metadata.tile == "F" and .structured == null'
	for server in v3 v2; do
		drive $server 0 --env "$(url $server)" --actions DOWN
		holds $server 'steps[0].observation == {position: 4}'
	done
}

@test "an action on which the environment raises is an error, and the session continues" {
	for server in new v3 v2; do
		drive bump$server 0 --env "$(url $server)" --actions DOWN,SIDEWAYS,DOWN
		holds bump$server 'steps | map(.outcome) == ["ok", "tool-error", "ok"]'
		holds bump$server 'steps[1].error | .class == "environment" and .layer == "framework" and .code == "EXECUTION_ERROR" and .message == "no such direction: SIDEWAYS"'
		holds bump$server 'positions == [0, 4, 4, 8]'
	done
}

@test "an invalid action is refused with the name of the missing field" {
	cat >bad.json <<-'JSON'
		{"kind": "script", "name": "bad", "calls": [{"name": "step", "arguments": {"way": "DOWN"}}, {"name": "step", "arguments": {"way": "UP"}}]}
	JSON
	for server in new v3 v2; do
		drive bad$server 1 --env "$(url $server)" --policy bad.json --force-call
		holds bad$server 'steps | all(.outcome == "tool-error" and .error.class == "arguments" and .error.code == "VALIDATION_ERROR")'
		holds bad$server 'steps | all(.error.message | contains("direction: Field required"))'
		fires bad$server "multi-step-illusion error"
	done
}

# expect_cap GENERATION CAP: with CAP open sessions the next one is refused after a successful handshake; with one less it
# is accepted.
expect_cap() {
	local server=cap$2-$1
	openenv_start "$server" "$1" --cap "$2"
	hold_ws "$(ws_url "$server")/ws" "$2"
	drive "full-$server" 1 --env "$(url "$server")" --actions $to_goal
	fires "full-$server" "capacity error"
	holds "full-$server" 'reset | .outcome == "capacity" and .error.class == "capacity" and .error.code == "CAPACITY_REACHED"'
	holds "full-$server" "reset.error.message | startswith(\"Server at capacity: $2/$2\")"
	holds "full-$server" 'ending | .status == "refused" and .turns == 0'
	release_ws
	hold_ws "$(ws_url "$server")/ws" $(($2 - 1))
	drive "room-$server" 0 --env "$(url "$server")" --actions $to_goal
	no_findings "room-$server"
	release_ws
}

@test "a cap of 2, 4 and 8 on OpenEnv 0.10" {
	for cap in 2 4 8; do
		expect_cap 0.10 $cap
	done
}

@test "a cap of 2, 4 and 8 on openenv-core 0.3" {
	for cap in 2 4 8; do
		expect_cap 0.3 $cap
	done
}

@test "a cap of 2, 4 and 8 on openenv-core 0.2" {
	for cap in 2 4 8; do
		expect_cap 0.2 $cap
	done
}

@test "the session is released: cap 1, ten runs in a row" {
	openenv_start one 0.10 --cap 1
	for i in 1 2 3 4 5 6 7 8 9 10; do
		drive run$i 0 --env "$(url one)" --actions DOWN
	done
}

@test "an uninformative state: observations are compared instead, which is reported" {
	openenv_start bare 0.10 --cap 2 --world bare
	drive walk 0 --env "$(url bare)" --actions $to_goal
	holds walk 'header.state_source.kind == "observation"'
	holds walk 'events == ["notification"]'
	holds walk 'steps | map(.state.position) == [0, 4, 8, 9, 13, 14]'
	holds walk 'steps | map(.env_steps) == [1, 2, 3, 4, 5, 6]'
	drive wall 0 --env "$(url bare)" --actions LEFT,LEFT,LEFT
	holds wall 'steps | map(.state.metadata) | first == {} and last == {"tile": "S"}'
	[ "$(jq 'select(.type == "rollout") | .effective' wall.json)" = null ] # metadata added by the first step is not an effect
	fires wall "loop warning"
	drive own 0 --env "$(url bare)" --actions DOWN,DOWN --state openenv
	holds own 'header.state_source.kind == "openenv" and (steps[1].state | keys == ["episode_id", "step_count"])'
}

@test "environments with MCP tools: their tools are listed and called" {
	for generation in 0.10 0.3; do
		openenv_start tools$generation $generation --cap 2 --world tools
		drive add$generation 0 --env "$(url tools$generation)" --tool add --actions 1,2,3
		holds add$generation 'header.tools | map(.name) == ["add", "fail"]'
		holds add$generation 'steps | map(.observation.result.data) == [1, 3, 6]'
		holds add$generation 'steps | map(.state.value) == [0, 1, 3]'
		no_findings add$generation
		drive fail$generation 1 --env "$(url tools$generation)" --tool fail --actions one,two
		holds fail$generation 'steps | all(.outcome == "tool-error" and .error.class == "tool")'
		fires fail$generation "multi-step-illusion error"
		drive none$generation 1 --env "$(url tools$generation)" --tool nope --actions one --force-call
		holds none$generation 'steps[0].error | .class == "unknown-tool" and .layer == "framework" and .code == "tool_not_found"'
		fires none$generation "unknown-tool error"
	done
}

@test "tasks of the environment: one whose reset() does not take them is seen, one that does is not" {
	openenv_start tasks 0.10 --cap 4 --world tasks
	drive told 0 --env "$(url tasks)" --tasks env:train --actions DOWN --jobs 2
	[ "$(jq -r 'select(.type == "reset").observation.position' told.jsonl | sort | paste -sd ' ')" = '0 1 2' ]
	! grep alike told.err || false
	openenv_start deaf 0.10 --cap 4 --world deaf
	drive dropped 0 --env "$(url deaf)" --tasks env:train --actions DOWN --jobs 2
	grep -q 'env:train: all 3 tasks began alike: does the environment' dropped.err
	drive one 0 --env "$(url deaf)" --tasks env:train:1 --actions DOWN --group-size 2
	! grep alike one.err || false
}

@test "a session of /mcp is joined over the WebSocket, and its state is that of both" {
	openenv_start joined 0.10 --cap 2 --world tools
	mcp() {
		curl -sSf -H 'Content-Type: application/json' -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}" "$(url joined)/mcp"
	}
	local session
	session=$(mcp openenv/session/create '{}' | jq -r .result.session_id)
	drive both 0 --env "$(ws_url joined)/ws?session_id=$session" --tool add --actions 1,2
	holds both '[steps[], ending] | map(.state.value) == [0, 1, 3]'
	[ "$(mcp tools/call "{\"name\":\"add\",\"arguments\":{\"by\":3},\"session_id\":\"$session\"}" | jq .result.data)" = 6 ]
	run "$ROLLDBG" run --env "$(ws_url joined)/ws?session_id=none" --tool add --actions 1
	[ "$status" = 1 ]
	[[ $output == *"Unknown session_id: none"* && $output != *'just opened'* ]]
}

@test "tools called over POST /mcp, in a session of its own, whose state is read over the WebSocket" {
	openenv_start posted 0.10 --cap 2 --world tools
	local address
	address=$(url posted)/mcp
	for _ in 1 2 3; do # the session is released
		rm -f add.jsonl
		drive add 0 --env "$address" --protocol openenv --tool add --actions 1,2,3
	done
	holds add 'header.tools | map(.name) == ["add", "fail"]'
	holds add 'steps | map(.observation.result.data) == [1, 3, 6]'
	holds add '[steps[], ending] | map(.state.value) == [0, 1, 3, 6]'
	no_findings add
	drive fail 1 --env "$address" --protocol openenv --tool fail --actions one,two
	holds fail 'steps | all(.outcome == "tool-error" and .error.class == "tool" and (.error.message | contains("one") or contains("two")))'
	fires fail "multi-step-illusion error"
	drive none 1 --env "$address" --protocol openenv --tool nope --actions one --force-call
	holds none 'steps[0].error.class == "unknown-tool"'
	drive many 1 --env "$address" --protocol openenv --tool add --actions 1 --group-size 3 --jobs 3
	[ "$(jq -r 'select(.type == "end").status' many.jsonl | sort | paste -sd ' ')" = 'finished finished refused' ]
	[ "$(jq -r 'select(.type == "reset" and .error != null).error.class' many.jsonl)" = capacity ]
	openenv_start lake 0.10
	run "$ROLLDBG" run --env "$(url lake)/mcp" --protocol openenv --actions DOWN
	[ "$status" = 2 ]
	[[ $output == *"the environment has no MCP tools: use its URL without /mcp"* ]]
}

@test "a server that dies during a run: the call is lost, and no other session is opened" {
	openenv_start dying 0.10
	cat >slow.json <<-'JSON'
		{"kind": "script", "name": "long", "tool": "step", "actions": ["LEFT"], "on_end": "cycle"}
	JSON
	"$ROLLDBG" run --env "$(url dying)" --policy slow.json --max-turns 1000000 --out walk.jsonl >walk.out 2>&1 3>&- &
	local pid=$!
	local deadline=$((SECONDS + 120))
	until grep -q '"step":3,' walk.jsonl 2>/dev/null || [ $SECONDS -ge $deadline ]; do sleep 0.05; done
	kill "$(cat "$BATS_TEST_TMPDIR/dying.pid")"
	local got=0
	wait $pid || got=$?
	[ $got = 4 ]
	holds walk 'ending.status == "unreachable"'
	holds walk 'steps[:-1] | all(.outcome == "ok")'
}

# expect_unreachable NAME OPTIONS..: a run that gets no session.
expect_unreachable() {
	local name=$1
	shift
	run "$ROLLDBG" run --out "$name.jsonl" "$@"
	[ "$status" = 4 ]
	holds "$name" 'ending.status == "unreachable" and ending.turns == 0'
}

@test "0.1 has only plain HTTP: refused with the reason, and driven with --protocol openenv-http" {
	openenv_start old 0.1
	cat >walk.json <<-'JSON'
		{"kind": "script", "name": "walk", "calls": [{"name": "step", "arguments": {"direction": "DOWN"}}, {"name": "step", "arguments": {"direction": "DOWN"}}, {"name": "step", "arguments": {"direction": "RIGHT"}}]}
	JSON
	expect_unreachable refused --env "$(url old)" --policy walk.json
	holds refused 'ending.reason | contains("Try protocol openenv-http")'
	drive shared 0 --env "$(url old)" --policy walk.json --protocol openenv-http
	holds shared 'header.env.protocol == "openenv-http"'
	holds shared 'events == ["notification"]'
	holds shared 'steps | map(.observation.position) == [4, 8, 9]'
}

@test "plain HTTP of later generations: every step in a new environment, which run --confirm finds" {
	for server in new v3 v2; do
		drive http$server 0 --env "$(url $server)" --protocol openenv-http --actions DOWN,DOWN,RIGHT,DOWN
		holds http$server 'steps | map(.observation.position) == [4, 4, 1, 4]'
		holds http$server 'steps | all(.outcome == "ok" and .env_steps == 0)'
		run "$ROLLDBG" run --confirm --env "$(url $server)" --protocol openenv-http --actions DOWN,DOWN,RIGHT,DOWN
		[ "$status" = 1 ]
		[[ $output == *"error: no-history: "* ]]
	done
}

@test "a server that is not OpenEnv is reported as such" {
	expect_unreachable lost --env "$(ws_url new)/elsewhere" --actions DOWN
	holds lost 'ending.reason | contains("not an OpenEnv server")'
	run "$ROLLDBG" run --env "$(url new)" --actions DOWN --state resource:x --out none.jsonl
	[ "$status" = 2 ]
	[[ $output == *"openenv, observation or none"* ]]
}

@test "OpenEnv's own client on the built-in server: steps, state, an invalid action, a cap of two" {
	"$ROLLDBG" serve --port 0 --protocol openenv --max-envs 2 >lake.out 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/lake.pid"
	local deadline=$((SECONDS + 60))
	until grep -q '^listening on' lake.out || [ $SECONDS -ge $deadline ]; do sleep 0.05; done
	for generation in 0.10 0.3; do
		(python openenv openenv-$generation "$BATS_TEST_DIRNAME/own_client.py" "http://$(sed 's/.* //' lake.out)") >said
		diff said - <<-'END'
			0
			4 0.0 False
			["ours", 1, 4]
			RuntimeError: Server error: Invalid message (code: VALIDATION_ERROR)
			0
			refused
			0
		END
	done
}
