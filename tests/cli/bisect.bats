#!/usr/bin/env bats
# bisect: sends the same calls to several targets and finds the first target with a different reply.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

lake=builtin:frozen_lake
broken='builtin:frozen_lake?fault=drop-iserror'

@test "the first target that changes an answer, and where" {
	rolldbg run --quiet --actions DOWN,DOWN,RIGHT
	expect 1 rolldbg bisect --env "$lake" --env "$lake?max_envs=4" --env "$broken" --env "$broken" --seed 4
	has "$output" 'C  builtin:frozen_lake?fault=drop-iserror'
	has "$output" $'B -> C: rollout FrozenLake-v1.0\n  step 1  lake_move action=DOWN\n    /outcome  ok -> tool-error\n'
	has "$output" $'    A  ok   '
	has "$output" $'    C  tool-error   '
	lacks "$output" 'A -> B'
	lacks "$output" 'C -> D'
	[ "${lines[-1]}" = "C is the first to change a reply: $broken, step 1 of rollout FrozenLake-v1.0" ]
}

@test "no target differs: exit 0, no output with --quiet" {
	rolldbg run --quiet --actions "$goal" --out a.jsonl
	expect 0 rolldbg bisect a.jsonl --env "$lake" --env "$lake"
	[ "${lines[-1]}" = 'no differences · 2 targets · 1 rollout' ]
	expect 0 rolldbg bisect a.jsonl --env "$lake" --env "$lake" --quiet
	[ -z "$output" ]
}

@test "calls of recordings, several at a time, and JSON lines" {
	rolldbg run --quiet --task a --seed 1 --out a.jsonl
	rolldbg run --quiet --task b --seed 2 --actions DOWN --out b.jsonl --fail-on never
	expect 1 rolldbg bisect a.jsonl b.jsonl --jobs 2 --env "$lake" --env "$lake" --env "$broken" --json
	[ "$(jq -r 'select(.type == "layer") | "\(.rollout) \(.differences > 0) \(.step)"' <<<"$output")" = \
		$'a.0 false null\na.0 true 1\nb.0 false null\nb.0 false null' ]
	[ "$(jq -c 'select(.type == "layer") | keys_unsorted' <<<"$output" | sort -u)" = '["type","rollout","target","against","differences","step"]' ]
	[ "$(jq -c 'select(.type == "summary") | del(.differences)' <<<"$output")" = \
		'{"type":"summary","targets":3,"rollouts":2,"first_change":"builtin:frozen_lake?fault=drop-iserror"}' ]
	[ "$(jq -r 'select(.type == "difference") | .file' <<<"$output" | sort -u)" = "$broken" ]
}

@test "a recording played back replaces the environment" {
	rolldbg run --quiet --seed 4 --actions DOWN,DOWN,RIGHT --out a.jsonl
	start player "$ROLLDBG" serve a.jsonl --port 0
	expect 1 rolldbg bisect a.jsonl --env "$url" --env "$lake" --env "$broken"
	has "${lines[-1]}" "C is the first to change a reply: "
}

@test "masks and tolerances; an unreachable target: exit 4" {
	rolldbg run --quiet --actions DOWN --out a.jsonl
	expect 1 rolldbg bisect a.jsonl --env 'builtin:frozen_lake' --env 'builtin:frozen_lake?map=8x8' --quiet
	expect 0 rolldbg bisect a.jsonl --env 'builtin:frozen_lake' --env 'builtin:frozen_lake?map=8x8' --quiet \
		--mask '/observation/**' --mask '/state/**'
	expect 4 rolldbg bisect a.jsonl --env "$lake" --env http://127.0.0.1:1/mcp
	has "$stderr" 'http://127.0.0.1:1/mcp: cannot connect'
	expect 4 rolldbg bisect a.jsonl --env http://127.0.0.1:1/mcp --env "$broken"
}

@test "a proxy that changes a tool: a difference at the header" {
	canned inner </dev/null
	inner=$url
	canned outer <<-'END'
		tools/list	{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"move":{"enum":["A"]}},"required":["move"]}}]}
	END
	rolldbg run --quiet --env "$inner" --actions A --state none --out a.jsonl --fail-on never
	expect 1 rolldbg bisect a.jsonl --env "$inner" --env "$url"
	has "$output" '/tools/act/inputSchema/properties/move/enum'
	expect 0 rolldbg bisect a.jsonl --env "$inner" --env "$url" --tools ignore
}
