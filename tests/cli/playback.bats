#!/usr/bin/env bats
# serve FILE: a recording played back as the environment or as the model.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# start_player FILE [OPTION...]: serves the recording; sets $url, for the protocol it was recorded with.
start_player() {
	start player "$ROLLDBG" serve --port 0 "$@"
	! grep -q '^{"type":"header".*"env":{"protocol":"openenv"[,}]' "$1" || { url=ws://${url#http://} && url=${url%/mcp}; }
}

stop_player() {
	kill "$(<player.pid)"
	wait "$(<player.pid)"
	rm player.pid
}

# expect_same_playback TARGET OPTION...: a run against the target and a run against its recording give the same bytes.
expect_same_playback() {
	local target=$1
	shift
	rolldbg run --quiet --env "$target" "$@" --fail-on never --force --out a.jsonl >/dev/null 2>&1 || true
	start_player a.jsonl
	rolldbg run --quiet --env "$url" "$@" --fail-on never --force --out b.jsonl >/dev/null 2>&1 || true
	stop_player
	rolldbg strip a.jsonl >a.stripped
	rolldbg strip b.jsonl >b.stripped
	[ "$(wc -l <a.stripped)" -gt 2 ]
	diff a.stripped b.stripped >&2 || {
		printf 'not the same: %s %s\n' "$target" "$*" >&2
		return 1
	}
}

@test "the same calls give the same bytes, over both protocols and with every state source" {
	for protocol in mcp openenv; do
		expect_same_playback "builtin:frozen_lake?protocol=$protocol" --actions "$goal" --seed 42
		expect_same_playback "builtin:frozen_lake?protocol=$protocol&map=random" --policy random:3 --max-turns 12
		expect_same_playback "builtin:desk?protocol=$protocol" --policy random:4 --max-turns 20 --seed 5
		expect_same_playback "builtin:frozen_lake?protocol=$protocol" --actions "$goal" --state observation
		expect_same_playback "builtin:frozen_lake?protocol=$protocol" --actions "$goal" --state none
	done
	# plain MCP; and a tool that is both the state source and called by the policy
	expect_same_playback builtin:desk --policy random:4 --max-turns 20 --protocol mcp
	expect_same_playback builtin:desk --policy random:4 --max-turns 20 --protocol mcp --state tool:list_items
}

@test "a misbehaving server is played back as recorded" {
	for fault in capacity fallback-session session-churn stale-reward drop-iserror http-500 no-tools no-control-plane; do
		expect_same_playback "builtin:frozen_lake?max_envs=3&fault=$fault" --actions DOWN,UP,DOWN,RIGHT,DOWN --seed 3
	done
	for fault in capacity stateless zombie no-metadata leak-slot; do
		expect_same_playback "builtin:frozen_lake?protocol=openenv&max_envs=3&fault=$fault" --actions DOWN,UP,DOWN,RIGHT,DOWN --seed 3
	done
}

@test "calls recorded without an answer get none: closed connections, timeouts" {
	rolldbg run --quiet --env 'builtin:frozen_lake?fault=disconnect' --actions DOWN,DOWN --out a.jsonl || true
	start_player a.jsonl
	expect 4 rolldbg run --quiet --env "$url" --actions DOWN,DOWN --out b.jsonl
	[ "$(jq -r 'select(.type == "step") | .outcome' b.jsonl)" = $'transport-error\ntransport-error' ]
	stop_player
	rolldbg run --quiet --env 'builtin:frozen_lake?protocol=openenv&fault=close-1011' --actions "$goal" --force --out a.jsonl || true
	start_player a.jsonl
	rolldbg run --quiet --env "$url" --actions "$goal" --force --out b.jsonl || true
	has "$(jq -c 'select(.type == "step" and .error) | [.outcome, .error.code, .error.message]' b.jsonl)" '1011 keepalive ping timeout"]'
	stop_player
	rolldbg run --quiet --env 'builtin:frozen_lake?fault=hang' --actions DOWN --timeout 200ms --force --out a.jsonl || true
	start_player a.jsonl
	rolldbg run --quiet --env "$url" --actions DOWN --timeout "$short" --force --out b.jsonl || true
	[ "$(jq -r 'select(.type == "step") | .outcome' b.jsonl)" = timeout ]
}

@test "stripped recordings can be played back" {
	rolldbg run --quiet --actions "$goal" --seed 42 --out a.jsonl
	rolldbg strip a.jsonl >golden.jsonl
	start_player golden.jsonl
	expect 0 rolldbg run --quiet --env "$url" --actions "$goal" --seed 42 --out b.jsonl
	rolldbg strip b.jsonl | cmp - golden.jsonl
}

@test "several rollouts: one per session in the order they open, then refusals" {
	printf '%s\n' '{"id":"up","seed":7,"actions":["UP","UP"]}' '{"id":"wander","seed":8,"policy":"random:1","max_turns":5}' >tasks.jsonl
	for protocol in mcp openenv; do
		expect_same_playback "builtin:frozen_lake?protocol=$protocol&max_envs=40" --tasks tasks.jsonl --jobs 16
		expect_same_playback "builtin:frozen_lake?protocol=$protocol&max_envs=40" --tasks tasks.jsonl --group-size 8
		start_player a.jsonl
		expect 1 rolldbg run --env "$url" --seed 9 --actions UP --force --out c.jsonl
		has "$output" 'the recording has 0 rollouts with seed 9'
		stop_player
		[ "$(jq -r 'select(.type == "header") | .rollout' a.jsonl | wc -l)" = 16 ]
	done
	rolldbg run --quiet --actions UP --out one.jsonl
	start_player one.jsonl
	expect 0 rolldbg run --quiet --env "$url" --actions UP --force --out c.jsonl --fail-on never
	expect 1 rolldbg run --env "$url" --actions UP --force --out c.jsonl
	has "$output" 'the recording has 1 rollout, and all have been played: restart the server, or use loop mode'
	stop_player
	start_player one.jsonl --loop
	for _ in 1 2 3; do
		expect 0 rolldbg run --quiet --env "$url" --actions UP --force --out c.jsonl --fail-on never
	done
}

# replies FILE: the replies to a run's calls: the position, or the error message.
replies() {
	jq -r 'select(.type == "step") | if .outcome == "ok" then .observation.position else .error.message end' "$1"
}

@test "a call that was not recorded: a tool error with the nearest recorded call; and looser matching" {
	rolldbg run --quiet --actions DOWN,DOWN,RIGHT --out a.jsonl
	start_player a.jsonl
	rolldbg run --quiet --env "$url" --actions DOWN,RIGHT,DOWN,RIGHT,UP --out b.jsonl --fail-on never
	[ "$(replies b.jsonl)" = '4
not in the recording: lake_move {"action":"RIGHT"}, call 1 of rollout FrozenLake-v1.0; recorded as call 1: lake_move {"action":"DOWN"}; nearest recorded call: 2: lake_move {"action":"RIGHT"}
8
9
not in the recording: lake_move {"action":"UP"}, call 3 of rollout FrozenLake-v1.0; the recording ends after 3 calls; nearest recorded call: 0: lake_move {"action":"DOWN"}' ]
	# the server logs it, too
	has "$(cat player.err)" 'rolldbg: serve: not in the recording: lake_move {"action":"RIGHT"}'
	stop_player
	start_player a.jsonl --match arguments
	rolldbg run --quiet --env "$url" --actions RIGHT,DOWN,DOWN,UP --out c.jsonl --fail-on never
	[ "$(replies c.jsonl | head -n 3)" = $'9\n4\n8' ]
	has "$(replies c.jsonl)" 'not in the recording: lake_move {"action":"UP"}, call 2 of rollout FrozenLake-v1.0'
	# the state is the one after the recorded call that was matched
	[ "$(jq -r 'select(.type == "step") | .state.position' c.jsonl | tr '\n' ' ')" = '0 9 4 8 ' ]
	stop_player
	start_player a.jsonl --match sequential
	rolldbg run --quiet --env "$url" --actions UP,UP,UP --out d.jsonl --fail-on never
	[ "$(replies d.jsonl)" = $'4\n8\n9' ]
}

@test "an import without resets, states and tools: its calls are played back" {
	rolldbg run --quiet --actions DOWN,DOWN --out a.jsonl
	jq -c 'select(.type != "reset") | if .type == "header" then .tools = null | .env = {protocol: "elsewhere"} | .state_source = {kind: "import"} else . end
		| if .type == "step" or .type == "end" then .state = null | .state_hash = null | .lines = null else . end' a.jsonl >import.jsonl
	start player "$ROLLDBG" serve import.jsonl --port 0
	echo '{"kind":"script","calls":[{"name":"lake_move","arguments":{"action":"DOWN"}},{"name":"lake_move","arguments":{"action":"DOWN"}}]}' >calls.json
	expect 0 rolldbg run --quiet --env "$url" --policy calls.json --out b.jsonl --fail-on never
	[ "$(replies b.jsonl)" = $'4\n8' ]
	[ "$(jq -c 'select(.type == "header") | [.env.protocol, .tools]' b.jsonl)" = '["mcp",[{"name":"lake_move","inputSchema":{"type":"object"}}]]' ]
}

@test "as the model: the recorded replies, by turn, with their usage and reasoning" {
	cat >script.json <<-'END'
		{"then":"last","replies":[
		{"message":{"role":"assistant","content":null,"reasoning":"down","tool_calls":[{"id":"a","type":"function","function":{"name":"lake_move","arguments":"{\"action\": \"DOWN\"}"}}]},"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}},
		{"text":"<tool_call>{\"name\":\"lake_move\",\"arguments\":{\"action\":\"DOWN\"}}</tool_call>"},
		{"calls":[{"name":"lake_move","arguments":"{\"action\": \"UP\""}]},
		{"calls":[{"name":"lake_move","arguments":{"action":"RIGHT"}},{"name":"lake_move","arguments":{"action":"UP"}}]},
		{"text":"Done.","finish_reason":"length"}]}
	END
	model script.json
	ask=(--policy llm --model tiny --max-turns 6 --fail-on never --quiet)
	rolldbg run "${ask[@]}" --base-url "$base/v1" --out a.jsonl >/dev/null
	stop_model
	[ "$(jq -s 'map(select(.type == "step")) | length' a.jsonl)" -ge 5 ]
	# the model and the environment are both played back
	start model "$ROLLDBG" serve a.jsonl --as llm --port 0
	base=${url%/mcp}
	start_player a.jsonl
	rolldbg run "${ask[@]}" --base-url "$base/v1" --env "$url" --out b.jsonl >/dev/null
	rolldbg strip a.jsonl >a.stripped
	rolldbg strip b.jsonl | diff a.stripped - >&2
}

@test "a recording that cannot be played back is refused with the reason" {
	rolldbg run --quiet --out a.jsonl
	expect 3 rolldbg serve a.jsonl --as llm --port 0
	has "$stderr" 'a.jsonl: contains no model replies'
	expect 3 rolldbg serve nothing.jsonl --port 0
	has "$stderr" 'cannot read nothing.jsonl: No such file'
	expect 2 rolldbg serve nothing --port 0
	has "$stderr" "unknown built-in environment 'nothing'"
	jq -c 'select(.type == "header" or .type == "end")' a.jsonl >empty.jsonl
	expect 3 rolldbg serve empty.jsonl --port 0
	has "$stderr" 'rollout FrozenLake-v1.0 has neither a reset nor a call'
	jq -c 'if .type == "header" then .env.protocol = "openenv-http" else . end' a.jsonl >plain.jsonl
	expect 3 rolldbg serve plain.jsonl --port 0
	has "$stderr" 'recorded over openenv-http, which has no sessions to play it in; --protocol openenv plays it in sessions'
	for option in '--fault capacity' '--map 8x8' '--max-envs 3' --slippery; do
		# shellcheck disable=SC2086 # splits the option from its value
		expect 2 rolldbg serve a.jsonl $option
		has "$stderr" 'applies to built-in environments only'
	done
	# an unfinished rollout is played up to its last call
	head -n 4 a.jsonl >torn.jsonl
	start_player torn.jsonl
	rolldbg run --quiet --env "$url" --actions DOWN,DOWN,RIGHT --out b.jsonl --fail-on never
	has "$(replies b.jsonl | tail -n 1)" 'the recording ends after 2 calls'
}
