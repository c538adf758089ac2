#!/usr/bin/env bats
# Every fault of the built-in server: the result of a run. The table is data/faults.tsv.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

there_and_back=DOWN,DOWN,UP,UP,DOWN,DOWN,UP,UP,DOWN,DOWN,UP,UP

# play FAULT ARGUMENTS...: appends a run's exit code and its JSON lines to played.
play() {
	local code=0 timeout=60s fault=$1
	shift
	case $fault in hang | late-reply) timeout=$short ;; esac
	rolldbg run --actions $there_and_back --timeout "$timeout" --json --force --out a.jsonl "$@" >lines 2>err || code=$?
	printf '{"type":"exit","code":%s}\n%s\n' $code "$(<lines)" >>played
}

# results: a line in the table's format for each run in played: exit code, counters and findings.
results() {
	jq -rn 'reduce inputs as $line ([]; if $line.type == "exit" then . + [[$line]] else .[-1] += [$line] end) | .[]
		| "\(.[0].code)\t" + (map(select(.type == "rollout") | [.status, .turns, .steps, .effective, .failed | tostring] | join(" "))[0]) + "\t"
		+ (map(select(.type == "finding") | .severity + ":" + .rule) | unique | join(" "))' played | sed 's/\t$//'
}

run_result() {
	play "$@"
	results
}

rows() {
	grep -v '^#' "$data/faults.tsv"
}

# expect_results: the runs in played have the results of the rows in wanted. (One jq reads them all: it takes longer to start
# than the program.)
expect_results() {
	results | paste <(cut -f 1,2 wanted) - | diff wanted - >&2
}

@test "every fault has a row for each of its protocols" {
	faults >wanted
	rows | awk '$2 != "-" && $1 != "openenv-http" { print $1, $2 }' | sort | diff wanted -
}

@test "serve: every row of the table" {
	while IFS=$'\t' read -r protocol fault before wanted; do
		options=(--fault "$fault")
		[ "$fault" != - ] || options=()
		start "lake-$protocol-$fault" "$ROLLDBG" serve --port 0 --protocol "${protocol%-http}" --max-envs 3 --delay 1ms "${options[@]}"
		target=(--env "$url")
		[ "$protocol" = mcp ] || target=(--env "${url%/mcp}" --protocol "$protocol")
		for _ in $(seq "$before"); do
			rolldbg run --quiet "${target[@]}" --actions $there_and_back --force --out b.jsonl
		done
		play "$fault" "${target[@]}"
		kill "$(<"lake-$protocol-$fault.pid")"
		printf '%s\t%s\t%s\n' "$protocol" "$fault" "$wanted" >>wanted
	done < <(rows)
	expect_results
}

@test "builtin: every row of the table" {
	while IFS=$'\t' read -r protocol fault before wanted; do
		[ "$before" = 0 ] && [ "$protocol" != openenv-http ] || continue
		keys="protocol=$protocol&max_envs=3&delay=1ms"
		[ "$fault" = - ] || keys+="&fault=$fault"
		play "$fault" --env "builtin:frozen_lake?$keys"
		printf '%s\t%s\t%s\n' "$protocol" "$fault" "$wanted" >>wanted
	done < <(rows)
	expect_results
}

@test "a fault of another protocol is a usage error" {
	expect 2 rolldbg serve --port 0 --protocol openenv --fault html-200
	has "$stderr" "fault 'html-200' needs protocol mcp"
	expect 2 rolldbg run --env 'builtin:frozen_lake?fault=zombie' --actions DOWN
	has "$stderr" "fault 'zombie' needs protocol openenv"
}

@test "the original bug: every call in a made-up session, until three are open" {
	run_result fallback-session --env 'builtin:frozen_lake?fault=fallback-session&fault=capacity&max_envs=3' >verdict
	has "$(cat verdict)" 'error:capacity error:fallback-session error:multi-step-illusion'
	[ "$(jq -c 'select(.type == "step" and .step == 11) | [.outcome, .error.layer, .error.disagrees]' a.jsonl)" = '["capacity","body","mcp"]' ]
	[ "$(jq -r 'select(.type == "step" and .step == 11) | .observation.error' a.jsonl)" = 'Maximum concurrent environments (3) reached' ]
}

@test "capacity: beyond MAX_CONCURRENT_ENVS a session is refused, until another ends" {
	MAX_CONCURRENT_ENVS=1 start lake "$ROLLDBG" serve --port 0 --delay 5ms
	"$ROLLDBG" run --quiet --env "$url" --policy "$root/policies/lake-wander.json" --max-turns 1000000 --out long.jsonl 3>&- &
	long=$!
	wait_for 60 grep -q '"type":"reset"' long.jsonl
	expect 1 rolldbg run --env "$url" --actions DOWN
	has "$output" 'error: capacity'
	kill -INT $long
	wait $long || [ $? = 130 ]
	expect 0 rolldbg run --env "$url" --actions DOWN
}

@test "a lost call is executed once and reported as lost" {
	run_result disconnect --env 'builtin:frozen_lake?fault=disconnect' >verdict
	[ "$(jq -c 'select(.type == "step") | [.outcome, .env_steps]' a.jsonl | head -n 1)" = '["transport-error",null]' ]
	# the control plane's state advanced by exactly one step per call
	[ "$(jq -c 'select(.type == "step") | .state.position' a.jsonl | tr '\n' ' ')" = '0 4 ' ]
}
