#!/usr/bin/env bats
# Recordings of other programs: every command recognizes them by content; conversion in both directions; error messages.
# shellcheck disable=SC2154

load lib.bash

formats=$root/fixtures/convert

# fixture_of FORMAT: the path of the format's fixture.
fixture_of() {
	echo "$formats/$1"/in.*
}

# read_formats, written_formats: the names of the formats that convert reads and writes.
read_formats() {
	rolldbg convert --list | awk '{print $1}'
}

written_formats() {
	rolldbg convert --list | awk '$3 == "write" {print $1}'
}

@test "every format has a fixture, is recognized by content, and gives the expected lines" {
	for format in $(read_formats); do
		expect 0 rolldbg strip "$(fixture_of "$format")"
		[ -z "$stderr" ]
		diff -u "$formats/$format/expected.stripped" - <<<"$output"
		[ "$(jq -r 'select(.type == "header").env.protocol' <<<"$output" | sort -u)" = "$format" ]
	done
}

@test "every fixture belongs to a format, to the map or to the bad inputs" {
	[ "$(ls "$formats")" = "$({
		printf 'bad\nmap\n'
		read_formats
	} | LC_ALL=C sort)" ]
}

@test "check, show, stats, diff and replay read every format" {
	for format in $(read_formats); do
		file=$(fixture_of "$format")
		run --separate-stderr rolldbg check --json "$file"
		[ "$status" -le 1 ]
		[ "$(tail -n 1 <<<"$output" | jq '.not_checked | length > 0')" = true ]
		expect 0 rolldbg show "$file"
		has "$output" "· $format"
		expect 0 rolldbg stats "$file"
		expect 0 rolldbg diff "$file" "$file"
		[ -z "$output" ]
	done
	expect 0 rolldbg run --quiet --policy "$(fixture_of eval-protocol-log)" --out played.jsonl
	[ "$(jq -r 'select(.type == "step").tool_call.arguments.action' played.jsonl | paste -sd,)" = RIGHT,DOWN ]
	expect 0 rolldbg check "$formats/openai/in.jsonl"
	has "$output" 'the recording has no states: to know what the calls change, repeat them with rolldbg run --policy RECORDING --env URL'
}

@test "debug moves forwards and backwards in every format" {
	for format in $(read_formats); do
		[ "$format" != harbor ] || continue # it has no steps
		expect 0 rolldbg debug --batch -ex next -ex continue -ex 'goto 0' -ex 'info rollouts' "$(fixture_of "$format")"
		[ -z "$stderr" ]
		has "$output" 'turn 0'
		[ "$(grep -c '  line [0-9]' <<<"$output")" = "$(rolldbg convert "$(fixture_of "$format")" | grep -c '^{"type":"header"')" ]
	done
}

@test "a pipe and a list of values give the same as a file" {
	rolldbg strip "$(fixture_of openai)" >file.stripped
	rolldbg strip - <"$(fixture_of openai)" | cmp - file.stripped
	# shellcheck disable=SC2002 # the test is about a pipe
	cat "$(fixture_of openai)" | rolldbg strip - | cmp - file.stripped
	mkfifo pipe
	cat "$(fixture_of openai)" >pipe &
	rolldbg strip pipe | cmp - file.stripped
	wait $!
	jq -s . "$(fixture_of openai)" >list.json
	rolldbg strip list.json | cmp - file.stripped
	sed 's/$/\r/' "$(fixture_of openai)" >crlf.jsonl
	rolldbg strip crlf.jsonl | cmp - file.stripped
}

@test "convert writes what strip reads, and leaves recordings unchanged" {
	for format in $(read_formats); do
		rolldbg convert "$(fixture_of "$format")" --out "$format.jsonl"
		rolldbg strip "$format.jsonl" | cmp - "$formats/$format/expected.stripped"
	done
	rolldbg run --quiet --out lake.jsonl
	rolldbg convert lake.jsonl | cmp - lake.jsonl
	rolldbg convert --from openai "$(fixture_of openai)" | cmp - openai.jsonl
}

