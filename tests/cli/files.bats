#!/usr/bin/env bats
# Recordings and policies on disk: where they go, what is refused, the result of a full disk.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

onto_full() {
	"$ROLLDBG" "$@" >/dev/full
}

@test "--out refuses to overwrite; --force replaces, --append appends" {
	expect 0 rolldbg run --quiet --out a.jsonl
	cp a.jsonl kept
	expect 2 rolldbg run --quiet --out a.jsonl
	has "$stderr" a.jsonl
	has "$stderr" --force
	cmp a.jsonl kept
	expect 0 rolldbg run --quiet --out a.jsonl --append --task more
	[ "$(head -n 9 a.jsonl)" = "$(cat kept)" ]
	[ "$(wc -l <a.jsonl)" = 18 ]
	expect 0 rolldbg check a.jsonl
	has "$output" '2 rollouts'
	expect 0 rolldbg run --quiet --out a.jsonl --force --actions UP
	[ "$(wc -l <a.jsonl)" = 4 ]
	expect 0 rolldbg run --quiet --out fresh.jsonl --append
	[ "$(wc -l <fresh.jsonl)" = 9 ]
}

@test "--append after an incomplete line keeps that line visible and the rest intact" {
	rolldbg run --quiet --out a.jsonl
	rolldbg run --quiet --out b.jsonl
	head -c 2000 b.jsonl >>a.jsonl
	expect 0 rolldbg run --quiet --task more --out a.jsonl --append
	[ "$(tail -n 1 a.jsonl | jq -c '[.rollout, .type]')" = '["more.0","end"]' ]
}

@test "--out -: the recording on standard output, the verdict on standard error" {
	expect 0 rolldbg run --out -
	[ "${#lines[@]}" = 9 ]
	jq -e . <<<"$output" >/dev/null
	has "$stderr" 'no findings: 6 of 6 steps changed the state'
	rolldbg run --quiet --out - | "$ROLLDBG" check -
	rolldbg run --quiet --out - | "$ROLLDBG" show - | grep -q 'terminated: '
	rolldbg run --quiet --out - | "$ROLLDBG" strip - | "$ROLLDBG" strip - | grep -qc '"type":"end"'
	[ ! -e state/rolldbg ]
}

@test "without --out: a new file each time, and a link to the latest" {
	expect 0 rolldbg run --task first
	has "$output" "recorded: $XDG_STATE_HOME/rolldbg/"
	expect 0 rolldbg run --task second --actions UP
	[ "$(find state/rolldbg -name '*.jsonl' -type f | wc -l)" = 2 ]
	[ -L state/rolldbg/latest ]
	expect 0 rolldbg show
	has "$output" second.0
	expect 0 rolldbg check
	has "$output" '1 turn · 1 step'
	expect 0 rolldbg strip
	has "$output" '"rollout":"second.0"'
	expect 0 rolldbg run --quiet --out elsewhere.jsonl
	expect 0 rolldbg show
	has "$output" second.0
}

@test "without --out and without XDG_STATE_HOME it is below HOME" {
	expect 0 env -u XDG_STATE_HOME HOME="$PWD/home" "$ROLLDBG" run --quiet
	[ -L home/.local/state/rolldbg/latest ]
	expect 5 env -u XDG_STATE_HOME -u HOME "$ROLLDBG" run --quiet
	has "$stderr" '--out FILE'
}

@test "no recording yet: exit 3 and what to do" {
	for command in check show strip; do
		expect 3 rolldbg $command
		has "$stderr" 'no recording given, and there is no latest one'
		has "$stderr" 'record one with rolldbg run'
		[ -z "$output" ]
	done
}

