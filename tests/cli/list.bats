#!/usr/bin/env bats
# The recordings of the state directory: list, names such as @2, what `latest` is, and pruning.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# record_three: a clean recording, a broken one, and one of an unreachable server. They are renamed, so that their order
# does not depend on the clock.
record_three() {
	store=$XDG_STATE_HOME/rolldbg
	rolldbg run --quiet
	mv "$store"/2*.jsonl "$store/2026-01-01T10-00-00-aaaaaaaa.jsonl"
	rolldbg run --quiet --env 'builtin:frozen_lake?fault=no-tools' --actions UP --task broken >/dev/null || true
	mv "$store/$(readlink "$store/latest")" "$store/2026-01-02T10-00-00-bbbbbbbb.jsonl"
	rolldbg run --quiet --env http://127.0.0.1:9/mcp --actions UP 2>/dev/null || true
	unreached=$(find "$store" -name '2*.jsonl' ! -name '2026-01*')
	[ "$(readlink "$store/latest")" != "${unreached##*/}" ]
	mv "$unreached" "$store/2026-01-03T10-00-00-cccccccc.jsonl"
	ln -sf 2026-01-02T10-00-00-bbbbbbbb.jsonl "$store/latest"
}

@test "list: the newest first, with verdict, task, environment and steps" {
	record_three
	expect 0 rolldbg list
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[0]} =~ ^@1\ +2026-01-03\ 10:00\ +error:\ unreachable\ +env\ +http://127.0.0.1:9/mcp\ +0\ steps$ ]]
	[[ ${lines[1]} =~ ^@2\ +2026-01-02\ 10:00\ +error:\ no-tools\ +broken\ +FrozenLake-v1\ +0\ steps$ ]]
	[[ ${lines[2]} =~ ^@3\ +2026-01-01\ 10:00\ +no\ findings\ +FrozenLake-v1\ +FrozenLake-v1\ +6\ steps$ ]]
	expect 0 rolldbg list --json
	[ "$(jq -c 'select(.type == "recording") | [.name, .verdict, .steps, .rules]' <<<"$output" | tr '\n' ' ')" = \
		'["@1","error",0,[]] ["@2","error",0,["no-tools"]] ["@3","no findings",6,[]] ' ]
	[ "$(jq -c 'select(.type == "summary")' <<<"$output")" = '{"type":"summary","recordings":3,"listed":3}' ]
}

@test "list: a row fits a terminal of 80 columns" {
	command -v script >/dev/null || skip 'no script(1) for a terminal'
	record_three
	NO_COLOR=1 script -qec "stty cols 80; '$ROLLDBG' --no-pager list" /dev/null | tr -d '\r' >rows
	[ "$(grep -c '^@.* steps$' rows)" = 3 ]
	[ "$(LC_ALL=C.UTF-8 wc -L <rows)" -le 80 ]
}

