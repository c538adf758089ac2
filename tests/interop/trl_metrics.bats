#!/usr/bin/env bats
# Metrics compared with TRL: the same recordings, evaluated by TRL's own statements (see trl_metrics.py).

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# compare GROUP_SIZE FILE..: each metric that TRL logs equals the one of stats; without a model, clipped_ratio is 0.
compare() {
	local size=$1 trl ours
	shift
	trl=$("$installed/gym/bin/python" "$BATS_TEST_DIRNAME/trl_metrics.py" "$installed/trl" "$size" "$@")
	ours=$("$ROLLDBG" stats --json "$@" | jq -c 'select(.type == "metrics")')
	jq -n -e --argjson trl "$trl" --argjson ours "$ours" '($trl | length) == 6 and
		all($trl | to_entries[]; . as {key: $k, value: $v}
			| (($ours[$k] // (if $k == "completions/clipped_ratio" then 0 else infinite end)) - $v) | fabs < 1e-12)' >/dev/null || {
		printf 'TRL: %s\nours: %s\n' "$trl" "$ours" >&2
		return 1
	}
}

@test "tools, rewards and clipped replies: the same numbers as TRL" {
	jq -n '{then: "cycle", replies: [
		{calls: [{name: "lake_move", arguments: {action: "DOWN"}}, {name: "lake_fly", arguments: {}}]},
		{calls: [{name: "lake_move", arguments: {action: "RIGHT"}}]},
		{text: "Hm", finish_reason: "length"},
		{text: "<tool_call>{\"name\": \"lake_move\", \"arguments\": {\"action\": </tool_call>"},
		{text: "Done."}]}' >script.json
	"$ROLLDBG" serve llm script.json --port 0 >model.log 3>&- &
	echo $! >model.pid
	until grep -q listening model.log; do sleep 0.1; done
	"$ROLLDBG" run --quiet --policy llm --model m --base-url "http://$(sed 's/.* //' model.log)" --group-size 4 --jobs 1 --fail-on never --out model.jsonl
	compare 4 model.jsonl
	printf '{"id":"a","actions":%s}\n{"id":"b","actions":%s}\n{"id":"c","actions":%s}\n' '["DOWN","DOWN","RIGHT","DOWN","RIGHT","RIGHT"]' \
		'["UP"]' '["RIGHT","DOWN"]' >tasks.jsonl
	"$ROLLDBG" run --quiet --tasks tasks.jsonl --group-size 2 --jobs 1 --fail-on never --out tasks.jsonl.out
	compare 2 tasks.jsonl.out
	"$ROLLDBG" run --quiet --env 'builtin:frozen_lake?slippery=1' --policy random:3 --group-size 8 --jobs 1 --fail-on never --out wander.jsonl
	compare 8 wander.jsonl
}
