#!/usr/bin/env bats
# After a crash only the unfinished line is lost, every command works, and more can be appended.
# 200 points: at 176 a recording is truncated at a byte, which is the only damage a kill can do (each line is one write);
# at 24 a run is killed (-9) while it streams into a file, appends to one, or writes a directory.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

slow='builtin:frozen_lake?delay=10ms'

# expect_code N COMMAND...: the command must exit with N; its output goes to out and err.
expect_code() {
	local wanted=$1 got=0
	shift
	"$ROLLDBG" "$@" >out 2>err || got=$?
	[ "$got" = "$wanted" ] || {
		printf 'exit code %s, not %s: %s\n' "$got" "$wanted" "$*" >&2
		cat out err >&2
		return 1
	}
}

# valid LINE: the line is JSON. (Few processes are started here: these tests look at 200 files.)
valid() {
	[[ $1 == *'}' ]] && jq -e . <<<"$1" >/dev/null 2>&1
}

# expect_readable FILE WHOLE UNFINISHED: every command can read a damaged recording, and each of its stripped lines is in WHOLE,
# the sorted stripped recording of an undisturbed run. UNFINISHED is 1 if a rollout has no end. What has no whole line is no
# recording.
expect_readable() {
	local code=0 first
	IFS= read -r first <"$1" || valid "$first" || code=3
	expect_code "$3" check --without group-size "$1"
	[ "$3" = 0 ] || has "$(<out)" incomplete
	expect_code $code stats "$1"
	expect_code $code show "$1"
	expect_code $code strip "$1"
	[ $code = 0 ] || has "$(<err)" 'contains no recording'
	expect_lines_of "$2"
}

# expect_lines_of WHOLE: each line of out is in WHOLE.
expect_lines_of() {
	sort -u out | comm -23 - "$1" >strange
	[ ! -s strange ] || { cat strange >&2; return 1; }
}

# expect_incomplete LIST DIRECTORY: of the directory's files, check finds those in the list incomplete, and no other error.
# (--without group-size: a kill between two rollouts leaves an incomplete group, which is a finding.)
expect_incomplete() {
	expect_code 1 check --json --without group-size "$2"
	jq -r 'select(.severity == "error") | "\(.file) \(.rule)"' out | sort -u | diff <(sed 's/$/ incomplete/' "$1") -
}

