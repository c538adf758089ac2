#!/usr/bin/env bats
# NeMo Gym's own base classes and examples: the steps of its own client, rewards with components, and what probe finds.

# shellcheck disable=SC2154,SC2094 # variables of lib.bash; moves is a function and a file
load lib

goal=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

setup_file() {
	nemo_gym_start worlds
}

# at WORLD: its address.
at() {
	echo "$(url worlds)/$1"
}

# client URL START..: NeMo Gym's client, see nemo_gym_client.py.
client() {
	"$installed/nemo-gym/bin/python" -W ignore "$BATS_TEST_DIRNAME/nemo_gym_client.py" "$@"
}

# as_calls: the line of nemo_gym_client.py for each move.
as_calls() {
	jq -Rr '"move \({direction: .} | tojson)"'
}

# as_client FILE..: what the client prints, from recordings.
as_client() {
	jq -c 'if .type == "step" then (if .outcome == "ok" then .observation else .error.code end)
		elif .type == "end" then [.total_reward, .reward_components] else empty end' "$@"
}

# probed WORLD OPTIONS..: what probe says about it, in probed; exit code 0 or 1.
probed() {
	local world=$1
	shift
	"$ROLLDBG" probe --env "$(at "$world")" "$@" >probed || [ $? = 1 ]
}

# in_lake WORLD: probes a lake with eight sessions.
in_lake() {
	probed "$1" --state tool:look --tool move --actions DOWN,DOWN,RIGHT --sessions 8 --settle 200ms
}

said() {
	grep -qE "^$1" probed && return
	cat probed
	return 1
}

@test "1,000 steps of NeMo Gym's client are those of run: replies, errors, rewards and their components; so says the tap between" {
	moves 250 >moves
	tap_start "$(url worlds)"
	as_calls <moves | client "$tap/lake" 0 1 2 4 >theirs
	tap_end 0
	[ "$(wc -l <theirs)" = 1004 ]
	grep -qx 422 theirs
	diff <(jq -c . theirs) <(as_client tap.jsonl)
	jq -c 'select(.type == "header") | .task' tap.jsonl >tasks.jsonl
	"$ROLLDBG" run --env "$(at lake)" --tasks tasks.jsonl --force-call --tool move --actions "$(paste -s -d , moves)" --out ours/ >run.out || [ $? = 1 ]
	cat ours/*.jsonl >ours.jsonl
	"$ROLLDBG" diff --mask /policy --mask /tools ours.jsonl tap.jsonl
}

@test "a golden is replayed: another reward, and another component, is a difference" {
	drive walk 0 --env "$(at lake)" --tool move --actions $goal --state tool:look
	holds walk 'ending | .total_reward == 1 and .reward_components == {"goal": 1, "calls": 0.006}'
	"$ROLLDBG" strip walk.jsonl >golden.jsonl
	"$ROLLDBG" replay golden.jsonl --env "$(at lake)"
	sed 's/"total_reward":1.0/"total_reward":0.5/' golden.jsonl >reward.jsonl
	sed '$s/"calls":0.006/"calls":0.007/' golden.jsonl >component.jsonl
	for member in reward component; do
		run "$ROLLDBG" replay $member.jsonl --env "$(at lake)" --out again.jsonl --force
		[ "$status" = 1 ]
		[[ $output == *"/"*$member* ]]
	done
}

@test "a call that raises keeps its session, though the reply of 500 has no cookie" {
	"$ROLLDBG" run --env "$(at lake)" --call 'move direction=DOWN' --call dig --call look --out dug.jsonl >dug.out || [ $? = 1 ]
	holds dug 'steps | map(.outcome) == ["ok", "tool-error", "ok"] and .[1].error.class == "environment" and .[2].observation.position == 4'
}

@test "probe: the ceiling of the reward of four servers, in both styles" {
	local weather='{"responses_create_params":{"input":[]},"expected_call":{"name":"get_weather","arguments":{"city":"Oslo"}}}'
	local counter='{"initial_count":2,"expected_count":9}'
	solved lake 1 --tool move --actions $goal
	solved steps 1 --tool step --argument text --actions $goal
	solved counter 1 --reset-json "$counter" --call 'increment_counter count=3' --call 'increment_counter count=4'
	solved multireward 3 --reset-json "$weather" --call 'get_weather city=Oslo'
}

# solved WORLD CEILING OPTIONS..: probe finds that reward, with the calls of OPTIONS as the solution.
solved() {
	local world=$1 ceiling=$2
	shift 2
	"$ROLLDBG" run --env "$(at "$world")" "$@" --out solution.jsonl --force >run.out || [ $? = 1 ]
	probed "$world" "$@" --sessions 2 --solution solution.jsonl
	said "ok +reward +ceiling $ceiling, floor [01]: the solution earns $ceiling in "
}

@test "probe: a healthy lake, one for all, three sessions, and a second seed" {
	in_lake lake
	said 'ok +capacity +8 of 8'
	said 'ok +isolation +8 isolated'
	said 'ok +contract +kept: .*a call without the cookie is answered, for a new session'
	said 'ok +load +8 sessions at once'
	in_lake shared
	said 'fail +isolation +shared'
	in_lake three
	said 'fail +capacity +3 of 8: session 4 was refused: no more sessions \(HTTP 503\)'
	in_lake reseed
	said 'fail +contract +broken: .*a second seed_session gets another session'
}

@test "tap: after a reply of 500 the client has no cookie, and goes on in a new session" {
	printf '%s\n' 'move {"direction":"DOWN"}' 'dig {}' 'look {}' 'look {}' >calls
	tap_start "$(url worlds)"
	client "$tap/lake" 0 <calls >theirs
	tap_end 0
	[ "$(jq -c . theirs | paste -s -d ' ')" = '{"position":4,"tile":"F"} 500 {"position":0} {"position":0} [0,{"goal":0,"calls":0.004}]' ]
	"$ROLLDBG" check --json tap.jsonl >tap.json || [ $? = 1 ]
	fires tap "fallback-session warning"
	diff <(jq -c . theirs) <(as_client tap.jsonl)
}

@test "tap: with several sessions open, a call without a cookie is a rollout of its own, and said to be" {
	printf 'dig {}\nlook {}\n' >calls
	tap_start "$(url worlds)"
	client "$tap/lake" --together 0 4 8 <calls >theirs
	tap_end 1
	"$ROLLDBG" check --json tap.jsonl >tap.json || [ $? = 1 ]
	fires tap "session-replaced error"
	holds tap 'of("end") | length == 6'
	grep -q '3 replaced' tap.out
}
