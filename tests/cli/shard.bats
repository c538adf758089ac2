#!/usr/bin/env bats
# Work divided among machines: run --shard and list --missing, partial results and their merge.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
# shellcheck disable=SC2012,SC2086,SC2231 # names of our own, without blanks
load lib

write_tasks() {
	local i
	for i in $(seq "$1"); do
		printf '{"id":"t%d","seed":%d,"policy":"random:%d","max_turns":6}\n' "$i" "$i" "$i"
	done >tasks.jsonl
}

@test "the shards of a run record together what one machine records" {
	write_tasks 9
	expect 0 rolldbg run --quiet --tasks tasks.jsonl -g 2 --out one/
	for i in 1 2 3; do
		expect 0 rolldbg run --quiet --tasks tasks.jsonl -g 2 --out parts/ --shard $i/3
	done
	[ "$(ls one)" = "$(ls -I "*manifest*" parts)" ]
	for f in one/*; do
		cmp <(rolldbg strip "$f") <(rolldbg strip "parts/${f#one/}")
	done
	expect 0 rolldbg list --missing parts
	[ "$output" = '3 of 3 shards complete · 9 of their 9 tasks done' ]
	# anybody can compute the shard of a task
	python3 -c 'import hashlib, sys
for t in sys.argv[1:]: print(t, int(hashlib.sha256(t.encode()).hexdigest()[:16], 16) % 3 + 1)' t{1..9} >shards
	while read -r task shard; do
		has "$(cat "parts/shard-$shard-of-3.manifest")" "\"$task.0.jsonl\""
	done <shards
}

@test "what is missing: no manifest, tasks that failed, files that changed, manifests that lie" {
	write_tasks 6
	for i in 1 2; do
		expect 0 rolldbg run --quiet --tasks tasks.jsonl --out parts/ --shard $i/3
	done
	expect 4 rolldbg run --quiet --tasks tasks.jsonl --out parts/ --shard 3/3 --env http://127.0.0.1:9/mcp
	lost=$(jq -r '.missing[0].task' parts/shard-3-of-3.manifest)
	rm parts/shard-1-of-3.manifest # its worker died
	expect 1 rolldbg list --missing parts
	has "$output" 'shard 1/3: no manifest'
	has "$output" "shard 3/3: task $lost: unreachable"
	has "$output" 'resubmit 1,3'
	expect 1 rolldbg list --missing parts --json
	[ "$(jq -r 'select(.type == "shards") | .resubmit' <<<"$output")" = 1,3 ]
	for i in 1 3; do
		expect 0 rolldbg run --quiet --tasks tasks.jsonl --out parts/ --shard $i/3 --force
	done
	expect 0 rolldbg list --missing parts
	cp parts/shard-2-of-3.manifest kept
	file=$(jq -r '.files[0].file' kept)
	cp "parts/$file" file
	sed -i '$d' "parts/$file"
	expect 1 rolldbg list --missing parts
	has "$output" "shard 2/3: $file: is not what the shard recorded"
	rm "parts/$file"
	expect 1 rolldbg list --missing parts
	has "$output" "shard 2/3: $file: cannot be read"
	cp file "parts/$file"
	sed 's/"done":[0-9]*/"done":99/' kept >parts/shard-2-of-3.manifest
	expect 1 rolldbg list --missing parts
	has "$output" 'contradicts itself'
	jq -c '.files[0].file = "../kept"' kept >parts/shard-2-of-3.manifest
	expect 1 rolldbg list --missing parts
	has "$output" '../kept: cannot be read'
	# manifests that cannot be used
	cut -c 1-80 kept >parts/shard-2-of-3.manifest
	expect 3 rolldbg list --missing parts
	has "$stderr" 'is no manifest'
	jq -c '.shard = 4' kept >parts/shard-2-of-3.manifest
	expect 3 rolldbg list --missing parts
	has "$stderr" 'there is no shard 4 of 3'
	jq -c '.shard = 1' kept >parts/shard-2-of-3.manifest
	expect 3 rolldbg list --missing parts
	has "$stderr" 'shard 1/3 again: shard-1-of-3.manifest is the same one'
	jq -c '.of = 5' kept >parts/shard-2-of-3.manifest
	expect 3 rolldbg list --missing parts
	has "$stderr" 'not of the same division as shard-1-of-3.manifest'
	mkdir empty
	expect 3 rolldbg list --missing empty
	expect 3 rolldbg list --missing nowhere
	expect 2 rolldbg list --missing parts --prune 1d
}

