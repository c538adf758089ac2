#!/usr/bin/env bats
# Many rollouts: tasks, groups, jobs, directories, refusals, interrupts.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# write_tasks N: writes N tasks to tasks.jsonl.
write_tasks() {
	local i
	for i in $(seq "$1"); do
		printf '{"id":"t%d","seed":%d,"vars":{"size":%d.0},"policy":"random:%d","max_turns":12}\n' "$i" "$i" "$i" "$i"
	done >tasks.jsonl
}

@test "the same bytes whatever --jobs is: random policies, tasks, groups" {
	write_tasks 6
	for jobs in 1 8 64; do
		expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=64' --tasks tasks.jsonl --group-size 6 --jobs $jobs --out $jobs.jsonl
		rolldbg strip $jobs.jsonl >$jobs.stripped
		expect 0 rolldbg check $jobs.jsonl
	done
	[ "$(grep -c '"type":"end"' 1.stripped)" = 36 ]
	cmp 1.stripped 8.stripped
	cmp 1.stripped 64.stripped
}

# Eight rollouts of six calls send at least 120 requests; rereads are limited to a tenth of that.
@test "a batch rereads some states, a single rollout none" {
	for jobs in 1 8; do
		expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=8' --actions DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT --group-size 8 --jobs $jobs \
			--out $jobs.jsonl
		jq -c 'select(.event == "state-reread") | [.rollout, .turn]' $jobs.jsonl >$jobs.read
		expect 0 rolldbg check $jobs.jsonl
	done
	[ ! -s 1.read ]
	[ "$(wc -l <8.read)" -le 12 ]
	[ -z "$(cut -d, -f 1 8.read | sort | uniq -c | awk '$1 > 2')" ]
	[ "$(jq -c 'select(.detail.quiet) | .turn' 8.jsonl)" = 1 ] # read while the other rollouts waited
	[ "$(rolldbg strip 8.jsonl | grep -c state-reread)" = 0 ]
}

@test "a task's settings override the options, and its variables are in the header" {
	cat >tasks.jsonl <<-'END'
		{"id":"plain"}
		{"id":7,"seed":3,"actions":["DOWN","DOWN"],"vars":{"big":9007199254740993,"text":"é"}}

		{"id":"two words","actions":"RIGHT","max_turns":1,"state":"none"}
	END
	expect 0 rolldbg run --tasks tasks.jsonl --actions LEFT,RIGHT --seed 5 --out a.jsonl
	jq -c 'select(.type == "header") | del(.task.vars.big) | [.rollout, .seed, .task, .state_source.kind]' a.jsonl >headers
	diff headers - <<-'END'
		["plain.0",5,{"id":"plain"},"control-plane"]
		["7.0",3,{"id":"7","vars":{"text":"é"}},"control-plane"]
		["two_words.0",5,{"id":"two_words"},"none"]
	END
	grep -q '"vars":{"big":9007199254740993,' a.jsonl
	[ "$(jq -r 'select(.type == "step") | .rollout + " " + .tool_call.arguments.action' a.jsonl | paste -sd, -)" = \
		'plain.0 LEFT,plain.0 RIGHT,7.0 DOWN,7.0 DOWN,two_words.0 RIGHT' ]
}

@test "reset arguments: --reset-json, or the task's own, recorded in the header" {
	printf '{"id":"a"}\n{"id":"b","reset":{"row":{"n":1.50}},"actions":["DOWN",[1,2]]}\n' >tasks.jsonl
	rolldbg run --tasks tasks.jsonl --actions DOWN --reset-json ' {"task_id":7}' --force-call --fail-on never --quiet --out a.jsonl
	grep -q '"task":{"id":"a","reset":{"task_id":7}}' a.jsonl
	grep -q '"task":{"id":"b","reset":{"row":{"n":1.50}}}' a.jsonl
	[ "$(jq -c 'select(.rollout == "b.0" and .type == "step") | .tool_call.arguments.action' a.jsonl | paste -sd' ')" = '"DOWN" [1,2]' ]
	rolldbg strip a.jsonl | grep -q '"reset":{"row":{"n":1.50}}'
	expect 2 rolldbg run --reset-json '[1]'
	has "$stderr" '--reset-json is an array, not an object'
	expect 2 rolldbg run --reset-json '{"a":'
	has "$stderr" '--reset-json: not JSON: unexpected end of input at byte 6'
}

