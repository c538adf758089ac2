#!/usr/bin/env bats
# OpenEnv servers with one bad habit each: what run and probe make of them. The table is data/odd_openenv.tsv.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

rows() {
	grep -v '^#' "$data/odd_openenv.tsv"
}

odd=$ROLLDBG_BUILD/tests/tools/odd_openenv

# odd_server HABIT: its URL is in $url.
odd_server() {
	start "$1" "$odd" "$1"
	url=ws://${url#http://}
	url=${url%/mcp}
}

# run_judged: exit code, counters, findings, as in the table.
run_judged() {
	local code=0
	rolldbg run --env "$url" --actions on,on,on,on --timeout "$short" --json --force --out a.jsonl >lines 2>err || code=$?
	printf '%s\t' $code
	jq -rs 'map(select(.type == "rollout") | [.status, .turns, .steps, .effective, .failed | tostring] | join(" "))[0] + "\t"
		+ (map(select(.type == "finding") | .severity + ":" + .rule) | unique | join(" ") | if . == "" then "-" else . end)' lines
}

# probe_judged: exit code and what is red.
probe_judged() {
	local code=0
	rolldbg probe --env "$url" --actions on,on,on,on --sessions 2 --timeout "$short" --json >lines 2>probe.err || code=$?
	printf '%s\t' $code
	jq -r 'select(.type == "property" and .status == "red") | .name' lines | paste -sd ' ' | sed 's/^$/-/'
}

@test "every habit has a row" {
	{ echo none; "$odd"; } | diff - <(rows | cut -f 1)
}

@test "every row of the table: recorded and judged, nothing hangs" {
	while IFS=$'\t' read -r habit code counters findings probe red said; do
		odd_server "$habit"
		got=$(run_judged)
		[ "$got" = "$code"$'\t'"$counters"$'\t'"$findings" ] || {
			printf '%s: run: %s\n' "$habit" "$got" >&2
			return 1
		}
		[ "$said" = - ] && [ ! -s err ] || has "$(cat err)" "rolldbg: $url: "
		[ "$said" = - ] || has "$(cat err)" "$said"
		[ "$(jq -r 'select(.type == "end") | .status' a.jsonl)" = "${counters%% *}" ]
		got=$(probe_judged)
		[ "$got" = "$probe"$'\t'"$red" ] || {
			printf '%s: probe: %s\n' "$habit" "$got" >&2
			cat lines >&2
			return 1
		}
		kill "$(cat "$habit.pid")"
	done < <(rows)
}

@test "what was wrong with an answer stands in the step" {
	odd_server nan
	expect 4 rolldbg run --env "$url" --actions on,on --out a.jsonl
	all_are a.jsonl step '.step == 0 or .error.message == "the answer is no JSON message of OpenEnv, byte 52: NaN and Infinity are not JSON"'
	has "$(jq -r 'select(.step == 1) | .raw' a.jsonl)" '"heat":NaN'
}

@test "why nobody got an environment is said once, whatever is printed" {
	odd_server declines
	for options in '--quiet' '--json' '--group-size 5 --jobs 5' ''; do
		# shellcheck disable=SC2086 # words
		expect 1 rolldbg run --env "$url" --actions on $options --out a.jsonl --force
		[ "$stderr" = "rolldbg: $url: the server gave no session: ${url#ws://} answered the WebSocket handshake with HTTP 401 (credentials go with --header or --header-env)" ]
	done
	expect 1 rolldbg run --env "$url" --actions on --out -
	has "$stderr" 'the server gave no session: '
	expect 1 rolldbg probe --env "$url" --sessions 2
	has "$output" 'cure: give the server its credentials: --header or --header-env'
}

@test "nobody answers, many at a time: all end, and it is not the server that refused" {
	odd_server never-answers
	expect 4 rolldbg run --env "$url" --actions on --group-size 8 --jobs 8 --timeout "$short" --out a.jsonl
	has "$output" '0 of 8 rollouts had an environment · 8 found nobody'
	all_are a.jsonl end '.status == "unreachable"'
}
