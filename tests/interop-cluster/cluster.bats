#!/usr/bin/env bats
# fixtures/cluster on two local workers, one of which is killed in the middle: the result is that of one machine.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
load ../cli/lib

venv=$root/.deps/interop-cluster/venv

setup_file() {
	export PYSPARK_PYTHON=$venv/bin/python
}

# killing: makes ./rolldbg, whose second call dies with the worker that made it, once.
killing() {
	mkdir calls
	cat >killing <<-END
		#!/bin/sh
		mktemp -p '$PWD/calls' call.XXXXXX >/dev/null
		if [ "\$(find '$PWD/calls' -name 'call.*' | wc -l)" -ge 2 ] && mkdir '$PWD/calls/killed' 2>/dev/null; then
			kill -9 \$PPID
			exit 1
		fi
		exec '$ROLLDBG' "\$@"
	END
	chmod +x killing
}

spark() {
	command -v java >/dev/null || skip 'no Java runtime'
	PYSPARK_PYTHON=$venv/bin/python ROLLDBG=$1 "$venv/bin/spark-submit" --master 'local[2,4]' "$root/fixtures/cluster/$2" "${@:3}" >spark.log 2>&1
}

@test "Spark: files over two workers, one killed" {
	killing
	files=("$root"/fixtures/check/*/*-*.jsonl)
	rolldbg check --json "${files[@]}" >one.check 2>/dev/null || true
	rolldbg stats --json "${files[@]}" >one.stats 2>/dev/null
	spark "$PWD/killing" spark.py out "${files[@]}" || [ $? = 1 ]
	[ -d calls/killed ]
	cmp one.check out.check.jsonl
	cmp one.stats out.stats.jsonl
}

@test "Spark: the lines of a rollout meet, wherever they are" {
	for n in 1 2 3; do
		rolldbg run --quiet --task t$n --seed $n -g 8 --policy random:$n --max-turns 9 --fail-on never --out $n.jsonl
	done
	# interleaved: every rollout in order, no two lines of one beside each other
	paste -d '\n' 1.jsonl 2.jsonl 3.jsonl | grep . >all.jsonl
	spark "$ROLLDBG" spark_lines.py out all.jsonl
	rolldbg stats --json all.jsonl | cmp - out.stats.jsonl
}

@test "Ray: a task for each shard, one killed" {
	killing
	for n in $(seq 12); do
		printf '{"id":"t%d","seed":%d,"policy":"random:%d","max_turns":9}\n' "$n" "$n" "$n"
	done >tasks.jsonl
	ROLLDBG=$PWD/killing run --separate-stderr "$venv/bin/python" "$root/fixtures/cluster/ray_run.py" "$PWD/parts" 4 --tasks "$PWD/tasks.jsonl" -g 2
	[ "$status" = 0 ]
	[ -d calls/killed ]
	has "$output" '4 of 4 shards complete · 12 of their 12 tasks done'
	rolldbg run --quiet --tasks tasks.jsonl -g 2 --out one/ --fail-on never >/dev/null
	for f in one/*; do
		cmp <(rolldbg strip "$f") <(rolldbg strip "parts/${f#one/}")
	done
	has "$output" "$(rolldbg check parts | tail -n 3)"
}
