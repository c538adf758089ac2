#!/usr/bin/env bats
# fixtures/cluster/slurm.sh on one node of Debian's slurm-wlm, with daemons of its own. Needs root, as slurmd does.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
load ../cli/lib

setup_file() {
	local dir=$BATS_FILE_TMPDIR
	command -v slurmctld >/dev/null || skip 'slurm-wlm is not installed'
	[ "$(id -u)" = 0 ] || skip 'slurmd needs root'
	mkdir "$dir"/{ctl,spool}
	chmod 755 "$dir"
	head -c 1024 /dev/urandom >"$dir/key"
	chmod 600 "$dir/key"
	cat >"$dir/slurm.conf" <<-END
		ClusterName=one
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$dir/munge.socket
		StateSaveLocation=$dir/ctl
		SlurmdSpoolDir=$dir/spool
		SlurmctldPidFile=$dir/ctl.pidfile
		SlurmdPidFile=$dir/d.pidfile
		SlurmctldPort=$((20000 + RANDOM % 10000))
		SlurmdPort=$((30000 + RANDOM % 2000))
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		ReturnToService=2
		NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
	END
	export SLURM_CONF=$dir/slurm.conf
	munged --foreground --force --key-file="$dir/key" --socket="$dir/munge.socket" --pid-file="$dir/m.pidfile" --log-file="$dir/m.log" \
		--seed-file="$dir/seed" >"$dir/munged.out" 2>&1 3>&- &
	echo $! >"$dir/munged.pid"
	sleep 1
	slurmctld -D >"$dir/ctl.out" 2>&1 3>&- &
	echo $! >"$dir/ctl.pid"
	sleep 1
	slurmd -D -N "$(hostname -s)" >"$dir/d.out" 2>&1 3>&- &
	echo $! >"$dir/d.pid"
	for _ in $(seq 50); do
		[[ $(sinfo -h -o %T) == idle ]] && return
		sleep 0.2
	done
	return 1
}

teardown_file() {
	local name pid
	for name in d ctl munged; do
		pid=$(cat "$BATS_FILE_TMPDIR/$name.pid" 2>/dev/null) || continue
		kill "$pid" 2>/dev/null || true
		while kill -0 "$pid" 2>/dev/null; do # it writes to its directory until it has ended
			sleep 0.1
		done
	done
}

# until_file FILE: waits until it has a content.
until_file() {
	for _ in $(seq 300); do
		[ -s "$1" ] && return
		sleep 0.2
	done
	return 1
}

@test "an array with a dependent merge; a part of it submitted again" {
	for n in $(seq 12); do
		printf '{"id":"t%d","seed":%d,"policy":"random:%d","max_turns":9}\n' "$n" "$n" "$n"
	done >'the tasks.jsonl'
	rolldbg run --quiet --tasks 'the tasks.jsonl' -g 2 --out one/ --fail-on never >/dev/null
	parts="it's apart"
	mkdir "$parts"
	submit() {
		sh "$root/fixtures/cluster/slurm.sh" "$PWD/$parts" 4 --tasks "$PWD/the tasks.jsonl" -g 2
	}
	submit
	until_file "$parts/verdict"
	[ "$(head -n 1 "$parts/verdict")" = '4 of 4 shards complete · 12 of their 12 tasks done' ]
	for f in one/*; do
		cmp <(rolldbg strip "$f") <(rolldbg strip "$parts/${f#one/}")
	done
	expect 0 submit
	[ "$output" = "slurm.sh: nothing is missing in $PWD/$parts" ]
	rm "$parts"/shard-[13]-of-4.manifest # two workers died
	expect 1 rolldbg list --missing "$parts"
	[ "$(sed -n 's/^resubmit //p' <<<"$output")" = 1,3 ]
	submit
	until_file "$parts/verdict"
	[ "$(head -n 1 "$parts/verdict")" = '4 of 4 shards complete · 12 of their 12 tasks done' ]
}