# append_to FILE: a run can be appended, and the existing whole lines stay unchanged.
append_to() {
	local before after
	mapfile before <"$1"
	[[ ${#before[@]} = 0 || ${before[-1]} == *$'\n' ]] || unset 'before[-1]'
	expect_code 0 run --actions DOWN --append --out "$1" --quiet
	mapfile after <"$1"
	[ "${after[*]:0:${#before[@]}}" = "${before[*]}" ]
}

# expect_appendable FILE UNFINISHED: a run can be appended, and check reads what comes of it.
expect_appendable() {
	rm -f "$1".bak*
	append_to "$1"
	expect_code "$2" check --without group-size "$1"
	[ "$2" = 0 ] || has "$(<out)" incomplete
}

# expect_usable FILE UNFINISHED: every command reads a recording that was appended to, and another run can be appended.
expect_usable() {
	expect_code 0 strip "$1"
	expect_code 0 show "$1"
	expect_code 0 stats "$1"
	expect_code 0 run --actions UP --append --out "$1" --quiet
	expect_code "$2" check --without group-size "$1"
}

# inspect_damage FILE..: sets $torn to 1 if a last line is truncated, and $open to 1 if a rollout that begins in the whole
# lines has no end in them.
inspect_damage() {
	local file line lines headers=0 ends=0
	torn=0 open=0
	for file; do
		mapfile lines <"$file"
		[ ${#lines[@]} -gt 0 ] || torn=1
		for line in "${lines[@]}"; do
			[[ $line == *$'\n' ]] || valid "$line" || { torn=1 && continue; }
			case $line in
			'{"type":"header"'*) headers=$((headers + 1)) ;;
			'{"type":"end"'*) ends=$((ends + 1)) ;;
			esac
		done
	done
	[ $headers = $ends ] || open=1
}

@test "truncated at any byte: read, judged and appended to" {
	rolldbg run --actions "$goal" --out whole.jsonl --quiet
	rolldbg strip whole.jsonl | sort -u >stripped
	size=$(stat -c %s whole.jsonl)
	# the bytes around each end of a line, and evenly spaced ones
	{
		grep -bo $'}$' whole.jsonl | cut -d: -f1 | while read -r at; do echo $((at)); echo $((at + 1)); echo $((at + 2)); done
		seq 1 $((size / 150)) "$size"
	} | sort -nu | awk -v size="$size" '$1 > 0 && $1 < size' | head -n 176 >points
	[ "$(wc -l <points)" = 176 ]
	# one command judges all of them, and one strips them; every fourth is given to each command alone
	mkdir cut
	count=0
	while read -r at; do
		printf -v file 'cut/%05d.jsonl' "$at"
		head -c "$at" whole.jsonl >"$file"
		inspect_damage "$file"
		[ $((torn | open)) = 0 ] || echo "$file" >>damaged
		[ $open = 0 ] || echo "$file" >>unfinished
		((count++ % 4)) || expect_readable "$file" stripped $((torn | open))
	done <points
	expect_incomplete damaged cut
	expect_code 0 strip cut
	expect_lines_of stripped
	expect_code 0 stats cut
	for file in cut/*.jsonl; do
		append_to "$file"
	done
	expect_incomplete unfinished cut
	while read -r file; do
		expect_usable "$file" 1
	done < <(awk 'NR % 8 == 0' unfinished)
}

@test "truncated at any byte: not a golden, and the missing part is a difference" {
	rolldbg run --actions DOWN,DOWN,RIGHT --out whole.jsonl --quiet
	size=$(stat -c %s whole.jsonl)
	header=$(head -n 1 whole.jsonl | tr -d '\n' | wc -c)
	{
		grep -bo $'}$' whole.jsonl | cut -d: -f1 | while read -r at; do echo $((at)); echo $((at + 1)); echo $((at + 2)); done
		seq 1 $((size / 20)) "$size"
	} | sort -nu | awk -v size="$size" '$1 > 0 && $1 < size' >points
	[ "$(wc -l <points)" -ge 30 ]
	while read -r at; do
		head -c "$at" whole.jsonl >cut.jsonl
		inspect_damage cut.jsonl
		if [ $((torn | open)) = 0 ]; then # only the last line feed is missing
			expect_code 0 replay cut.jsonl
			expect_code 0 diff whole.jsonl cut.jsonl
			continue
		fi
		expect_code 3 replay cut.jsonl
		has "$(<err)" 'only a complete recording can be replayed'
		[ ! -e cut.jsonl.new ]
		if [ "$at" -lt "$header" ]; then
			expect_code 3 diff whole.jsonl cut.jsonl
			has "$(<err)" 'cut.jsonl: contains no recording'
			continue
		fi
		expect_code 1 diff whole.jsonl cut.jsonl
		[ -s out ]
		expect_code 1 diff cut.jsonl whole.jsonl
		[ -s out ]
	done <points
}

@test "a second header of an id begins another rollout, for replay and diff too" {
	rolldbg run --actions DOWN,DOWN,RIGHT --out whole.jsonl --quiet
	count=$(wc -l <whole.jsonl)
	for ((n = 1; n < count; n++)); do
		{
			cat whole.jsonl
			head -n "$n" whole.jsonl
		} >two.jsonl
		expect_code 3 replay two.jsonl
		grep -q 'only a complete recording can be replayed' err
		expect_code 1 diff whole.jsonl two.jsonl
		[ "$(sed -n 2p out)" = '+ only in the second recording' ]
		expect_code 1 diff two.jsonl whole.jsonl
		expect_code 0 diff --json two.jsonl two.jsonl
	done
	cat whole.jsonl whole.jsonl >two.jsonl
	expect_code 0 replay two.jsonl
	grep -q 'no differences · 2 rollouts · 6 steps' out
	rolldbg run --actions DOWN,DOWN,UP --out other.jsonl --quiet
	cat whole.jsonl other.jsonl >third.jsonl
	expect_code 1 diff two.jsonl third.jsonl
	grep -q '1 of 2 rollouts differs' out
	expect_code 0 strip third.jsonl
	cp out stripped
	expect_code 0 strip stripped
	cmp out stripped
}

# lines_in PATH: sets $count to the number of lines of the file, or of the directory's files together.
lines_in() {
	local file lines
	count=0
	for file in "$1" "$1"/*.jsonl; do
		[ -f "$file" ] || continue
		mapfile lines <"$file"
		count=$((count + ${#lines[@]}))
	done
}

# kill_at_line FILE N COMMAND...: kills the command when the file (or the directory's files together) has N lines.
kill_at_line() {
	local file=$1 point=$2 pid count
	shift 2
	"$ROLLDBG" "$@" >/dev/null 2>&1 3>&- &
	pid=$!
	until lines_in "$file" && [ "$count" -ge "$point" ]; do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.002
	done
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

@test "killed while streaming and while appending" {
	rolldbg run --actions "$goal" -g 4 --env "$slow" --out whole.jsonl --quiet
	rolldbg strip whole.jsonl | sort -u >stripped
	for point in 1 4 8 11 14 19 23 27; do
		rm -f run.jsonl
		kill_at_line run.jsonl $point run --env "$slow" --actions "$goal" -g 4 --jobs 2 --out run.jsonl
		inspect_damage run.jsonl
		expect_readable run.jsonl stripped $((torn | open))
		expect_appendable run.jsonl $open
	done
	expect_usable run.jsonl "$open"
	for point in 1 4 8 11 14 19 23 27; do
		rolldbg run --actions "$goal" --out more.jsonl --force --quiet
		already=$(grep -c '' more.jsonl)
		kill_at_line more.jsonl $((point + already)) run --env "$slow" --actions "$goal" -g 4 --jobs 2 --append --out more.jsonl
		inspect_damage more.jsonl
		expect_appendable more.jsonl $open
	done
	expect_usable more.jsonl "$open"
}

@test "killed while writing a directory: an empty file is a finding, the others are judged" {
	rolldbg run --env "$slow" --actions "$goal" -g 8 --out whole/ --quiet
	rolldbg strip whole | sort -u >stripped
	for point in 1 7 13 19 25 31 37 43; do
		rm -rf some
		kill_at_line some $point run --env "$slow" --actions "$goal" -g 8 --jobs 4 --out some/
		inspect_damage some/*.jsonl
		expect_code $((torn | open)) check --without group-size some
		[ $((torn | open)) = 0 ] || grep -q 'incomplete' out
		expect_code 0 stats some
		expect_code 0 strip some
		expect_lines_of stripped
	done
	: >some/empty.jsonl
	tail -n 2 whole/*.0.jsonl >some/headless.jsonl
	expect_code 1 check some
	grep -q 'some/empty.jsonl.*the file is empty' out
	grep -q 'some/headless.jsonl.*lines of a rollout without a header' out
	expect_code 0 stats some
	grep -q 'some/empty.jsonl is empty' err
	echo '{"no":"recording"}' >some/foreign.jsonl
	expect_code 3 check some
	grep -q 'some/foreign.jsonl:1: ' err
	grep -q 'summary\|rollouts' out
	expect_code 3 stats some
	expect_code 3 check some/foreign.jsonl
	expect_code 3 check some/../empty.jsonl
}