@test "list: by finding, environment and time" {
	record_three
	expect 0 rolldbg list --finding no-tools
	[[ ${#lines[@]} = 1 && $output == @2* ]]
	expect 0 rolldbg list --env :9/mcp
	[[ ${#lines[@]} = 1 && $output == @1* ]]
	expect 0 rolldbg list --since 2026-01-02
	[ "${#lines[@]}" = 2 ]
	expect 0 rolldbg list --since 1s
	[ -z "$output" ]
}

@test "list: a directory without recordings, files that are not recordings" {
	expect 0 rolldbg list
	[ -z "$output" ]
	has "$stderr" 'no recordings in '
	mkdir "$XDG_STATE_HOME/rolldbg"
	echo nothing >"$XDG_STATE_HOME/rolldbg/mine.jsonl"
	expect 0 rolldbg list
	has "$output" unusable
	has "$output" 'mine.jsonl:1: '
	expect 0 rolldbg list --json
	[ "$(jq -c 'select(.type == "recording") | [.verdict, .steps]' <<<"$output")" = '["unusable",null]' ]
}

@test "@N: wherever a command expects a recording" {
	record_three
	expect 1 rolldbg check @2
	has "$output" 'no-tools'
	expect 0 rolldbg check @3
	expect 0 rolldbg show @3
	expect 0 rolldbg strip @3
	printf '%s\n' "$output" >stripped
	expect 0 rolldbg stats @3 --json
	expect 1 rolldbg diff @3 @2
	expect 1 rolldbg check --baseline @3 @2
	expect 3 rolldbg check --baseline @9 @2
	has "$stderr" 'no recording @9 ('
	expect 0 rolldbg diff @3 stripped
	expect 0 rolldbg replay @3
	# replay made a new recording, which shifts the numbers
	expect 0 rolldbg run --quiet --policy @4 --out again.jsonl
	expect 1 rolldbg diff --stat @4 again.jsonl
	has "$output" '6 -> 6 steps, 4 values differ'
	expect 3 rolldbg check @9
	has "$stderr" 'no recording @9 ('
	has "$stderr" ' has 4; see rolldbg list). For a file of that name write ./@9'
	cp again.jsonl @9
	expect 0 rolldbg check ./@9
	expect 3 rolldbg check @0
	expect 3 rolldbg check @x
}

@test "recordings of one second: @1 is the latest" {
	store=$XDG_STATE_HOME/rolldbg
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rolldbg run --quiet --task "t$i"
		[ "$(rolldbg list --json | jq -r 'select(.name == "@1") | .task')" = "t$i" ]
		cmp "$store/latest" "$(find "$store" -name '2*.jsonl' | sort | tail -n 1)"
	done
	expect 0 rolldbg list
	[[ ${lines[0]} =~ ^@1\ +[0-9-]{10}\ [0-9:]{5}\ +no\ findings\ +t10\  ]]
}

@test "latest: unchanged if the server was not reached" {
	rolldbg run --quiet
	before=$(readlink "$XDG_STATE_HOME/rolldbg/latest")
	expect 4 rolldbg run --env http://127.0.0.1:9/mcp --actions UP
	expect 2 rolldbg run --nonsense
	expect 4 rolldbg replay --env http://127.0.0.1:9/mcp "$XDG_STATE_HOME/rolldbg/latest"
	[ "$(readlink "$XDG_STATE_HOME/rolldbg/latest")" = "$before" ]
	expect 1 rolldbg run --quiet --env 'builtin:frozen_lake?fault=no-tools' --actions UP
	[ "$(readlink "$XDG_STATE_HOME/rolldbg/latest")" != "$before" ]
	before=$(readlink "$XDG_STATE_HOME/rolldbg/latest")
	rolldbg run --quiet --out a.jsonl
	expect 0 rolldbg replay a.jsonl
	[ "$(readlink "$XDG_STATE_HOME/rolldbg/latest")" != "$before" ]
}

@test "--prune: removes old recordings that are not needed" {
	record_three
	echo /state >"$store/2026-01-01T10-00-00-aaaaaaaa.jsonl.masks"
	expect 0 rolldbg list --prune 30d --dry-run
	has "$output" "would delete $store/2026-01-03T10-00-00-cccccccc.jsonl"
	has "$output" '1 of 3 recordings would be deleted'
	[ "$(find "$store" -name '2*.jsonl' | wc -l)" = 3 ]
	rm "$store/2026-01-01T10-00-00-aaaaaaaa.jsonl.masks"
	rolldbg run --quiet --out /dev/null
	flock "$store/2026-01-01T10-00-00-aaaaaaaa.jsonl" "$ROLLDBG" list --prune 30d >locked
	has "$(cat locked)" '1 of 3 recordings deleted'
	expect 0 rolldbg list --prune 30d
	has "$output" '1 of 2 recordings deleted'
	# the latest recording is kept, although it is old
	[ "$(find "$store" -name '2*.jsonl' -printf '%f\n')" = 2026-01-02T10-00-00-bbbbbbbb.jsonl ]
	expect 0 rolldbg list --prune 99999999w
}

@test "invalid options" {
	expect 2 rolldbg list --finding lop
	has "$stderr" "unknown rule 'lop'; did you mean 'loop'?"
	for date in 2026-13-01 2026-12-32 2026-00-10 2026-01-01T24:00; do
		expect 2 rolldbg list --since $date
	done
	expect 2 rolldbg list --since yesterday
	has "$stderr" "--since: expected an age (90m, 2d, 1w) or a date (2026-11-22), got 'yesterday'"
	expect 2 rolldbg list --prune 2026-01-01
	expect 2 rolldbg list --dry-run
	expect 2 rolldbg list --prune 3d --env x
}