@test "recordings that cannot be used: exit 3, the file, the line and, inside it, the byte" {
	cd "$root" || return
	for command in check show strip; do
		expect 3 rolldbg $command nowhere.jsonl
		has "$stderr" 'cannot read nowhere.jsonl: No such file or directory'
		while IFS=$'\t' read -r file _ error; do
			case $file in '#'* | '') continue ;; esac
			[ -n "$error" ] || continue
			expect 3 rolldbg $command "fixtures/recordings/$file"
			has "$stderr" "rolldbg: $command: $error"
		done <fixtures/recordings/expected.tsv
	done
	expect 3 rolldbg check fixtures/recordings/headless.jsonl
	has "$stderr" 'fixtures/recordings/headless.jsonl:1: '
	# a rollout that crashed, with another one appended
	expect 1 rolldbg check fixtures/recordings/duplicate-header.jsonl
	has "$output" 'no end line: the recording stops after 1 line'
	expect 3 rolldbg strip fixtures/recordings/bad-mask.jsonl
	has "$stderr" "bad-mask.jsonl:1: masks: 'observation' is not a JSON Pointer"
	expect 3 rolldbg check src/
	has "$stderr" 'no recording (*.jsonl, *.traj, *.eval, *.parquet) in directory src/'
}

@test "the lines before a bad line are judged and shown" {
	rolldbg run --quiet --env 'builtin:frozen_lake?fault=fallback-session&fault=capacity&max_envs=3' --actions "$goal" --out a.jsonl || true
	echo '{"type":"step"' >>a.jsonl
	echo '{}' >>a.jsonl
	expect 3 rolldbg check a.jsonl
	has "$output" 'error: capacity'
	expect 3 rolldbg show a.jsonl
	has "$output" 'finished: all scripted actions were sent'
}

@test "an incomplete recording is a finding, and every line of it is shown" {
	rolldbg run --quiet --out a.jsonl
	head -c -20 a.jsonl >torn.jsonl
	expect 1 rolldbg check torn.jsonl
	has "$output" 'error: incomplete: '
	expect 0 rolldbg show torn.jsonl
	has "$output" '!  the last line is truncated (line 9)'
	head -n 5 a.jsonl >cut.jsonl
	expect 1 rolldbg check cut.jsonl
	has "$output" 'error: incomplete: turn 2: no end line: the recording stops after 5 lines and 3 steps'
}

@test "a file with nothing but a truncated line: a finding of check, no recording for the commands that read one" {
	rolldbg run --quiet --out a.jsonl
	head -c 60 a.jsonl >torn.jsonl
	expect 1 rolldbg check torn.jsonl
	has "$output" 'error: incomplete: the file ends in a truncated line'
	for command in strip show stats 'convert --to atif' 'diff a.jsonl' 'debug --batch' replay; do
		# shellcheck disable=SC2086 # several arguments
		expect 3 rolldbg $command torn.jsonl
		[ -z "$output" ]
		[[ $stderr == *'contains no recording'* || $stderr == *'only a complete recording can be replayed'* ]]
	done
	expect 0 rolldbg strip a.jsonl torn.jsonl
	has "$stderr" 'torn.jsonl:1: the last line is truncated and was skipped'
	expect 0 rolldbg stats a.jsonl torn.jsonl
	has "$stderr" 'torn.jsonl contains no complete line'
}

@test "pipes and folders among recordings are not waited for" {
	mkdir -p dir "$XDG_STATE_HOME/rolldbg/2026-01-01T00-00-00-folder.jsonl"
	rolldbg run --quiet --out dir/a.jsonl
	rolldbg run --quiet
	mkfifo dir/b.jsonl "$XDG_STATE_HOME/rolldbg/2026-01-01T00-00-00-pipe.jsonl"
	for command in check stats strip; do
		expect 0 timeout 20 "$ROLLDBG" $command dir
		has "$stderr" 'dir/b.jsonl is not a regular file and was skipped'
	done
	expect 0 timeout 20 "$ROLLDBG" list
	[ "${#lines[@]}" = 1 ]
	expect 0 timeout 20 "$ROLLDBG" list --prune 1d
	has "$output" '0 of 1 recording deleted'
	rm dir/a.jsonl
	expect 3 timeout 20 "$ROLLDBG" check dir
	has "$stderr" 'no recording (*.jsonl, *.traj, *.eval, *.parquet) in directory dir'
	# a pipe that is named is read
	rolldbg run --quiet --out dir/a.jsonl
	mkfifo named
	cat dir/a.jsonl >named &
	expect 0 timeout 20 "$ROLLDBG" check named
}

