#!/usr/bin/env bats
# stats, and check with a trainer's log-probabilities.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

kl=$BATS_TEST_DIRNAME/../../fixtures/check/kl-band

@test "check --trainer-logprobs: the trainer's log-probabilities of the sampled tokens" {
	expect 0 rolldbg check --fail-on info --trainer-logprobs "$kl/good-near.trainer" "$kl/good-near.jsonl"
	# without the file nothing is compared
	expect 0 rolldbg check --fail-on info "$kl/bad-apart.jsonl"
	expect 1 rolldbg check --fail-on warning --trainer-logprobs "$kl/bad-another-prompt.trainer" "$kl/bad-another-prompt.jsonl"
	has "$output" 'warning: kl-band: turns 0-5: KL of 72 tokens: k1 1.0'
	has "$output" 'conditioning_mismatch: mean |lr| is 1.5'
	# log-probabilities sampled with a temperature are reported as not comparable
	expect 0 rolldbg check --fail-on warning --trainer-logprobs "$kl/bad-not-comparable.trainer" "$kl/bad-not-comparable.jsonl"
	has "$output" 'info: kl-band: '
	has "$output" 'not comparable, because the policy sent temperature 0.7, top_p 0.9'
}

@test "check --trainer-logprobs: missing and surplus counterparts" {
	expect 1 rolldbg check --fail-on warning --trainer-logprobs "$kl/bad-named-otherwise.trainer" "$kl/good-near.jsonl"
	has "$output" 'warning: kl-band: 6 of 6 turns of the trainer'\''s file are in none of the recordings: do the rollout ids match?'
	expect 1 rolldbg check --json --fail-on warning --trainer-logprobs "$kl/good-near.trainer" "$kl/good-near.jsonl" "$kl/good-older-shape.jsonl"
	has "$output" '"rollout":null,"task":null,"rule":"kl-band","severity":"warning"'
	has "$output" '6 of 6 turns of the trainer'\''s file were compared with several recorded ones'
}

@test "check --trainer-logprobs: an invalid file" {
	expect 3 rolldbg check --trainer-logprobs nowhere "$kl/good-near.jsonl"
	has "$stderr" 'cannot read nowhere: '
	printf '\n{"rollout":"lake.0","turn":"0","logprobs":[]}\n' >odd
	expect 3 rolldbg check --trainer-logprobs odd "$kl/good-near.jsonl"
	has "$stderr" 'odd:2: "turn" is missing or not a non-negative integer'
	printf '{"rollout":"lake.0","turn":0,"logprobs":[-Infinity]}' >odd
	expect 3 rolldbg check --trainer-logprobs odd "$kl/good-near.jsonl"
	has "$stderr" 'odd:1: '
}

# value NAME: a metric in $output, the output of stats --json.
value() {
	jq -r --arg name "$1" 'select(.type == "metrics") | .[$name]' <<<"$output"
}

# status NAME: the status of a checklist property in $output.
status() {
	jq -r --arg name "$1" 'select(.type == "property" and .name == $name) | .status' <<<"$output"
}