@test "exports are read back with the same calls and answers" {
	calls='select(.type == "step") | [.tool_call.name, .tool_call.arguments, .observation]'
	rolldbg run --quiet --seed 42 --out lake.jsonl
	for format in $(written_formats); do
		rolldbg convert --quiet lake.jsonl --to "$format" --out "$format.out"
		expect 0 rolldbg convert "$format.out"
		[ "$(jq -c 'select(.type == "header").env.protocol' <<<"$output")" = "\"$format\"" ]
		diff <(jq -cS "$calls" lake.jsonl) <(jq -cS "$calls" <<<"$output")
	done
	for format in atif openenv-collect; do # these formats include states
		expect 0 rolldbg check --json "$format.out"
		[ "$(tail -n 1 <<<"$output" | jq -c '[.effective, .reward]')" = '[6,1]' ]
		[ "$(rolldbg strip "$format.out" | jq -c .state_hash)" = "$(rolldbg strip lake.jsonl | jq -c .state_hash)" ]
	done
}

@test "data that a format cannot hold is reported, once per kind" {
	rolldbg run --quiet --out lake.jsonl
	expect 0 rolldbg convert lake.jsonl --to openai --out out.jsonl
	[ -z "$output" ]
	[ "$(sort <<<"$stderr")" = 'rolldbg: openai cannot hold env_steps: omitted from 6 lines
rolldbg: openai cannot hold reward: omitted from 6 lines
rolldbg: openai cannot hold state: omitted from 7 lines
rolldbg: openai cannot hold status: omitted from 1 line
rolldbg: openai cannot hold terminated: omitted from 1 line
rolldbg: openai cannot hold total_reward: omitted from 1 line' ]
	expect 0 rolldbg convert --quiet lake.jsonl --to openai --out out.jsonl --force
	[ -z "$stderr" ]
}

@test "formats with one document per rollout: into a directory, or one at a time" {
	rolldbg run --quiet --jobs 2 --group-size 2 --out two.jsonl
	expect 2 rolldbg convert two.jsonl --to atif --out both.json
	has "$stderr" 'a file in format atif holds one rollout; use --out DIR/ or --rollout ID'
	[ "$(find . -name '*json*')" = ./two.jsonl ]
	expect 0 rolldbg convert --quiet two.jsonl --to atif --out directory/
	[ "$(ls directory)" = 'env.0.json
env.1.json' ]
	expect 0 rolldbg convert --quiet two.jsonl --to atif --rollout env.1 --out one.json
	cmp one.json directory/env.1.json
	expect 2 rolldbg convert two.jsonl --rollout nope
	has "$stderr" "no rollout 'nope'"
}

@test "replay: data that the other program does not record is not a difference" {
	rolldbg run --quiet --seed 42 --out lake.jsonl
	for format in eval-protocol openai openenv-collect trl; do
		rolldbg convert --quiet lake.jsonl --to "$format" --out "$format.jsonl"
		expect 0 rolldbg replay "$format.jsonl"
		has "$output" 'no differences · 1 rollout · 6 steps'
		expect 1 rolldbg replay "$format.jsonl" --env 'builtin:frozen_lake?map=8x8'
		has "$output" '/observation/position'
	done
}

@test "nothing is left half-converted" {
	while IFS=$'\t' read -r file code _; do
		[[ $file != \#* ]] && [ "$code" = 3 ] || continue
		expect 3 rolldbg convert "$formats/bad/$file" --out out.jsonl
		[ -z "$(find . -name '*json*')" ]
	done <"$formats/bad/expected.tsv"
	echo old >out.jsonl
	expect 2 rolldbg convert "$(fixture_of openai)" --out out.jsonl
	has "$stderr" 'out.jsonl exists; use --force to overwrite it'
	expect 3 rolldbg convert "$formats/bad/other-line.jsonl" --out out.jsonl --force
	[ "$(cat out.jsonl)" = old ]
	expect 5 rolldbg convert "$(fixture_of openai)" --out /nowhere/out.jsonl
	expect 5 rolldbg convert "$(fixture_of openai)" --out /dev/full
}

@test "bad input: message and exit code" {
	while IFS=$'\t' read -r file code message; do
		[[ $file != \#* ]] || continue
		expect "$code" rolldbg check "$formats/bad/$file"
		has "$output$stderr" "$message"
	done <"$formats/bad/expected.tsv"
	[ "$(find "$formats/bad" -type f | wc -l)" = "$(wc -l <"$formats/bad/expected.tsv")" ]
}

@test "a huge line and a huge document" {
	{
		printf '{"env_index":0,"step":0,"messages":[{"role":"user","content":"'
		head -c 67200000 /dev/zero | tr '\0' x
		printf '"}]}\n'
	} >line.jsonl
	expect 3 rolldbg check line.jsonl
	has "$stderr" 'line.jsonl:1: the line is longer than 64 MiB'
	{
		printf '{"messages":\n[\n{"role":"user","content":"'
		head -c 67200000 /dev/zero | tr '\0' x
		printf '"}]}\n'
	} >document.json
	expect 3 rolldbg check document.json
	has "$stderr" 'document.json: the first JSON value is longer than 64 MiB: write its rollouts one a line'
	{
		printf '{"role":"user","content":"'
		head -c 60000000 /dev/zero | tr '\0' x
		printf '"}\n'
	} >message.jsonl
	expect 3 rolldbg check - < <(cat message.jsonl message.jsonl message.jsonl message.jsonl message.jsonl)
	has "$stderr" 'its lines are over 256 MiB'
}

@test "Inspect's .eval logs: deflate, stored, zstd, of a run that crashed, with a sample that was run again" {
	cmp <(rolldbg strip "$formats/inspect/zstd.eval") "$formats/inspect/expected.stripped"
	command -v python3 >/dev/null || skip 'no python3'
	kinds=(whole stored again odd-names crashed)
	python3 -W ignore "$data/eval_log.py" "$formats/inspect/in.json" "${kinds[@]}"
	for kind in "${kinds[@]}"; do
		expect 0 rolldbg strip "$kind.eval"
		diff -u "$formats/inspect/expected.stripped" - <<<"$output"
		rolldbg strip - <"$kind.eval" | diff -u "$formats/inspect/expected.stripped" -
	done
	expect 1 rolldbg check - < <(cat whole.eval)
	expect 0 rolldbg show whole.eval
	has "$output" '· inspect'
	[ -z "$(find . -name "*epoch*")" ] # an entry's name is not used as a path
}

@test "Inspect's .eval logs: invalid archives" {
	command -v python3 >/dev/null || skip 'no python3'
	cat >kinds <<-'END'
		bad-sample|samples/1_epoch_1.json in the zip archive is not valid JSON: unexpected end of input, at byte 10
		bad-header|header.json in the zip archive is not valid JSON
		parts|the log stores samples in parts, which are not read
		no-samples|the evaluation log has no samples
		no-log|a zip archive, but not an Inspect log: it has no header.json
		not-a-log|a zip archive, but not an Inspect log: its header.json has no eval
		bomb|samples/3_epoch_1.json in the zip archive is longer than 256 MiB
		truncated|the zip archive is truncated or damaged: the list of entries at its end is missing
		damaged|samples/1_epoch_1.json in the zip archive cannot be read: ZIP decompression failed
		encrypted|_journal/start.json in the zip archive is encrypted
		method|_journal/start.json in the zip archive cannot be read: Unsupported ZIP compression method
		empty|the zip archive is truncated or damaged
	END
	# shellcheck disable=SC2046 # words
	python3 "$data/eval_log.py" "$formats/inspect/in.json" $(cut -d '|' -f 1 kinds)
	while IFS='|' read -r kind message; do
		expect 3 rolldbg check "$kind.eval"
		has "$stderr" "$kind.eval: $message"
	done <kinds
}

@test "map: pointers name the facts of any JSON" {
	map=$formats/map
	expect 0 rolldbg convert --from "map:$map/map.json" "$map/in.jsonl" --out out.jsonl
	rolldbg strip out.jsonl | diff -u "$map/expected.stripped" -
	jq -s '{run: "x", list: .}' "$map/in.jsonl" >list.json
	echo '{"rollout":"/run","steps":"/list","tool":"=move","arguments":"/act","observation":"/obs","state_after":"/before"}' >steps.json
	expect 0 rolldbg convert --from map:steps.json list.json
	[ "$(jq -c 'select(.type == "step") | .state' <<<"$output")" = 'null
{"pos":4,"inv":["key"]}
{"pos":4,"inv":[]}' ]
	echo '{"messages":"/m"}' >messages.json
	jq -c '{m: .messages}' "$(fixture_of openai)" >in.jsonl
	expect 0 rolldbg convert --from map:messages.json in.jsonl
	[ "$(jq -c 'select(.type == "step").outcome' <<<"$output" | paste -sd,)" = '"ok","ok",null,"tool-error",null,"ok",null' ]
}

@test "map: errors in the description and in the file" {
	file=$formats/map/in.jsonl
	while IFS='|' read -r text message; do
		printf '%s' "$text" >map.json
		expect 3 rolldbg convert --from map:map.json "$file"
		has "$stderr" "$message"
	done <<-'END'
		{"tol":"/a"}|map map.json:1: unknown key "tol"; did you mean 'tool'?
		{"tool":"a"}|map map.json:1: "tool" must be a JSON Pointer such as "/action/name", or "=TEXT"
		{"observation":"/a"}|map map.json: "tool", "messages" or "message" is required
		{"tool":|map map.json:1
		{"messages":"/m"}|in.jsonl:1: expected a list of messages at "/m"
		{"tool":"/t","steps":"/s"}|in.jsonl:1: expected a list of steps at "/s"
	END
	expect 3 rolldbg convert --from map:nowhere.json "$file"
	has "$stderr" 'map nowhere.json: No such file'
}

@test "convert --list as JSON lines, and what it cannot be combined with" {
	expect 0 rolldbg convert --list --json
	[ "$(jq -r 'select(.type == "format") | .format + if .written then " read, write" else " read" end' <<<"$output")" = "$(rolldbg convert --list | sed -E 's/^(\S+) +(read(, write)?) .*/\1 \2/')" ]
	expect 2 rolldbg convert --json "$(fixture_of openai)"
	has "$stderr" '--json needs --list'
	expect 2 rolldbg convert --list x.jsonl
	has "$stderr" "--list reads no recording: unexpected operand 'x.jsonl'"
}

@test "the manual lists every format" {
	page=$root/man/rolldbg-convert.1.scd
	for format in $(read_formats); do
		grep -q "^\*$format\*$" "$page"
	done
}

@test "real files of other programs" {
	shared=${ROLLDBG_SHARED:-$root/../shared}/recordings/eval-protocol
	[ -d "$shared" ] || skip 'no shared recordings'
	while read -r file steps failed errors; do
		run --separate-stderr rolldbg check --json "$shared/$file.jsonl"
		[ "$(tail -n 1 <<<"$output" | jq -r '"\(.steps) \(.failed) \(.findings.error)"')" = "$steps $failed $errors" ]
	done <<-'END'
		seed-illusion 3 3 6
		seed-healthy 4 0 0
		after-the-end 8 2 0
		fused-lines 2 0 0
		no-assistant-messages 39 0 0
		tau2-mock-healthy 3 0 0
	END
}

@test "a directory with other names: the message names a file that can be read" {
	mkdir logs logs/deeper
	cp "$formats/inspect/in.json" logs/run.json
	expect 3 rolldbg check logs
	has "$stderr" 'no recording (*.jsonl, *.traj, *.eval, *.parquet) in directory logs; files with other names, and directories in it, are only read if named'
	expect 3 rolldbg check logs/deeper
	has "$stderr" 'no recording (*.jsonl, *.traj, *.eval, *.parquet) in directory logs/deeper;'
}