@test "--shard needs a place for the manifest, and a number that exists" {
	write_tasks 3
	expect 2 rolldbg run --tasks tasks.jsonl --shard 1/2
	has "$stderr" '--shard needs --out FILE or DIR/'
	expect 2 rolldbg run --tasks tasks.jsonl --shard 1/2 --out -
	for wrong in 0/2 3/2 2 x/2 1/0 /2 1/ auto/0 1/99999999; do
		expect 2 rolldbg run --tasks tasks.jsonl --out d/ --shard "$wrong"
		has "$stderr" "--shard: expected I/N"
	done
	[ ! -e d ]
	# more shards than tasks: an empty one is complete
	for i in 1 2 3 4 5 6 7 8; do
		expect 0 rolldbg run --quiet --tasks tasks.jsonl --out "$i.jsonl" --shard $i/8
	done
	expect 0 rolldbg list --missing .
	has "$output" '8 of 8 shards complete · 3 of their 3 tasks done'
	# without a file of tasks there is one task
	expect 0 rolldbg run --quiet --out a/ --shard 1/2
	expect 0 rolldbg run --quiet --out a/ --shard 2/2
	[ "$(find a -name '*.jsonl' | wc -l)" = 1 ]
}

@test "--shard auto: Slurm's array, Kubernetes' indexed job, RANK" {
	write_tasks 3
	run_auto() {
		rm -rf d
		expect "$1" env "${@:2}" "$ROLLDBG" run -v --tasks tasks.jsonl --out d/ --shard "${auto:-auto}"
	}
	run_auto 0 SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4
	has "$stderr" 'shard 2 of 4, from SLURM_ARRAY_TASK_ID'
	run_auto 0 SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 RANK=3 WORLD_SIZE=4
	has "$stderr" 'shard 1 of 4, from SLURM_ARRAY_TASK_ID'
	run_auto 0 RANK=3 WORLD_SIZE=4
	has "$stderr" 'shard 4 of 4, from RANK'
	auto=auto/8 run_auto 0 JOB_COMPLETION_INDEX=7
	has "$stderr" 'shard 8 of 8, from JOB_COMPLETION_INDEX'
	run_auto 0 JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=2
	run_auto 2 JOB_COMPLETION_INDEX=0
	has "$stderr" 'but not JOB_COMPLETIONS'
	run_auto 2
	has "$stderr" 'this is no job of an array'
	run_auto 2 RANK=4 WORLD_SIZE=4
	run_auto 2 RANK=one WORLD_SIZE=4
	# an array with gaps is a resubmission: its count is not the number of shards
	run_auto 2 SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=5
	# shellcheck disable=SC2016 # as a script has it
	has "$stderr" 'use --shard $SLURM_ARRAY_TASK_ID/N'
}

# recordings of many kinds in files.txt: samples that occur twice, groups over several files, rewards sensitive to rounding,
# findings of all rules
write_recordings() {
	local i rule
	cp -R "$BATS_FILE_TMPDIR/all" . 2>/dev/null && return
	mkdir all
	for i in 0 1 2 3 4 5; do
		rolldbg run --quiet --task lake --group-size 3 --seed $i --policy random:$i --max-turns 9 --fail-on never --out - 2>/dev/null |
			jq -c "if .type == \"end\" then .total_reward = 0.$i / 3 else . end" >all/run.$i.jsonl
	done
	rolldbg run --quiet --task solo -g 4 --out all/ --fail-on never
	for i in "$root"/fixtures/check/*/bad-*.jsonl; do
		rule=${i%/*}
		cp "$i" "all/${rule##*/}-${i##*/}"
	done
	cp -R all "$BATS_FILE_TMPDIR"
}