@test "an invalid task file: exit 3 with file and line, nothing started" {
	printf '{"id":"a"}\n\n{"id":"b","sede":1}\n' >tasks.jsonl
	expect 3 rolldbg run --tasks tasks.jsonl --out a.jsonl
	has "$stderr" "tasks.jsonl:3: unknown key \"sede\"; did you mean 'seed'?"
	[ ! -e a.jsonl ]
	expect 3 rolldbg run --tasks - --out d/ <<<'{"id":'
	has "$stderr" 'standard input:1:7: '
	[ ! -e d ]
	expect 3 rolldbg run --tasks /dev/null --out a.jsonl
	has "$stderr" '/dev/null: no tasks'
	expect 3 rolldbg run --tasks nowhere.jsonl --out a.jsonl
	has "$stderr" 'nowhere.jsonl: No such file'
	expect 2 rolldbg run --tasks tasks.jsonl --task a
	has "$stderr" '--task and --tasks are mutually exclusive'
}

@test "a task with options that do not fit: its line is named" {
	printf '{"id":"a"}\n{"id":"b","tool":"lake_mvoe","actions":"UP"}\n' >tasks.jsonl
	expect 3 rolldbg run --tasks tasks.jsonl --out a.jsonl
	has "$stderr" 'tasks.jsonl:2: '
	has "$stderr" 'lake_mvoe'
	lacks "$stderr" 'usage:'
	printf '{"id":"a"}\n' >tasks.jsonl
	expect 2 rolldbg run --tasks tasks.jsonl --tool lake_mvoe --actions UP --out b.jsonl
	has "$stderr" 'lake_mvoe'
}

@test "a task with an unusable policy or state source: nothing started" {
	echo '{"kind":' >half.json
	while IFS=$'\t' read -r member said; do
		printf '{"id":"a"}\n{"id":"b",%s}\n' "$member" >tasks.jsonl
		expect 3 rolldbg run --tasks tasks.jsonl --out a.jsonl
		has "$stderr" "tasks.jsonl:2: $said"
		lacks "$stderr" 'usage:'
		[ ! -e a.jsonl ]
	done <<-'END'
		"policy":"missing.json"	policy 'missing.json': no such file
		"policy":"half.json"	policy half.json:2:1: 
		"state":"tool"	"state" tool
		"state":"observaton"	"state": unknown source 'observaton'; did you mean 'observation'?
	END
	printf '{"id":"a"}\n{"id":"b"}\n' >tasks.jsonl
	expect 5 rolldbg run --tasks tasks.jsonl --out /dev/full
	lacks "$stderr" 'tasks.jsonl:'
}

@test "numbers out of range: exit 2" {
	for words in '--jobs 0' '--jobs -1' '--jobs 1.5' '--jobs 10001' '--jobs 99999999999999999999' '--group-size 0' \
		'--group-size 99999999' '--num-generations 0' '--per-device-train-batch-size -8' '--num-processes 18446744073709551616' '--num-generations 1'; do
		# shellcheck disable=SC2086 # splits the option from its value
		expect 2 rolldbg run $words --out a.jsonl
		[ ! -e a.jsonl ]
	done
}

@test "a group: one task and one seed, its size in the header" {
	expect 0 rolldbg run --group-size 3 --jobs 3 --seed 4 --task lake --policy random:9 --max-turns 5 --out a.jsonl
	[ "$(jq -r 'select(.type == "header") | .rollout' a.jsonl | sort | paste -sd ' ' -)" = 'lake.0 lake.1 lake.2' ]
	all_are a.jsonl header '.limits.group_size == 3 and .seed == 4'
	expect 0 rolldbg run --seed 4 --task lake --policy random:9 --max-turns 5 --out alone.jsonl
	all_are alone.jsonl header '.limits | has("group_size") | not'
	# the first sample draws the same actions as a single rollout, the others draw different ones
	actions() {
		jq -r "select(.type == \"step\" and .rollout == \"$2\") | .tool_call.arguments.action" "$1"
	}
	[ "$(actions a.jsonl lake.0)" = "$(actions alone.jsonl lake.0)" ]
	[ "$(actions a.jsonl lake.0)" != "$(actions a.jsonl lake.1)" ]
	[ "$(actions a.jsonl lake.1)" != "$(actions a.jsonl lake.2)" ]
}

