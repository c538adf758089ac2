#!/usr/bin/env bats
# fixtures/cluster: Ray on two local workers, one of which is killed in the middle, and the manifest of Kubernetes.
# spark.bats and tests/interop-slurm have the others.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
load ../cli/lib

python=$root/.deps/interop/cluster/bin/python

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit
	for n in $(seq 12); do
		printf '{"id":"t%d","seed":%d,"policy":"random:%d","max_turns":9}\n' "$n" "$n" "$n"
	done >tasks.jsonl
	"${ROLLDBG:-$root/rolldbg}" run --quiet --tasks tasks.jsonl -g 2 --out one/ --fail-on never >/dev/null
}

# same_as_one DIR: it has the rollouts of one machine.
same_as_one() {
	for f in "$BATS_FILE_TMPDIR"/one/*; do
		cmp <(rolldbg strip "$f") <(rolldbg strip "$1/${f##*/}")
	done
	[ "$(find "$1" -name '*.jsonl' | wc -l)" = 24 ]
}

@test "Ray: a task for each shard, one killed" {
	mkdir calls
	export CALLS=$PWD/calls PROGRAM=$ROLLDBG
	ROLLDBG=$root/tests/interop/dies_once run --separate-stderr "$python" "$root/fixtures/cluster/ray_run.py" "$PWD/parts" 4 \
		--tasks "$BATS_FILE_TMPDIR/tasks.jsonl" -g 2
	[ "$status" = 0 ]
	[ -d calls/killed ]
	has "$output" '4 of 4 shards complete · 12 of their 12 tasks done'
	same_as_one parts
	has "$output" "$(rolldbg check parts | tail -n 3)"
}

@test "Kubernetes: the manifest is valid by the schema, and its command is that of each shard" {
	manifest=$root/fixtures/cluster/kubernetes.yaml
	expect 0 "$python" -m kubernetes_validate --strict "$manifest"
	sed 's/completionMode/completionmode/' "$manifest" >wrong.yaml
	expect 1 "$python" -m kubernetes_validate --strict wrong.yaml
	has "$stderr$output" completionmode
	start world "$ROLLDBG" serve --port 0
	cp "$BATS_FILE_TMPDIR/tasks.jsonl" .
	"$python" -c '
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))["spec"]
print(job["completions"])
print(*job["template"]["spec"]["containers"][0]["command"], sep="\n")' "$manifest" | sed "s|/data/|$PWD/|; s|http://environment:8000/mcp|$url|" >job
	mapfile -t command < <(sed 1d job)
	for index in $(seq 0 $(($(head -n 1 job) - 1))); do
		expect 0 env JOB_COMPLETION_INDEX="$index" "$ROLLDBG" "${command[@]:1}"
	done
	expect 0 rolldbg list --missing recordings
	has "$output" "$(head -n 1 job) of $(head -n 1 job) shards complete · 12 of their 12 tasks done"
}