@test "stats: the metrics of a batch, over files and tasks" {
	rolldbg run --quiet --task lake --group-size 2 --out lake/
	rolldbg run --quiet --task hole --actions RIGHT,DOWN --out hole.jsonl
	expect 0 rolldbg stats --json lake hole.jsonl
	[ "$(value rollouts) $(value tasks) $(value turns) $(value steps) $(value effective) $(value failed)" = '3 2 14 14 14 0' ]
	[ "$(value num_turns/min) $(value num_turns/max)" = '2 6' ]
	[ "$(value stop_condition/terminated) $(value has_error) $(value is_truncated)" = '3 0 0' ]
	[ "$(value tools/failure_frequency) $(value schema_accuracy)" = '0 1' ]
	[ "$(value reward/min) $(value reward/max) $(value groups) $(value solved_all)" = '0 1 1 1' ]
	[[ $(value reward_std) == 0.57735026918* ]] # of 1, 1 and 0, over the batch
	[ "$(value frac_reward_zero_std) $(value usage/prompt_tokens) $(value mismatch_kl)" = '1 null null' ]
	[ "$(status tools) $(status reward) $(status logprobs) $(status kl) $(status advantages) $(status groups)" = 'ok ok unknown unknown fail ok' ]
	[ "$(jq -r 'select(.type == "task") | .task' <<<"$output")" = '' ]
	expect 0 rolldbg stats --json --by task hole.jsonl lake
	[ "$(jq -r 'select(.type == "task") | [.task, .rollouts, .reward] | @tsv' <<<"$output")" = $'hole\t1\t0\nlake\t2\t1' ]
	[ "$(tail -n 1 <<<"$output")" = '{"type":"summary","rollouts":3,"ok":3,"fail":1,"unknown":2}' ]
	# neither the order of the files matters, nor reading them as one stream
	before=$output
	cat lake/*.jsonl hole.jsonl | { expect 0 rolldbg stats --json --by task -; [ "$output" = "$before" ]; }
}

@test "stats: the names of TRL and of verl" {
	rolldbg run --quiet --task lake --group-size 2 --out lake.jsonl
	expect 0 rolldbg stats --json lake.jsonl
	trl=$(jq -c 'select(.type == "metrics") | keys' <<<"$output")
	[ "$(value tools/call_frequency) $(value tools/failure_frequency) $(value reward_std)" = '6 0 0' ]
	expect 0 rolldbg stats --json --names trl lake.jsonl
	[ "$(jq -c 'select(.type == "metrics") | keys' <<<"$output")" = "$trl" ]
	expect 0 rolldbg stats --json --names verl lake.jsonl
	[ "$(value tool_call_counts/mean) $(value critic/rewards/mean) $(value critic/rewards/max) $(value reward)" = '6 1 1 null' ]
	expect 0 rolldbg stats --names verl lake.jsonl
	has "$output" 'critic/rewards/mean '
	expect 2 rolldbg stats --names trainer lake.jsonl
}

@test "stats: failures are counted by kind" {
	expect 1 rolldbg run --quiet --env 'builtin:frozen_lake?fault=fallback-session&max_envs=3' --actions DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT --out broken.jsonl
	expect 1 rolldbg run --quiet --group-size 4 --env 'builtin:frozen_lake?max_envs=2&delay=100ms' --actions DOWN,UP --jobs 4 --out full.jsonl
	expect 0 rolldbg stats --json broken.jsonl
	[ "$(value failed) $(value tools/failure_frequency) $(value effective)" = '3 0.5 null' ]
	expect 0 rolldbg stats --json full.jsonl
	[ "$(value rollouts) $(value stop_condition/refused) $(value has_error)" = '4 2 0.5' ]
	[ "$(status groups)" = fail ]
	expect 0 rolldbg stats full.jsonl
	has "$output" 'fail     groups      complete: 0 of 1 group'
	lacks "$output" 'stop_condition/failed'
}

@test "stats: log-probabilities, and the trainer's" {
	expect 0 rolldbg stats --json --trainer-logprobs "$kl/good-near.trainer" "$kl/good-near.jsonl"
	[ "$(status logprobs) $(status kl)" = 'ok ok' ]
	[ "$(value parse_source/native)" = 6 ]
	expect 0 rolldbg stats --json --trainer-logprobs "$kl/bad-apart.trainer" "$kl/bad-apart.jsonl"
	[ "$(status kl)" = fail ]
	expect 0 rolldbg stats --json --trainer-logprobs "$kl/bad-not-comparable.trainer" "$kl/bad-not-comparable.jsonl"
	[ "$(status kl)" = unknown ]
	for name in all-zero padding positive; do
		expect 0 rolldbg stats --json "$kl/../logprob-range/bad-$name.jsonl"
		[ "$(status logprobs)" = fail ]
	done
}

@test "stats: invalid input" {
	: >empty.jsonl
	expect 3 rolldbg stats empty.jsonl
	has "$stderr" 'empty.jsonl: contains no recording'
	expect 3 rolldbg stats nowhere
	expect 3 rolldbg stats
	expect 3 rolldbg stats --trainer-logprobs nowhere "$kl/good-near.jsonl"
	expect 2 rolldbg stats --by rollout "$kl/good-near.jsonl"
	head -n 3 "$kl/good-near.jsonl" | tail -n 1 >headless.jsonl
	expect 3 rolldbg stats headless.jsonl
	has "$stderr" 'headless.jsonl:1: '
	# an incomplete rollout is counted as such
	head -n 3 "$kl/good-near.jsonl" >torn.jsonl
	expect 0 rolldbg stats --json torn.jsonl
	[ "$(value stop_condition/incomplete) $(value has_error)" = '1 1' ]
}

# merge_parts SIZE..: merging the partial results of groups of that many files gives the same bytes as all files at once.
merge_parts() {
	local at=0 part=0
	rm -f part.*
	for n; do
		rolldbg stats --partial "${more[@]}" "${files[@]:at:n}" >part.$part
		at=$((at + n))
		part=$((part + 1))
	done
	[ $at = ${#files[@]} ]
	for how in --json --csv '--by=task'; do
		rolldbg stats $how "${more[@]}" "${files[@]}" >whole
		rolldbg stats $how --merge part.* >merged
		cmp whole merged
	done
	rolldbg stats --partial "${more[@]}" "${files[@]}" >whole
	rolldbg stats --partial --merge part.* | cmp - whole
}

@test "stats --partial, --merge: the same bytes as the whole" {
	# rewards sensitive to rounding, repeated samples, rollouts without a task
	mapfile -t files < <(grep -l '"end"' "$root"/fixtures/check/*/good-*.jsonl | head -n 40)
	for i in 0 1 2 3; do
		rolldbg run --quiet --task lake --group-size 3 --seed $i --policy random:$i --max-turns 9 --fail-on never --out - >run.$i 2>/dev/null
		jq -c "if .type == \"end\" then .total_reward = 0.$i / 3 else . end" run.$i >run.$i.jsonl
		files+=("run.$i.jsonl")
	done
	more=()
	merge_parts 10 10 10 10 2 2
	merge_parts 1 42 1
	files=("$kl"/good-near.jsonl "$kl"/bad-apart.jsonl "$kl"/good-older-shape.jsonl)
	more=(--trainer-logprobs "$kl/good-near.trainer")
	merge_parts 1 1 1
	expect 0 rolldbg stats --json --merge part.*
	[ "$(value mismatch_kl)" != null ]
}