@test "--out DIR/: one file per rollout, with safe names" {
	printf '{"id":"../a/b"}\n{"id":"50%%"}\n{"id":"é"}\n' >tasks.jsonl
	expect 0 rolldbg run --tasks tasks.jsonl --group-size 2 --jobs 4 --out d/
	diff <(LC_ALL=C ls d) <(printf '%s\n' '%2E.%2Fa%2Fb.0.jsonl' '%2E.%2Fa%2Fb.1.jsonl' '50%25.0.jsonl' '50%25.1.jsonl' é.0.jsonl é.1.jsonl)
	expect 0 rolldbg check d/*
	[ "$(jq -r 'select(.type == "header") | .rollout' d/%2E.%2Fa%2Fb.1.jsonl)" = '../a/b.1' ]
	# an existing file is not replaced, and no rollout starts
	rm d/é.*
	expect 2 rolldbg run --tasks tasks.jsonl --group-size 2 --out d
	has "$stderr" '.jsonl exists; use --force to overwrite it'
	[ ! -e d/é.0.jsonl ]
	expect 0 rolldbg run --tasks tasks.jsonl --group-size 2 --out d --force
	expect 0 rolldbg run --tasks tasks.jsonl --group-size 2 --out d --append
	[ "$(grep -c '"type":"end"' d/é.1.jsonl)" = 2 ]
	expect 0 rolldbg run --out d
	[ -s d/env.0.jsonl ]
}

@test "--out DIR/: findings name the files of their rollouts" {
	expect 1 rolldbg run --env 'builtin:frozen_lake?fault=no-tools' --group-size 2 --out d/ --json
	[ "$(jq -r 'select(.type == "finding" and .rollout == "env.1") | .file' <<<"$output" | sort -u)" = d/env.1.jsonl ]
}

@test "a server with room for 8 of 64 sessions: the other 56 rollouts are reported" {
	expect 1 rolldbg run --env 'builtin:frozen_lake?max_envs=8&delay=100ms' --group-size 64 --jobs 64 --out a.jsonl
	opened=$(jq -r 'select(.type == "reset" and .outcome == "ok") | .rollout' a.jsonl | wc -l)
	[ "$opened" -lt 64 ]
	has "$output" "$opened of 64 rollouts got an environment · $((64 - opened)) refused"
	has "$output" "error: capacity: $((64 - opened)) findings in all (-v shows each)"
	has "$output" 'error: group-size: task env has '
	[ "$(grep -c '^env.*: error: capacity: ' <<<"$output")" = 1 ]
	all_are a.jsonl end '.status == "terminated" or .status == "refused"'
	expect 1 rolldbg check a.jsonl
	[ "$(grep -c ': error: capacity: the server refused ' <<<"$output")" = 1 ]
	has "$output" "error: capacity: $((64 - opened)) findings in all (-v shows each)"
	expect 1 rolldbg -v check a.jsonl
	[ "$(grep -c ': error: capacity: the server refused ' <<<"$output")" = $((64 - opened)) ]
	lacks "$output" 'findings in all'
	expect 1 rolldbg -v run --env 'builtin:frozen_lake?max_envs=8&delay=100ms' --group-size 64 --jobs 64 --out b.jsonl
	[ "$(grep -c '^env.*: error: capacity: ' <<<"$output")" -gt 3 ]
	lacks "$output" 'more like this'
}

@test "trainer settings: sessions, groups and contradictions" {
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=16' --num-generations 4 --per-device-train-batch-size 4 --gradient-accumulation-steps 2 --num-processes 2 --out a.jsonl
	has "$stderr" 'generation_batch_size 16 = 4 per device x 2 processes x 2 steps: 16 sessions at once, 4 prompts with 4 generations each'
	[ "$(jq -r 'select(.type == "header") | .task.id' a.jsonl | sort | uniq -c | paste -sd ' ' - | tr -s ' ')" = ' 4 env-0 4 env-1 4 env-2 4 env-3' ]
	all_are a.jsonl header '.limits.group_size == 4'
	for given in gradient-accumulation-steps:4:32 num-processes:4:32 num-generations:8:8 generation-batch-size:24:24; do
		IFS=: read -r setting value sessions <<<"$given"
		expect 1 rolldbg run --env 'builtin:frozen_lake?max_envs=1' "--$setting" "$value" --actions DOWN --out b.jsonl --force
		has "$stderr" ": $sessions sessions at once"
	done
	expect 2 rolldbg run --num-generations 6
	has "$stderr" 'must be divisible by num_generations (6)'
	expect 2 rolldbg run --num-generations 8 --jobs 4
	has "$stderr" "--jobs 4 contradicts the trainer settings, which result in 8"
	expect 2 rolldbg run --num-generations 8 --group-size 4
	write_tasks 1
	expect 0 rolldbg run --tasks tasks.jsonl --num-generations 2 --per-device-train-batch-size 4 --out b.jsonl --force
	has "$stderr" 'tasks.jsonl has 1 task, but the trainer uses 2 prompts at once: only 2 sessions will be open'
}

@test "trainer settings: a trainer, its configuration, and evaluation" {
	printf 'num_generations: 2\nper_device_train_batch_size: 2\neval_strategy: steps\nenv:\n  num_processes: 9\n' >grpo.yaml
	echo '{"num_processes": 2}' >accelerate.json
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=16' --trainer-config grpo.yaml --trainer-config accelerate.json --actions DOWN --out a.jsonl
	has "$stderr" 'generation_batch_size 4 = 2 per device x 2 processes x 1 step: 16 sessions at once, 2 prompts with 2 generations each (of these, evaluation needs 16: 8 per device x 2 processes)'
	has "$stderr" 'grpo.yaml:5: not read: num_processes: 9'
	[ "$(grep -c '"type":"header"' a.jsonl)" = 16 ]
	# options come last
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=16' --trainer-config grpo.yaml --eval-strategy no --actions DOWN --out a.jsonl --force
	has "$stderr" ': 2 sessions at once, '
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=16' --trainer-config grpo.yaml --trainer trl-async --actions DOWN --out a.jsonl --force
	has "$stderr" 'max_inflight_tasks 8 = staleness 4 x 2 per device x 1 steps x 1 process: 8 sessions at once'
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=16' --trainer verifiers --max-concurrent 6 --group-size 3 --actions DOWN --out a.jsonl --force
	[ "$(jq -r 'select(.type == "header") | .task.id' a.jsonl | sort | uniq -c | paste -sd ' ' - | tr -s ' ')" = ' 3 env-0 3 env-1' ]
	expect 2 rolldbg run --trainer nemo-gym
	has "$stderr" 'NeMo Gym runs all its samples at once unless --num-samples-in-parallel is given'
	expect 2 rolldbg run --num-generations 0
	has "$stderr" '--num-generations must be at least 1'
	echo 'num_generations: four' >odd.yaml
	expect 3 rolldbg run --trainer-config odd.yaml
	has "$stderr" "odd.yaml:1: num_generations: expected a whole number from 1, got 'four'"
	expect 3 rolldbg run --trainer-config nowhere.yaml
	expect 0 rolldbg probe --env 'builtin:frozen_lake?max_envs=8' --trainer-config grpo.yaml --actions DOWN,DOWN
	has "$output" '; 2 rollouts x 2 turns x '
	has "$output" 'a batch (the trainer never overlaps two calls)'
}

@test "trainer settings: configurations in sections tell the trainer, YAML or TOML, with their parents" {
	printf 'grpo:\n  num_prompts_per_step: 32\n  num_generations_per_prompt: 4\n  val_period: 10\n  val_batch_size: 16\n' >base.yaml
	printf 'defaults: base.yaml\ngrpo:\n  num_prompts_per_step: 2\n  batch_multiplier: 3\n' >child.yaml
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=32' --trainer-config child.yaml --trainer-config base.yaml --eval-strategy no --actions DOWN --generation-batch-size 8 --out a.jsonl
	has "$stderr" 'child.yaml:1: not read: defaults: base.yaml (give that file before this one, with its own --trainer-config)'
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=32' --trainer-config base.yaml --trainer-config child.yaml --actions DOWN --out a.jsonl --force
	has "$stderr" '2 prompts x 4 generations: 16 sessions at once (of these, validation needs 16)'
	has "$stderr" 'child.yaml:4: not read: batch_multiplier: 3'
	lacks "$stderr" defaults
	[ "$(grep -c '"type":"header"' a.jsonl)" = 16 ]
	printf '[orchestrator]\ngroup_size = 2\n\n[orchestrator.concurrency]\nmax_inflight = 4 # at most\n' >rl.toml
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=32' --trainer-config rl.toml --actions DOWN --out a.jsonl --force
	has "$stderr" 'at most max_inflight 4: 4 sessions at once'
	printf 'data:\n  train_batch_size: 2\nactor_rollout_ref:\n  rollout:\n    n: 3\n' >verl.yaml
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=32' --trainer-config verl.yaml --actions DOWN --out a.jsonl --force
	has "$stderr" '2 prompts x 3 generations: 6 sessions at once; a validation without val_batch_size opens one for each of its prompts'
	[ "$(jq -r 'select(.type == "header") | .task.id' a.jsonl | sort | uniq -c | paste -sd ' ' - | tr -s ' ')" = ' 3 env-0 3 env-1' ]
	expect 0 rolldbg run --env 'builtin:frozen_lake?max_envs=32' --trainer trl --trainer-config verl.yaml --actions DOWN --out a.jsonl --force
	has "$stderr" 'verl.yaml:2: not read: train_batch_size: 2'
}

@test "progress: one line on a terminal, nothing in a pipe" {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	cat >run <<-END
		'$ROLLDBG' run --env 'builtin:frozen_lake?delay=100ms' --group-size 12 --jobs 3 --actions DOWN,DOWN --out a.jsonl --force
	END
	for columns in 40 100; do
		NO_COLOR=1 script -qec "stty cols $columns; sh run" /dev/null </dev/null >all
		# each line overwrites the previous one; the last one is erased
		tr '\r' '\n' <all | sed -n 's/^\x1b\[K//p' >shown
		[ "$(grep -c ' of 12 done' shown)" -ge 2 ]
		[ "$(LC_ALL=C.UTF-8 wc -L <shown)" -lt "$columns" ]
	done
	[ "$(grep ' of 12 done' shown | grep -Evc '^[0-9]+ of 12 done · [0-3] running · 0 failed · [0-9]+ steps/s( · 0:0[0-9] left)?$')" = 0 ]
	grep -q 'left$' shown
	expect 0 sh run
	[ -z "$stderr" ]
	lacks "$output" $'\r'
}

@test "unreachable server: reported once, exit 4, every rollout recorded" {
	expect 4 rolldbg run --env http://127.0.0.1:9/mcp --protocol mcp --actions A --group-size 5 --jobs 5 --out a.jsonl
	[ "$(grep -c 'connect' <<<"$stderr")" = 1 ]
	has "$output" '0 of 5 rollouts got an environment · 5 unreachable'
	all_are a.jsonl end '.status == "unreachable"'
}

@test "a full disk stops the batch: exit 5" {
	expect 5 rolldbg run --group-size 50 --jobs 4 --out /dev/full
	has "$stderr" 'No space left on device'
}

four_steps_written() {
	[ "$(grep -c '"type":"step"' a.jsonl)" -ge 4 ]
}

@test "Ctrl-C: open rollouts end as interrupted, their sessions are closed, the others are counted" {
	start lake "$ROLLDBG" serve --port 0 --delay 50ms
	"$ROLLDBG" run --env "$url" --policy random:1 --max-turns 1000 --group-size 40 --jobs 4 --out a.jsonl >out 2>err 3>&- &
	echo $! >run.pid
	wait_for 60 four_steps_written
	kill -INT "$(cat run.pid)"
	status=0
	wait "$(cat run.pid)" || status=$?
	[ "$status" = 130 ]
	grep -Eq '^rolldbg: interrupted: [0-9]+ of 40 rollouts are done, [1-4] were interrupted, [0-9]+ never started$' err
	started=$(grep -c '"type":"header"' a.jsonl)
	[ "$started" -lt 40 ]
	[ "$(grep -c '"type":"end"' a.jsonl)" = "$started" ]
	[ "$(jq -r 'select(.type == "end" and .status == "interrupted") | .rollout' a.jsonl | wc -l)" -ge 1 ]
	# every session was closed: the server accepts as many new ones
	expect 0 rolldbg run --env "$url" --actions RIGHT,RIGHT --group-size 8 --jobs 8 --out b.jsonl
}

@test "too few descriptors: reported before any rollout starts" {
	expect 5 bash -c "ulimit -n 100; exec '$ROLLDBG' run --group-size 200 --jobs 200 --out a.jsonl"
	has "$stderr" '200 concurrent rollouts need about'
	has "$stderr" 'the limit is 100: raise it (ulimit -Hn) or use fewer --jobs'
	[ ! -e a.jsonl ]
	expect 0 bash -c "ulimit -Sn 60; exec '$ROLLDBG' run --env 'builtin:frozen_lake?max_envs=60' --group-size 60 --jobs 60 --out b.jsonl"
}
