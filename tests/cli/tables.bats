#!/usr/bin/env bats
# convert --to steps and rollouts: one table for all environments.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

@test "steps: a row for each turn, with what it changed; JSON as text" {
	rolldbg run --quiet --actions DOWN,LEFT,RIGHT --task a --out a.jsonl --fail-on never
	expect 0 rolldbg convert --to steps a.jsonl
	[ "$(jq -r '[.task, .step, .tool, .arguments, .effect, .explanation, .member] | map(tostring) | join(" ")' <<<"$output")" = \
		'a 0 lake_move {"action":"DOWN"} changed effect /position
a 1 lake_move {"action":"LEFT"} unchanged no-difference null
a 2 lake_move {"action":"RIGHT"} changed effect /position' ]
	[ "$(jq -r '.state | fromjson | .position' <<<"$output" | head -n 1)" = 0 ]
	# the same in CSV, and the effects are those of show
	expect 0 rolldbg convert --to steps --csv a.jsonl
	[ "$(head -n 1 <<<"$output" | cut -d, -f 1-5)" = file,rollout,task,sample,turn ]
	expect 0 rolldbg convert --to steps --out a.csv a.jsonl
	cmp a.csv <(rolldbg convert --to steps --csv a.jsonl)
}

@test "the same columns and types for every recording of the fixtures" {
	for table in steps rollouts; do
		rolldbg convert --to $table "$root"/fixtures/check/*/*.jsonl >$table.jsonl 2>problems || cat problems
		[ "$(jq -c keys_unsorted $table.jsonl | sort -u | wc -l)" = 1 ]
		[ "$(jq -c '[.[] | type] | map(select(. == "object" or . == "array")) | length' $table.jsonl | sort -u)" = 0 ]
		# each column has one type beside null
		[ "$(jq -r 'to_entries[] | select(.value != null) | .key + " " + (.value | type)' $table.jsonl | sort -u | cut -d' ' -f 1 | uniq -d)" = '' ]
	done
	# counts are those of check
	rolldbg check --json "$root"/fixtures/check/*/*.jsonl | jq -c 'select(.type == "summary") | [.rollouts, .steps, .effective, .failed]' >want
	jq -sc '[length, (map(.steps) | add), (map(.effective // 0) | add), (map(.failed) | add)]' rollouts.jsonl | cmp - want
	[ "$(jq -r 'select(.effect == "changed") | 1' steps.jsonl | wc -l)" = "$(jq '.[2]' want)" ]
}

@test "one table: no directory, no single rollout, no CSV of another format" {
	rolldbg run --quiet --out a.jsonl
	expect 2 rolldbg convert --to steps --out d/ a.jsonl
	expect 2 rolldbg convert --to steps --rollout x a.jsonl
	expect 2 rolldbg convert --csv a.jsonl
	expect 2 rolldbg convert --to step a.jsonl
	head -c -20 a.jsonl >torn.jsonl
	expect 0 rolldbg convert --to rollouts torn.jsonl
	[ "$(jq -r .status <<<"$output")" = incomplete ]
	expect 5 env PATH=/nowhere "$ROLLDBG" convert --to steps --out a.parquet a.jsonl
	[ ! -e a.parquet ]
}

@test "Inspect Scout's transcripts as a Parquet file, a row a rollout" {
	python3 -I -c 'import pyarrow' 2>/dev/null || skip 'no pyarrow'
	rolldbg run --quiet --seed 42 --actions DOWN,RIGHT --out a.jsonl
	rolldbg convert --quiet a.jsonl --to scout --out scout.parquet
	expect 0 rolldbg check scout.parquet
	has "$output" '2 turns · 2 steps'
	[ "$(rolldbg convert --quiet a.jsonl --to scout | jq -r '.messages | fromjson | map(.role) | join(" ")')" = 'user assistant tool assistant tool' ]
	[ "$(rolldbg convert --quiet a.jsonl --to scout | jq -c '.messages | fromjson[1].tool_calls[0] | [.function, .arguments]')" = '["lake_move",{"action":"DOWN"}]' ]
}