@test "a folder or a pipe in place of a file is a sentence" {
	rolldbg run --quiet --out a.jsonl
	mkdir folder policies
	mkfifo pipe
	while IFS='|' read -r place code arguments message; do
		for what in folder pipe; do
			[ "$place" != - ] || break
			if [ "$what" = pipe ]; then mkfifo "$place"; else mkdir "$place"; fi
			# shellcheck disable=SC2086 # words
			expect "$code" timeout -k 1 20 "$ROLLDBG" $arguments </dev/null
			has "$stderr" "$message"
			rm -r "$place"
		done
		[ "$place" = - ] || continue
		# shellcheck disable=SC2086 # words
		expect "$code" timeout -k 1 20 "$ROLLDBG" $arguments </dev/null
		has "$stderr" "$message"
	done <<-'END'
		.rolldbg.json|2|run|.rolldbg.json may not be used: it is no regular file
		a.jsonl.masks|3|replay a.jsonl|cannot read mask file a.jsonl.masks: not a regular file
		policies/x.json|3|run --policy x|policies/x.json: 
		-|3|run --header @folder --env http://127.0.0.1:9/mcp --actions a|cannot read headers folder: Is a directory
		-|3|run --ca-file folder --env https://127.0.0.1:9/mcp --actions a|--ca-file folder: not a regular file
		-|3|run --ca-file pipe --env https://127.0.0.1:9/mcp --actions a|--ca-file pipe: not a regular file
		-|3|check a.jsonl --trainer-logprobs folder|cannot read folder: Is a directory
		-|3|run --env folder#name --actions a|folder is no regular file
		-|3|show folder|cannot read folder: it is a directory
		-|3|serve llm folder|cannot read script folder: Is a directory
		-|3|run --tasks folder|cannot read task file folder: Is a directory
		-|3|convert a.jsonl --from map:folder|cannot read map folder: Is a directory
		-|5|check a.jsonl --html folder|cannot write folder: Is a directory
		-|5|check a.jsonl --report junit:folder|cannot write folder: Is a directory
	END
}

@test "policies that cannot be used: exit 3, file, line and column, and nothing is recorded" {
	while IFS=$'\t' read -r policy message; do
		printf '%b' "$policy" >policy.json
		expect 3 rolldbg run --policy ./policy.json --out a.jsonl
		has "$stderr" './policy.json'
		has "$stderr" "$message"
		[ ! -e a.jsonl ]
	done <"$data/bad-policies.tsv"
	expect 3 rolldbg run --policy ./nowhere.json
	has "$stderr" 'policy ./nowhere.json: No such file or directory'
	printf '{"kind":"llm",\n"system":"\\u0000"}' >policy.json
	expect 3 rolldbg run --policy policy.json --model m
	has "$stderr" 'policy policy.json:2: "system" must be a string without a NUL'
	expect 3 rolldbg run --policy nowhere --stream
	has "$stderr" "policy 'nowhere': no such file, kind or ready-made policy"
	expect 2 rolldbg run --policy random:1 --stream
	has "$stderr" '--stream needs a policy that asks a model'
	expect 3 rolldbg run --policy nowhere.json
	has "$stderr" "policy 'nowhere.json': no such file or ready-made policy; other policies are random:SEED and llm"
}

