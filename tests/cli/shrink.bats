#!/usr/bin/env bats
# shrink: the smallest part of a recording's calls that still gives a finding.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

bad='builtin:frozen_lake?map=8x8&max_envs=50&fault=bad-field'
healthy='builtin:frozen_lake?map=8x8&max_envs=50'

# record_random TARGET: records 60 random moves in w.jsonl.
record_random() {
	rolldbg run --quiet --env "$1" --policy random:20 --max-turns 60 --seed 7 --fail-on never --force --out w.jsonl >/dev/null
	[ "$(jq -r 'select(.type == "end") | .steps' w.jsonl)" = 60 ]
}

@test "60 random moves shrink to the three that reach the broken field, whatever --jobs is" {
	record_random "$bad"
	for jobs in 1 8; do
		expect 0 rolldbg shrink w.jsonl --env "$bad" --rule effect-despite-error --jobs $jobs --force
		has "${lines[0]}" '3 of 60 calls are enough, and each is needed · '
		[ "${lines[-1]}" = 'written: w.shrunk.jsonl, w.shrunk.policy.json' ]
		[ "$(jq -r '.calls[].arguments.action' w.shrunk.policy.json | tr '\n' ' ')" = 'DOWN RIGHT RIGHT ' ]
		has "$output" 'effect-despite-error: 1 failed step changed the state; '
	done
	# the written recording has the finding, and so does a run of the written policy
	expect 1 rolldbg check w.shrunk.jsonl --fail-on warning --only effect-despite-error
	expect 1 rolldbg run --quiet --env "$bad" --seed 7 --policy w.shrunk.policy.json --out again.jsonl --fail-on warning
	has "$output" 'effect-despite-error'
	[ "$(jq -r 'select(.type == "header") | .seed' w.shrunk.jsonl)" = 7 ]
	# every call is needed
	for i in 0 1 2; do
		jq "del(.calls[$i])" w.shrunk.policy.json >less.json
		expect 0 rolldbg run --quiet --env "$bad" --policy less.json --out less.jsonl --force --fail-on warning --only effect-despite-error
	done
}

@test "a divergence from a golden shrinks, too" {
	record_random "$healthy"
	rolldbg strip w.jsonl >golden.jsonl
	expect 1 rolldbg replay golden.jsonl --env "$bad" --quiet
	expect 0 rolldbg shrink --divergence golden.jsonl --env "$bad" --out least.jsonl --json
	[ "$(jq -c '[.from, .to, .minimal, .flaky, .recording, .policy, (.calls | map(.arguments.action))]' <<<"$output")" = \
		'[60,3,true,false,"least.jsonl","least.policy.json",["DOWN","RIGHT","RIGHT"]]' ]
	expect 3 rolldbg shrink --divergence golden.jsonl --env "$healthy" --out other.jsonl
	has "$stderr" "not reproduced: the 60 calls of rollout FrozenLake-v1.0 got the golden's replies"
	[ ! -e other.jsonl ]
}

@test "of several rollouts the first with the finding, or the one given" {
	rolldbg run --quiet --task calm --actions UP,UP --env "$bad" --out a.jsonl --fail-on never
	rolldbg run --quiet --task trapped --actions UP,RIGHT,UP,RIGHT,DOWN --env "$bad" --out b.jsonl --fail-on never
	cat a.jsonl b.jsonl >both.jsonl
	expect 0 rolldbg shrink both.jsonl --env "$bad" --rule effect-despite-error --json
	[ "$(jq -c '[.rollout, .to]' <<<"$output")" = '["trapped.0",3]' ]
	expect 3 rolldbg shrink both.jsonl --env "$bad" --rule effect-despite-error --rollout calm.0 --force
	has "$stderr" 'not reproduced: the 2 calls of rollout calm.0 gave no finding of rule effect-despite-error in 3 runs'
	expect 2 rolldbg shrink both.jsonl --env "$bad" --rule effect-despite-error --rollout none --force
	has "$stderr" "both.jsonl has no rollout 'none'; available: calm.0, trapped.0"
	expect 3 rolldbg shrink both.jsonl --env "$bad" --rule timeout --force
	has "$stderr" 'both.jsonl: no rollout in it has a finding of rule timeout'
	expect 3 rolldbg shrink a.jsonl --env "$healthy" --rule effect-despite-error
}

@test "a finding that needs no call" {
	rolldbg run --quiet --env builtin:desk --policy "$root/policies/desk-tidy.json" --state tool:get_task --out a.jsonl --fail-on never
	expect 0 rolldbg shrink a.jsonl --env builtin:desk --state tool:get_task --rule frozen-state --json
	[ "$(jq .minimal <<<"$output")" = true ]
	[ "$(jq .to <<<"$output")" -le 3 ]
}

@test "a finding that comes and goes is called flaky" {
	target='builtin:frozen_lake?map=8x8&slippery=1&max_envs=50&fault=bad-field'
	rolldbg run --quiet --env "$target" --policy random:8 --max-turns 20 --fail-on never --out w.jsonl >out
	grep -q effect-despite-error out
	# without a seed the ice differs in each session
	run --separate-stderr rolldbg shrink w.jsonl --env "$target" --rule effect-despite-error --max-runs 200 --json
	[ "$status" -le 1 ]
	has "$stderr" 'flaky: effect-despite-error appeared in '
	[ "$(jq .flaky <<<"$output")" = true ]
	[ "$(jq .to <<<"$output")" -lt 20 ]
}

@test "--max-runs stops it: the result may not be minimal" {
	record_random "$bad"
	expect 0 rolldbg shrink w.jsonl --env "$bad" --rule effect-despite-error --max-runs 5 --json
	[ "$(jq -c '[.minimal, .to > 3, .runs <= 6]' <<<"$output")" = '[false,true,true]' ]
	has "$stderr" 'stopped by --max-runs: the result may not be minimal'
	# the files written are not replaced without --force
	expect 2 rolldbg shrink w.jsonl --env "$bad" --rule effect-despite-error
	has "$stderr" 'w.shrunk.jsonl exists; use --force to overwrite it'
}

@test "what cannot be shrunk" {
	record_random "$bad"
	expect 4 rolldbg shrink w.jsonl --env http://127.0.0.1:1/mcp --rule effect-despite-error
	has "$stderr" 'cannot connect'
	expect 3 rolldbg shrink nothing.jsonl --env "$bad" --rule effect-despite-error
	expect 2 rolldbg shrink w.jsonl --env "$bad" --rule effect-despite-eror
	has "$stderr" "did you mean 'effect-despite-error'?"
	expect 2 rolldbg shrink w.jsonl --env "$bad"
	has "$stderr" 'needs --rule RULE or --divergence GOLDEN'
	expect 2 rolldbg shrink w.jsonl --env "$bad" --divergence w.jsonl
	[ ! -e w.shrunk.jsonl ]
}