@test "stats: six random partitions, merged in any order, give the bytes of one machine" {
	write_recordings
	for how in --json '--by task'; do
		rolldbg stats $how all >"whole$how"
	done
	for seed in 1 2 3 4 5 6; do
		mkdir part.$seed
		ls all/*.jsonl | awk -v seed=$seed 'BEGIN { srand(seed) } { print > ("part." seed "/" int(rand() * 5)) }'
		for list in part.$seed/?; do
			xargs -a "$list" "$ROLLDBG" stats --partial >"$list.partial"
		done
		for how in --json '--by task'; do
			# shellcheck disable=SC2046 # one word each
			rolldbg stats $how --merge $(ls part.$seed/*.partial | shuf --random-source=<(yes $seed)) | cmp - "whole$how"
		done
	done
}

@test "stats --shard: each shard once, or the merge fails" {
	write_recordings
	for n in 1 2 3; do
		rolldbg stats --shard $n/3 --partial all >s$n
	done
	rolldbg stats --json all >whole
	rolldbg stats --json --merge s3 s1 s2 | cmp - whole
	expect 3 rolldbg stats --merge s1 s3
	has "$stderr" 'the partial result of shard 2/3 is missing'
	expect 3 rolldbg stats --merge s1 s2 s3 s2
	has "$stderr" 'shard 2/3 again'
	rolldbg stats --shard 1/2 --partial all >other
	expect 3 rolldbg stats --merge s1 s2 other
	has "$stderr" 'not of the same division'
	rolldbg stats --partial all >other
	expect 3 rolldbg stats --merge s1 s2 other
	sed '1s/"shard":2/"shard":9/' s2 >lie
	expect 3 rolldbg stats --merge s1 lie s3
	sed '1s/"of":3/"of":9000000000000000000/' s2 >lie
	expect 3 rolldbg stats --merge lie
	has "$stderr" 'lie:1: of 9000000000000000000 shards: the most are 1000000'
	head -c -100 s2 >torn
	expect 3 rolldbg stats --merge s1 torn s3
	expect 2 rolldbg stats --shard 1/3 all
	has "$stderr" '--shard needs --partial'
}

# judge_whole NAME OPTION..: check of all recordings, in each form, to NAME.FORM
forms() {
	local name=$1
	shift
	rolldbg check "$@" >"$name.table" || true
	rolldbg check --json "$@" >"$name.json" || true
	rolldbg check --report junit:"$name.junit" --report sarif:"$name.sarif" "$@" >/dev/null || true
}

same_forms() {
	local form
	for form in table json junit sarif; do
		cmp "$1.$form" "$2.$form"
	done
}

@test "check: six random partitions, merged in any order, give the bytes of one machine" {
	write_recordings
	forms whole all
	[ "$(grep -c . whole.table)" -gt 50 ]
	for seed in 1 2 3 4 5 6; do
		count=$((seed + 1))
		for n in $(seq $count); do
			rolldbg check --partial --shard $n/$count all >part.$seed.$n
		done
		mapfile -t parts < <(ls part.$seed.* | shuf --random-source=<(yes $seed))
		forms merged --merge "${parts[@]}"
		same_forms whole merged
	done
	# files divided by other means, named in their order
	printf '%s\n' all/*.jsonl >list
	split -n l/4 list list.
	for n in list.??; do
		xargs -a $n "$ROLLDBG" check --partial >$n.partial
	done
	forms merged --merge list.*.partial
	same_forms whole merged
}

@test "check --merge needs no recording, however many calls and rollouts it has" {
	rolldbg run --quiet --task lake -g 2 --max-turns 9 --policy random:1 --fail-on never --out - 2>/dev/null >one.jsonl
	jq -es 'map(select(.type == "step")) | length > 10' one.jsonl
	mkdir all
	awk '{ line[NR] = $0 }
		END { for (n = 1; n <= 2100; n++) for (i = 1; i <= NR; i++) {
			text = line[i]
			gsub(/"lake/, "\"lake-" n, text)
			gsub(/session":"/, "&" n "-", text)
			print text
		} }' one.jsonl >all/many.jsonl
	cp "$root"/fixtures/check/timeout/bad-*.jsonl all
	forms whole all
	has "$(cat whole.table)" '4202 rollouts'
	rolldbg check --partial --shard 1/2 all >s1
	rolldbg check --partial --shard 2/2 all >s2
	rm -r all
	forms merged --merge s2 s1
	same_forms whole merged
}

@test "check --merge: a shard twice, one missing, one torn, other options" {
	write_recordings
	for n in 1 2 3; do
		expect 0 rolldbg check --partial --shard $n/3 all
		rolldbg check --partial --shard $n/3 all >s$n
	done
	expect 1 rolldbg check --merge s2 s3 s1
	expect 0 rolldbg check --merge s2 s3 s1 --fail-on never
	expect 3 rolldbg check --merge s1 s3
	has "$stderr" 'the partial result of shard 2/3 is missing'
	expect 3 rolldbg check --merge s1 s2 s3 s2
	has "$stderr" 'shard 2/3 again'
	head -n -1 s2 >torn
	expect 3 rolldbg check --merge s1 torn s3
	has "$stderr" 'the file ends 1 files early'
	head -c -100 s2 >torn
	expect 3 rolldbg check --merge s1 torn s3
	expect 3 rolldbg check --merge s1 s2 s3 --only loop
	has "$stderr" 'judged with other options'
	expect 3 rolldbg check --merge all/run.0.jsonl
	sed 's/"numbers":\[/"numbers":[9,/; s/"path":"[^"]*"/"path":"gone"/' s2 >lie
	expect 3 rolldbg check --merge s1 lie s3
	has "$stderr" 'the partial result of gone has no verdicts that can be read: write it again'
	for wrong in '--partial --merge' '--partial --json' '--shard 1/2' '--merge --html x.html'; do
		# shellcheck disable=SC2086 # several words
		expect 2 rolldbg check $wrong s1
	done
	expect 2 rolldbg check --merge
}
