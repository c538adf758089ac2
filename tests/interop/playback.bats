#!/usr/bin/env bats
# Recordings of third-party servers, played back: the same calls give the same bytes, and the servers' own clients work with
# the playback.

# shellcheck disable=SC2154 # variables of bats
load lib

to_goal=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

setup_file() {
	at_once 'everything_start everything' 'sdk_start sdk1 1' 'sdk_start sdk2 2' 'gym_start newest D gym_lake.py' \
		'gym_start c C gym_lake.py' 'openenv_start new 0.10 --cap 2' 'openenv_start v2 0.2 --cap 2' \
		'openenv_file hanoi 0.10 openenv_worlds.py --world hanoi --cap 2'
}

# start_player FILE [OPTION..]: serves the recording; sets $player, its URL.
start_player() {
	: >player.log
	"$ROLLDBG" serve "$@" --port 0 >player.log 2>player.err 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/player.pid"
	local deadline=$((SECONDS + 30))
	until grep -q '^listening' player.log; do
		[ $SECONDS -lt $deadline ]
		sleep 0.05
	done
	player=$(sed 's/.* //' player.log)
	case $(jq -r 'select(.type == "header") | .env.protocol' "$1" | head -n 1) in
	openenv) player=ws://$player/ws ;;
	*) player=http://$player/mcp ;;
	esac
}

stop_player() {
	servers_stop "$BATS_TEST_TMPDIR"
	rm -f "$BATS_TEST_TMPDIR/player.pid"
}

# stripped FILE: without what a server asks of its client, which a recording played back does not ask.
stripped() {
	"$ROLLDBG" strip "$1" | jq -c 'select(.event != "notification" or (.detail.method | test("^elicitation/") | not)) | del(.lines)'
}

# expect_same_playback URL OPTION..: a run against the server and a run against its recording give the same bytes.
expect_same_playback() {
	local server=$1
	shift
	"$ROLLDBG" run --quiet --fail-on never --force --out real.jsonl --env "$server" "$@" >/dev/null 2>real.err || true
	start_player real.jsonl
	"$ROLLDBG" run --quiet --fail-on never --force --out played.jsonl --env "$player" "$@" >/dev/null 2>played.err || true
	stop_player
	[ "$(jq -s 'map(select(.type == "step")) | length' real.jsonl)" -gt 0 ]
	diff <(stripped real.jsonl) <(stripped played.jsonl)
}

@test "MCP-Gym: the lake, to the goal and with random calls" {
	for server in newest c; do
		expect_same_playback "$(url "$server")" --actions "$to_goal"
		expect_same_playback "$(url "$server")" --actions "$to_goal" --seed 42
		expect_same_playback "$(url "$server")" --policy random:5 --max-turns 8
		expect_same_playback "$(url "$server")" --actions UP,nonsense,DOWN --force-call
		expect_same_playback "$(url "$server")" --actions UP,DOWN --state observation
	done
}

@test "plain MCP servers of three SDKs: results of all kinds, refusals, all state sources" {
	expect_same_playback "$(url everything)" --tool echo --actions hello,world,'"[1]"'
	expect_same_playback "$(url everything)" --tool eco --actions '{"message":"x"}' --force-call
	cat >calls.json <<-'END'
		{"kind": "script", "calls": [{"name": "get-tiny-image"}, {"name": "get-structured-content", "arguments": {"location": "Chicago"}},
		{"name": "get-sum", "arguments": {"a": 1, "b": 2}}, {"name": "get-resource-links", "arguments": {"count": 2}},
		{"name": "get-annotated-message", "arguments": {"messageType": "error", "includeImage": true}}]}
	END
	expect_same_playback "$(url everything)" --policy calls.json --force-call
	for server in sdk1 sdk2; do
		expect_same_playback "$(url "$server")" --policy random:3 --max-turns 10
		expect_same_playback "$(url "$server")" --tool nope --actions '{"x":1}' --force-call
	done
}

@test "OpenEnv of two generations, and an environment of TextArena" {
	for server in new v2; do
		expect_same_playback "$(url "$server")" --actions "$to_goal" --seed 42
		expect_same_playback "$(url "$server")" --actions UP,nonsense,DOWN --force-call
	done
	expect_same_playback "$(url hanoi)" --actions '"[A C]","[A C]","[A B]","please","[C B]"'
}

@test "several rollouts in parallel" {
	expect_same_playback "$(url newest)" --actions "$to_goal" --group-size 4 --jobs 4 --task lake
}

@test "the Python SDK's own client works with it, structured content included" {
	"$ROLLDBG" run --quiet --fail-on never --out real.jsonl --env "$(url newest)" --actions "$to_goal"
	start_player real.jsonl
	"$installed/gym/bin/python" -W ignore - "$player" <<-'PYTHON'
		import asyncio, sys
		from mcp import ClientSession
		from mcp.client.streamable_http import streamablehttp_client
		async def main():
		    async with streamablehttp_client(sys.argv[1]) as (read, write, _):
		        async with ClientSession(read, write) as session:
		            await session.initialize()
		            assert [t.name for t in (await session.list_tools()).tools] == ["lake_move"]
		            result = await session.call_tool("lake_move", {"action": "DOWN"})
		            assert not result.isError and '"position"' in result.content[0].text, result
		            result = await session.call_tool("lake_move", {"action": "UP"})
		            assert result.isError and "not in the recording" in result.content[0].text, result
		asyncio.run(main())
	PYTHON
}

@test "bisect and shrink on a real server" {
	"$ROLLDBG" run --quiet --fail-on never --out real.jsonl --env "$(url newest)" --actions "$to_goal"
	start_player real.jsonl
	run "$ROLLDBG" bisect real.jsonl --env "$player" --env "$(url newest)"
	[ "$status" = 0 ]
	# moves against the wall, as many as loop needs
	"$ROLLDBG" run --quiet --fail-on never --out wall.jsonl --env "$(url newest)" --actions UP,LEFT,UP,LEFT,UP,UP,UP,LEFT
	"$ROLLDBG" shrink wall.jsonl --env "$(url newest)" --rule loop --jobs 2 --json >least
	[ "$(jq '.minimal and .to <= 4' least)" = true ]
}
