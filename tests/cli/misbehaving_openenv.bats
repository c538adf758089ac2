#!/usr/bin/env bats
# OpenEnv servers with one defect each: the results of run and probe. The table is data/misbehaving_openenv.tsv.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

rows() {
	grep -v '^#' "$data/misbehaving_openenv.tsv"
}

odd=$ROLLDBG_BUILD/tests/tools/misbehaving_openenv

# misbehaving_server HABIT: starts the server with that defect; sets $url.
misbehaving_server() {
	start "$1" "$odd" "$1"
	url=ws://${url#http://}
	url=${url%/mcp}
}

# play HABIT: runs, with the output in lines and err, then probes; appends exit codes and JSON lines of both to played.
play() {
	local run=0 probe=0
	rolldbg run --env "$url" --actions on,on,on,on --timeout "$patience" --json --without no-history --force --out a.jsonl >lines 2>err || run=$?
	rolldbg probe --env "$url" --actions on,on,on,on --sessions 2 --timeout "$patience" --json >probe.lines 2>probe.err || probe=$?
	printf '{"type":"row","habit":"%s","run":%s,"probe":%s}\n' "$1" $run $probe | cat - lines probe.lines >>played
}

# results: a line in the table's format for each row in played, without what was said.
results() {
	jq -rn 'def or_dash: if . == "" then "-" else . end;
		reduce inputs as $line ([]; if $line.type == "row" then . + [[$line]] else .[-1] += [$line] end) | .[]
		| [.[0].habit, (.[0].run | tostring), (map(select(.type == "rollout") | [.status, .turns, .steps, .effective, .failed | tostring] | join(" "))[0]),
			(map(select(.type == "finding") | .severity + ":" + .rule) | unique | join(" ") | or_dash),
			(.[0].probe | tostring), (map(select(.type == "property" and .status == "fail").name) | join(" ") | or_dash)] | join("\t")' played
}

@test "every misbehavior has a row" {
	{ echo none; "$odd"; } | diff - <(rows | cut -f 1)
}

@test "every row of the table is recorded and judged, and nothing hangs" {
	while IFS=$'\t' read -r habit _ counters _ _ _ said; do
		misbehaving_server "$habit"
		# the reply is read up to the size limit, which takes longer under a sanitizer
		patience=$short
		[ "$habit" != sends-1-gib ] || patience=20s
		play "$habit"
		[ "$said" = - ] && [ ! -s err ] || has "$(<err)" "rolldbg: $url: "
		[ "$said" = - ] || has "$(<err)" "$said"
		has "$(grep '^{"type":"end"' a.jsonl)" "\"status\":\"${counters%% *}\""
		kill "$(<"$habit.pid")"
	done < <(rows)
	# in one go, as jq takes longer to start than the program
	results | diff <(rows | cut -f 1-6) - >&2
}

@test "a step records why its reply was invalid" {
	misbehaving_server nan
	expect 4 rolldbg run --env "$url" --actions on,on --out a.jsonl
	all_are a.jsonl step '.step == 0 or .error.message == "the reply is not an OpenEnv JSON message, byte 52: NaN and Infinity are not JSON"'
	has "$(jq -r 'select(.step == 1) | .raw' a.jsonl)" '"heat":NaN'
}

@test "why no rollout got an environment is reported once" {
	misbehaving_server declines
	for options in '--quiet' '--json' '--group-size 5 --jobs 5' ''; do
		# shellcheck disable=SC2086 # several words
		expect 1 rolldbg run --env "$url" --actions on $options --out a.jsonl --force
		[ "$stderr" = "rolldbg: $url: the server refused the session: ${url#ws://} replied to the WebSocket handshake with HTTP 401 (send credentials with --header or --header-env)" ]
	done
	expect 4 rolldbg tools --env "$url"
	has "$stderr" ' refused a session: '
	has "$stderr" ' with HTTP 401 (send credentials with --header or --header-env)'
	expect 1 rolldbg run --env "$url" --actions on --out -
	has "$stderr" 'the server refused the session: '
	expect 1 rolldbg probe --env "$url" --sessions 2
	has "$output" 'fix: send credentials with --header or --header-env'
}

@test "no replies, parallel rollouts: all end, and none counts as refused by the server" {
	misbehaving_server never-answers
	expect 4 rolldbg run --env "$url" --actions on --group-size 8 --jobs 8 --timeout "$short" --out a.jsonl
	has "$output" '0 of 8 rollouts got an environment · 8 unreachable'
	all_are a.jsonl end '.status == "unreachable"'
}