@test "ready policies by name: the working directory's, then the installed ones; an unknown name lists them" {
	unset XDG_DATA_HOME
	export HOME=$PWD XDG_DATA_DIRS=$PWD/empty:$PWD/share
	mkdir -p share/rolldbg/policies policies
	printf '{"kind":"script","name":"installed","actions":["DOWN"]}' >share/rolldbg/policies/down.json
	expect 0 rolldbg run --policy down --out installed.jsonl
	all_are installed.jsonl header '.policy.name == "installed"'
	printf '{"kind":"script","name":"own","actions":["DOWN"]}' >policies/down.json
	printf '{"kind":"script","name":"right","actions":["RIGHT"]}' >policies/right.json
	expect 0 rolldbg run --policy down --out own.jsonl
	all_are own.jsonl header '.policy.name == "own"'
	expect 0 rolldbg probe --policy right --quiet
	expect 3 rolldbg run --policy nowhere
	has "$stderr" "policy 'nowhere': no such file, kind or ready-made policy; available: random:SEED, llm, down, right"
	expect 3 rolldbg run --policy randm
	has "$stderr" "; did you mean 'random'?"
	expect 3 rolldbg probe --policy rihgt
	has "$stderr" "; did you mean 'right'?"
	[ "$(rolldbg __spec policies | paste -sd ' ' -)" = 'down right' ]
}

@test "a call that does not fit the schema is sent with --force-call" {
	echo '{"kind":"script","calls":[{"name":"lake_jump"}]}' >policy.json
	expect 3 rolldbg run --policy policy.json
	expect 1 rolldbg run --policy policy.json --force-call
	has "$output" 'error: unknown-tool'
}

@test "a full disk: exit 5, and every line written so far is whole" {
	for blocks in 2 3 4; do
		(ulimit -f $blocks && exec "$ROLLDBG" run --quiet --force --out a.jsonl) 2>message && status=0 || status=$?
		[ "$status" = 5 ]
		has "$(cat message)" 'cannot write to '
		jq -e .rollout a.jsonl >/dev/null
		[ "$(tail -c 1 a.jsonl | od -An -c | tr -d ' ')" = '\n' ]
		expect 1 rolldbg check a.jsonl
		has "$output" 'error: incomplete'
	done
}

@test "a full device: exit 5 for every command that prints" {
	rolldbg run --quiet
	for command in run 'run --json' 'run --out -' check 'check --json' show strip help __spec; do
		read -ra words <<<"$command"
		expect 5 onto_full "${words[@]}"
		has "$stderr" 'No space left on device'
	done
}

@test "the recording is complete even if its table could not be printed" {
	expect 5 onto_full run --out a.jsonl
	expect 0 rolldbg check a.jsonl
	has "$output" 'no findings: 6 of 6 steps changed the state'
	"$ROLLDBG" run --out b.jsonl | head -n 1
	expect 0 rolldbg check b.jsonl
	has "$output" 'no findings: 6 of 6 steps changed the state'
}

@test "a closed pipe ends a filter silently" {
	rolldbg run --quiet --policy random:1 --max-turns 100 --env 'builtin:frozen_lake?map=8x8' --seed 3 --out a.jsonl
	for _ in $(seq 40); do cat a.jsonl; done >many.jsonl
	for command in show strip; do
		"$ROLLDBG" $command many.jsonl 2>message | head -n 1 >/dev/null
		[ ! -s message ]
	done
}

@test "a directory without write permission: exit 5" {
	expect 5 rolldbg run --out /proc/rolldbg.jsonl
	has "$stderr" 'cannot write /proc/rolldbg.jsonl'
	expect 5 rolldbg run --out /proc/directory/
	has "$stderr" 'cannot create the directory /proc/directory'
	echo >file
	expect 2 rolldbg run --out file/
	has "$stderr" '--out file/: file is not a directory'
	expect 5 env XDG_STATE_HOME="$PWD/file" "$ROLLDBG" run
	has "$stderr" 'cannot create the directory'
	has "$stderr" '--out FILE'
}