@test "stats --merge: a partial result that is counted twice is named" {
	rolldbg run --quiet --task a --out a.jsonl
	rolldbg run --quiet --task b --out b.jsonl
	rolldbg stats --partial a.jsonl >part.a
	rolldbg stats --partial b.jsonl >part.b
	expect 0 rolldbg stats --merge part.a part.b
	[ -z "$stderr" ]
	cp part.a copy
	expect 0 rolldbg stats --merge part.a part.b copy part.b
	has "$stderr" 'copy has the same bytes as part.a: the same rollouts are counted twice'
	has "$stderr" 'part.b is given twice: the same rollouts are counted twice'
}

@test "stats --merge: not a partial result" {
	rolldbg run --quiet --out a.jsonl
	expect 3 rolldbg stats --merge a.jsonl
	has "$stderr" 'a.jsonl:1: not a partial result of stats'
	rolldbg stats --partial a.jsonl >part
	head -n 1 part >short
	expect 3 rolldbg stats --merge part short
	has "$stderr" 'short:1: the file ends 1 task early'
	sed '1s/"partial":3/"partial":9/' part >newer
	expect 3 rolldbg stats --merge newer
	has "$stderr" 'newer:1: a partial result of version 9, not 3'
	sed '2s/"sums":\[/&1,/' part >odd
	expect 3 rolldbg stats --merge odd
	has "$stderr" 'odd:2: not a task of a partial result of stats'
	: >empty
	expect 3 rolldbg stats --merge empty
	expect 2 rolldbg stats --merge
	expect 2 rolldbg stats --partial --json a.jsonl
}

@test "stats --compare: metrics that differ by more than noise" {
	rolldbg run --quiet --task lake --group-size 8 --out before/
	rolldbg run --quiet --task lake --group-size 8 --actions RIGHT,DOWN --out after/
	expect 0 rolldbg stats --compare before after
	has "$output" 'reward                               1           0          -1  -1 .. -1                  less'
	has "$output" '1 task in both, 1 differs by more than noise'
	expect 0 rolldbg stats --compare --json before before
	[ "$(jq -r 'select(.scope == "all") | .verdict' <<<"$output" | sort -u)" = $'noise\nunknown' ]
	[ "$(jq -c 'select(.type == "comparison") | [.tasks, .tasks_changed]' <<<"$output")" = '[1,0]' ]
	expect 0 rolldbg stats --compare --json --by task before after
	[ "$(jq -r 'select(.scope == "task" and .metric == "num_turns/mean") | .verdict' <<<"$output")" = less ]
	rolldbg stats --partial before >b
	rolldbg stats --partial after >a
	rolldbg stats --compare before after >direct
	rolldbg stats --compare --merge b a | cmp - direct
	expect 2 rolldbg stats --compare before
	has "$stderr" '--compare needs two operands: BEFORE AFTER'
}

@test "stats --by task: columns are aligned by terminal cells" {
	rolldbg run --quiet --task 冰湖 --out wide.jsonl
	rolldbg run --quiet --task lake --out plain.jsonl
	expect 0 rolldbg stats --by task wide.jsonl plain.jsonl
	has "$output" 'lake                             1        6'
	has "$output" '冰湖                             1        6'
}

@test "stats --csv: one line for all, one per task, quoted where needed" {
	rolldbg run --quiet --task x --out a.jsonl
	sed -i 's/{"id":"x"}/{"id":"a \\"b\\", c"}/' a.jsonl
	expect 0 rolldbg stats --csv --by task a.jsonl
	[ "${#lines[@]}" = 3 ]
	has "${lines[0]}" 'scope,task,rollouts,tasks,stop_condition/terminated,'
	has "${lines[1]}" 'task,"a ""b"", c",1,1,1,'
	has "${lines[2]}" 'all,,1,1,1,'
	[ "$(tr -cd , <<<"${lines[0]}" | wc -c)" = "$(tr -cd , <<<"${lines[2]}" | wc -c)" ]
	expect 0 rolldbg stats --csv --compare a.jsonl a.jsonl
	has "${lines[0]}" 'scope,task,metric,before,'
}
