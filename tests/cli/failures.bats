#!/usr/bin/env bats
# What failed and void rollouts are attributed to, and the gate --max-environment-failures.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

shared=${ROLLDBG_SHARED:-}/recordings

# recording OUTCOME CLASS LAYER STATUS REASON: an answered call, then that one (unless -), then the end
recording() {
	jq -nc --arg o "$1" --arg c "$2" --arg l "$3" --arg s "$4" --arg r "$5" '
		def call: {tool_call: {name: "go", arguments: {}}, reward: 0, rollout: "a.0", type: "step"};
		{type: "header", rollout: "a.0", format: "rolldbg", version: 1, tools: [{name: "go"}]},
		(call + {turn: 0, step: 0, outcome: "ok"}),
		(if $o == "-" then empty else call + {turn: 1, step: 1, outcome: $o, error: {class: $c, layer: $l}} end),
		{type: "end", rollout: "a.0", status: $s, reason: (if $r == "-" then null else $r end), total_reward: 0}'
}

# failures FILE: the causes of its rollouts, null included, one word each
failures() {
	rolldbg check --fail-on never --json "$1" | jq -r 'select(.type == "rollout") | "\(.failure)"' | sort | uniq -c |
		awk '{printf "%s%s %s", sep, $1, $2; sep = ", "}'
}

@test "failures: one cause for every outcome and end" {
	local outcome class layer status reason cause valid count=0
	while IFS=$'\t' read -r outcome class layer status reason cause valid; do
		recording "$outcome" "$class" "$layer" "$status" "$reason" >one.jsonl
		run rolldbg check --fail-on never --json one.jsonl
		[ "$(jq -r 'select(.type == "rollout") | "\(.failure) \(.reward_valid)"' <<<"$output")" = "$cause $valid" ] || {
			echo "$outcome $class $layer $status $reason: not $cause $valid: $output"
			return 1
		}
		count=$((count + 1))
	done < <(grep -v '^#' "$data/failures.tsv")
	[ "$count" -ge 30 ]
}

@test "failures: void rollouts, sessions that were replaced, and tools that always fail" {
	local check=$root/fixtures/check
	[ "$(failures "$check/capacity/bad-session.jsonl")" = '1 capacity' ]
	[ "$(failures "$check/timeout/bad-reset.jsonl")" = '1 transport' ]
	[ "$(failures "$check/multi-step-illusion/bad-every-step.jsonl")" = '1 environment' ]
	jq -c 'if .type == "step" and .turn > 0 then .error.class = "arguments" else . end' "$check/multi-step-illusion/bad-every-step.jsonl" >once.jsonl
	[ "$(failures once.jsonl)" = '1 policy' ]
	[ "$(failures "$check/session-replaced/bad-went-on-in-another.jsonl")" = '1 environment' ]
	[ "$(failures "$check/no-tools/bad-empty-list.jsonl")" = '1 environment' ]
	[ "$(failures "$check/drawn-calls/bad-every-step.jsonl")" = '1 policy' ]
	[ "$(failures "$check/no-tool-call/bad-prose-for-ever.jsonl")" = '1 policy' ]
	[ "$(failures "$check/incomplete/bad-no-end.jsonl")" = '1 harness' ]
}

@test "failures: what trainers recorded" {
	[ -d "$shared/trl" ] || skip 'no shared recordings'
	[ "$(failures "$shared/trl/trl-s3-lazy-cap1-g4.jsonl")" = '3 capacity, 1 null' ]
	[ "$(failures "$shared/trl/ep-static-rows.jsonl")" = '4 capacity' ]
	[ "$(failures "$shared/trl/trl-wrongtool.jsonl")" = '4 policy' ]
	[ "$(failures "$shared/trl/trl-two.jsonl")" = '4 null' ]
	[ "$(failures "$shared/eval-protocol/seed-illusion.jsonl")" = '3 environment' ]
	[ "$(failures "$shared/eval-protocol/tau2-mock-healthy.jsonl")" = '2 null' ]
}

@test "failures: said in the summary, and a reward that is none" {
	recording capacity capacity websocket max-turns - >one.jsonl
	expect 1 rolldbg check one.jsonl
	has "$output" 'failure: capacity (no environment was free); its reward is not a reward'
	recording - - - terminated - | sed 's/a\.0/b.0/g' >>one.jsonl
	expect 1 rolldbg check one.jsonl
	has "$output" 'failure: 1 of 2 rollouts: capacity 1; 1 of the rewards is not a reward'
	expect 1 rolldbg check --json one.jsonl
	[ "$(tail -n 1 <<<"$output" | jq -c '[.failures.capacity, .failures.policy, .environment_failures, .rewards_invalid]')" = '[1,0,1,1]' ]
	[ "$(jq -r 'select(.type == "finding" and .rule == "capacity") | .failure' <<<"$output")" = capacity ]
	expect 0 rolldbg stats one.jsonl
	has "$output" 'environment_failure_rate      0.5'
	has "$output" 'failure/capacity              1'
	has "$output" 'rewards_invalid               1'
}

@test "--max-environment-failures: a gate of check, stats and run" {
	recording capacity capacity websocket max-turns - >one.jsonl
	recording - - - terminated - | sed 's/a\.0/b.0/g' >>one.jsonl
	local limit
	for limit in 50% 0.5 100% 1; do
		expect 0 rolldbg check --fail-on never --max-environment-failures "$limit" one.jsonl
		expect 0 rolldbg stats --max-environment-failures "$limit" one.jsonl
	done
	for limit in 49.9% 0 0%; do
		expect 1 rolldbg check --fail-on never --max-environment-failures "$limit" one.jsonl
		has "$stderr" "1 of 2 rollouts (50%) failed by the environment, which is more than ${limit%\%}%"
		expect 1 rolldbg stats --max-environment-failures "$limit" one.jsonl
	done
	for limit in x % 101% 2 -1 5%%; do
		expect 2 rolldbg check --max-environment-failures "$limit" one.jsonl
		has "$stderr" "--max-environment-failures: expected a share such as 5% or 0.05, got '$limit'"
		expect 2 rolldbg stats --max-environment-failures "$limit" one.jsonl
	done
	expect 2 rolldbg stats --partial --max-environment-failures 5% one.jsonl
	expect 0 rolldbg run --max-environment-failures 0
	expect 1 rolldbg run --fail-on never --env 'builtin:frozen_lake?fault=fallback-session&fault=capacity&max_envs=3' --actions "$goal" --max-environment-failures 5%
	has "$stderr" '1 of 1 rollouts (100%) failed by the environment, which is more than 5%'
}

@test "a port that is taken, an address of another machine: one exit code, and what to do" {
	start lake "$ROLLDBG" serve --port 0
	port=${url##*:}
	port=${port%/mcp}
	for command in "serve --port $port" "tap --listen $port --to http://127.0.0.1:9/mcp --out taps/"; do
		# shellcheck disable=SC2086 # words
		expect 5 rolldbg $command
		has "$stderr" "cannot listen on 127.0.0.1:$port: Address already in use; stop the process that listens there, or choose another port (0: any free one)"
	done
	expect 5 rolldbg tools --serve 'sleep 9' --env "$url"
	has "$stderr" 'is taken: something answers there already; stop it, choose another port'
}
