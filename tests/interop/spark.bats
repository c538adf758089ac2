#!/usr/bin/env bats
# fixtures/cluster on Spark with two local workers, one of which is killed in the middle: the result is that of one machine.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
load ../cli/lib

venv=$root/.deps/interop/cluster

spark() {
	PYSPARK_PYTHON=$venv/bin/python ROLLDBG=$1 "$venv/bin/spark-submit" --master 'local[2,4]' "$root/fixtures/cluster/$2" "${@:3}" >spark.log 2>&1
}

@test "files over two workers, one killed" {
	mkdir calls
	export CALLS=$PWD/calls PROGRAM=$ROLLDBG
	files=("$root"/fixtures/check/*/*-*.jsonl)
	rolldbg check --json "${files[@]}" >one.check 2>/dev/null || true
	rolldbg stats --json "${files[@]}" >one.stats 2>/dev/null
	spark "$root/tests/interop/dies_once" spark.py out "${files[@]}" || [ $? = 1 ]
	[ -d calls/killed ]
	cmp one.check out.check.jsonl
	cmp one.stats out.stats.jsonl
}

@test "the lines of a rollout meet, wherever they are" {
	for n in 1 2 3; do
		rolldbg run --quiet --task t$n --seed $n -g 8 --policy random:$n --max-turns 9 --fail-on never --out $n.jsonl
	done
	# interleaved: every rollout in order, no two lines of one beside each other
	paste -d '\n' 1.jsonl 2.jsonl 3.jsonl | grep . >all.jsonl
	spark "$ROLLDBG" spark_lines.py out all.jsonl
	rolldbg stats --json all.jsonl | cmp - out.stats.jsonl
}