@test "a folder or a pipe in place of the latest recording is a sentence" {
	mkdir -p state/rolldbg
	mkfifo state/rolldbg/latest
	for command in check show stats strip convert 'debug --batch'; do
		read -ra words <<<"$command"
		expect 3 timeout -k 1 20 "$ROLLDBG" "${words[@]}" </dev/null
		has "$stderr" 'state/rolldbg/latest: not a regular file'
	done
	rm state/rolldbg/latest
	mkdir state/rolldbg/latest
	for command in check show; do
		expect 3 timeout -k 1 20 "$ROLLDBG" $command </dev/null
		has "$stderr" 'state/rolldbg/latest'
	done
}

@test "replay: a pipe in place of the new file is refused" {
	rolldbg run --quiet --actions DOWN --seed 42 --out a.jsonl
	mkfifo a.jsonl.new
	expect 2 timeout -k 1 20 "$ROLLDBG" replay a.jsonl --env 'builtin:frozen_lake?map=8x8'
	has "$stderr" 'a.jsonl.new is not a regular file: remove it'
	[ -p a.jsonl.new ]
	# not read, and not removed, where it is not needed
	expect 0 timeout -k 1 20 "$ROLLDBG" replay a.jsonl
	[ -p a.jsonl.new ]
}

@test "names of files are printed safe for a terminal and a log" {
	local name=$'a\n::error::b\e[31m\u0085\u202e'
	mkdir "$name" && cd "$name" || return
	export XDG_STATE_HOME=$PWD/state
	rolldbg run --quiet --seed 42 --actions DOWN --out raw.jsonl
	rolldbg strip raw.jsonl >"$name.jsonl"
	cp "$name.jsonl" other.jsonl
	rolldbg run --quiet --seed 42 --actions DOWN,DOWN,RIGHT,RIGHT --out many.jsonl
	rolldbg strip many.jsonl >golden.jsonl
	echo '{}' >.rolldbg.json
	for command in "replay|$name.jsonl|--env|builtin:frozen_lake?map=8x8" "replay|$name.jsonl|--env|builtin:frozen_lake?map=8x8|--accept" \
		"replay|$PWD/other.jsonl|--env|builtin:frozen_lake?map=8x8" "run|--report|junit:$name.xml" "show|$name.jsonl" \
		"check|$name.jsonl|-v" "list" "stats|$name.jsonl" "diff|$name.jsonl|raw.jsonl" "run|--print-config" \
		"shrink|--divergence|golden.jsonl|--env|builtin:frozen_lake?fault=bad-field|--out|$name.s" "convert|$name.jsonl|--to|atif|--out|$name.json" \
		"debug|--batch|$name.jsonl|--ex|save $PWD/points" "debug|--batch|--env|builtin:frozen_lake|--actions|DOWN|--ex|continue"; do
		IFS='|' read -rd '' -a words <<<"$command" || true
		words[-1]=${words[-1]%$'\n'}
		run rolldbg "${words[@]}"
		printf '%s\n' "$command: $status" "$output"
		[ "$status" -lt 2 ]
		lacks $'\n'"$output" $'\n::'
		lacks "$output" $'\e'
		lacks "$output" $'\u0085'
		lacks "$output" $'\u202e'
	done
}

@test "a file system that is read-only: exit 5" {
	[ -z "${VALGRIND:-}" ] || skip 'strace and valgrind do not go together'
	expect 5 env ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -P "$PWD/a.jsonl" -e trace=openat -e inject=openat:error=EROFS \
		"$ROLLDBG" run --out "$PWD/a.jsonl"
	has "$stderr" 'Read-only file system'
}

@test "a recording that becomes shorter while it is read: exit 5" {
	rolldbg run --quiet --out a.jsonl
	for _ in $(seq 200); do cat a.jsonl; done >many.jsonl
	mkfifo pipe
	"$ROLLDBG" strip many.jsonl >pipe 2>message &
	exec 9<pipe
	head -c 1 <&9 >/dev/null # it waits until the rest is taken
	: >many.jsonl
	cat <&9 >/dev/null
	status=0
	wait $! || status=$?
	[ "$status" = 5 ]
	has "$(cat message)" 'became shorter while it was read'
}
