#!/usr/bin/env bats
# What probe sends that no client should, to a resources server of NeMo Gym with the native contract; its rewards.

# shellcheck disable=SC2154 # variables of lib.bash
load lib

# toy [FAULT..]: starts the server; sets $url.
toy() {
	command -v python3 >/dev/null || skip 'no python3'
	start toy python3 "$data/nemo_gym.py" "$@"
	url=${url%/mcp}
}

# property NAME: the probe's line of it, with three calls of add.
property() {
	{ rolldbg probe --env "$url" --call 'add n=1' --call 'add n=2' --state tool:look --sessions 2 --json || [ $? = 1 ]; } |
		jq -r "select(.name == \"$1\") | \"\(.status): \(.value): \(.evidence)\""
}

@test "a contract that is kept" {
	toy
	has "$(property contract)" 'ok: kept: no episode ended within 200 calls; 5 mistakes of a client answered as the protocol says'
}

@test "contracts that are broken" {
	local fault
	while IFS='|' read -r fault says; do
		toy "$fault"
		has "$(property contract)" "$says"
		kill "$(cat toy.pid)"
		rm toy.pid
	done <<-'FAULTS'
		new-session|fail: broken: no episode ended within 200 calls; a second seed_session gets another session
		takes-other|fail: broken: no episode ended within 200 calls; a seed_session of another task in the same episode is accepted
		close-once|fail: broken: no episode ended within 200 calls; a second close_session fails
		stays-open|fail: broken: no episode ended within 200 calls; a call after close_session is answered
		no-cookie|ok: kept: no episode ended within 200 calls; 4 mistakes of a client answered as the protocol says; a call without the cookie is answered, for a new session
	FAULTS
}

@test "a reset that lacks an argument: how to give it" {
	toy needs-start
	expect 1 rolldbg run --env "$url" --call 'add n=1'
	has "$stderr" 'the reset failed: body: start: Field required'
	has "$stderr" 'the arguments of a reset: --reset-json OBJECT'
	has "$output" 'failure: harness ('
	expect 0 rolldbg run --env "$url" --call 'add n=1' --reset-json '{"start":1}'
}

@test "the verified reward: its components in a golden, and in the reward panel" {
	toy
	rolldbg run --env "$url" --call 'add n=1' --call 'add n=2' --out run.jsonl >/dev/null
	jq -es '.[-1] | .total_reward == 1 and .reward_components == {"sum": 1}' run.jsonl
	rolldbg strip run.jsonl >golden.jsonl
	rolldbg replay golden.jsonl --env "$url" >/dev/null
	sed 's/{"sum":1.0}/{"sum":0.5}/' golden.jsonl >other.jsonl
	expect 1 rolldbg replay other.jsonl --env "$url"
	has "$output" '/reward_components/sum  0.5 -> 1.0'
	rolldbg probe --env "$url" --call 'add n=1' --call 'add n=2' --state tool:look --sessions 2 --golden golden.jsonl --json >lines || [ $? = 1 ]
	jq -es 'map(select(.name == "reward"))[0] | .evidence | startswith("the solution earns 1 in 2 calls; no action 0")' lines
	jq -es 'map(select(.name == "tools"))[0].evidence == "as in the golden"' lines
}
