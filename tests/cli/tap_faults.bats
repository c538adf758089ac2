#!/usr/bin/env bats
# Faults that the tap injects: what the client gets, what the server gets, and what the recording says of it.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# through PROTOCOL FAULT..: six steps to the goal through a tap with these faults; sets $tap_file and $run_file to what both recorded.
through() {
	local path=
	local -a faults=()
	[ "$1" = openenv ] || path=/mcp
	start lake "$ROLLDBG" serve --protocol "$1" --port 0
	shift
	while [ $# -gt 0 ]; do
		faults+=(--fault "$1")
		shift
	done
	start tap "$ROLLDBG" tap --listen 0 --to "${url%/mcp}" --out tap.jsonl --force --fail-on never --delay 300ms "${faults[@]}"
	rolldbg run --env "${url%/mcp}$path" --seed 3 --actions "$goal" --timeout "$short" --quiet --force --out run.jsonl || true
	stop tap
	stop lake
}

stop() {
	kill -INT "$(cat "$1.pid")"
	wait "$(cat "$1.pid")" || true
	rm "$1.pid"
}

# seen FILE: "STEP:OUTCOME:POSITION" of each step from 2 on, in one line.
seen() {
	jq -r 'select(.type == "step" and .step >= 2) | "\(.step):\(.outcome):\(.observation | if type == "object" then .position else . end)"' "$1" | paste -s -d ' '
}

# injected: "NAME@TURN" of each fault.
injected() {
	jq -r 'select(.event == "fault-injected") | "\(.detail.what)@\(.turn)"' tap.jsonl | paste -s -d ' '
}

@test "OpenEnv: a fault at one step" {
	local fault wanted rows=0
	while IFS='|' read -r fault wanted; do
		through openenv "$fault@turn == 2"
		[ "$(injected)" = "$fault@2" ]
		# shellcheck disable=SC2053 # a pattern
		[[ $(seen run.jsonl) == $wanted ]] || {
			printf '%s: %s\n' "$fault" "$(seen run.jsonl)" >&2
			return 1
		}
		[ "$fault" = hang ] || diff <(seen run.jsonl) <(seen tap.jsonl)
		rows=$((rows + 1))
	done <<-'ROWS'
		slow|2:ok:9 3:ok:13 4:ok:14 5:ok:15
		hang|2:timeout:null
		disconnect|2:*:null
		error-reply|2:tool-error:null 3:ok:13 4:ok:14 5:ok:15
		stale-reply|2:ok:8 3:ok:13 4:ok:14 5:ok:15
		null-reward|2:ok:9 3:ok:13 4:ok:14 5:ok:15
		no-done|2:ok:9 3:ok:13 4:ok:14 5:ok:15
		nan-reward|2:protocol-error:null
		cut-json|2:protocol-error:null
	ROWS
	[ $rows = 9 ]
	expect 0 rolldbg check --fail-on never tap.jsonl
	has "$output" 'info: fault-injected: rolldbg tap injected 1 fault, first cut-json'
}

@test "MCP over HTTP: a fault at one step; a call that was cut off was executed" {
	local fault wanted
	while IFS='|' read -r fault wanted; do
		through mcp "$fault@turn == 2"
		[ "$(injected)" = "$fault@2" ]
		[ "$(seen run.jsonl)" = "$wanted" ] || {
			printf '%s: %s\n' "$fault" "$(seen run.jsonl)" >&2
			return 1
		}
		diff <(seen run.jsonl) <(seen tap.jsonl)
	done <<-'ROWS'
		slow|2:ok:9 3:ok:13 4:ok:14 5:ok:15
		disconnect|2:transport-error:null 3:ok:13 4:ok:14 5:ok:15
		error-reply|2:tool-error:injected by rolldbg tap 3:ok:13 4:ok:14 5:ok:15
		stale-reply|2:ok:8 3:ok:13 4:ok:14 5:ok:15
	ROWS
}

@test "MCP-Gym: faults of the reward and the end are those of the control plane" {
	local fault
	for fault in null-reward nan-reward no-done; do
		through mcp "$fault@turn == 2"
		[ "$(injected)" = "$fault@2" ]
		[ "$(seen tap.jsonl)" = '2:ok:9 3:ok:13 4:ok:14 5:ok:15' ]
		[ -z "$(jq 'select(.event == "control-plane-failed" and .detail.why == "")' run.jsonl tap.jsonl)" ]
		for file in run.jsonl tap.jsonl; do
			jq -c 'select(.type == "step" and .step < 4) | [(.reward | if . == 0 then 0 else . end), .terminated]' $file | paste -s -d ' ' >$file.$fault
		done
	done
	[ "$(cat tap.jsonl.null-reward)" = '[0,false] [0,false] [null,false] [0,false]' ]
	[ "$(cat tap.jsonl.no-done)" = '[0,false] [0,false] [0,null] [0,false]' ]
	diff tap.jsonl.null-reward tap.jsonl.nan-reward
	diff run.jsonl.null-reward tap.jsonl.null-reward
	through mcp 'null-reward@turn == 1' 'stale-reply@turn == 2' # the reply to a call once more, not that of the control plane
	[ "$(seen run.jsonl)" = '2:ok:8 3:ok:13 4:ok:14 5:ok:15' ]
}

@test "conditions look at the call; the first fault that applies counts" {
	through openenv 'stale-reply@arguments.action == RIGHT && turn > 2' 'no-done@step >= 4' 'null-reward@tool == step'
	[ "$(injected)" = 'null-reward@0 null-reward@1 null-reward@2 null-reward@3 stale-reply@4 stale-reply@5' ]
	[ "$(jq -c 'select(.type == "step") | .reward' run.jsonl | paste -s -d ' ')" = 'null null null null 0 0' ]
}

@test "sessions: some are refused, and one gets the reply to another" {
	start lake "$ROLLDBG" serve --protocol openenv --port 0
	local to=${url%/mcp}
	start tap "$ROLLDBG" tap --listen 0 --to "$to" --out tap.jsonl --fail-on never --fault refused --max-envs 2
	expect 1 rolldbg run --env "${url%/mcp}" --actions DOWN --group-size 5 --jobs 5 --quiet --out run.jsonl
	stop tap
	[ "$(jq -r 'select(.type == "end") | .status' run.jsonl | grep -c refused)" -ge 1 ]
	[ "$(jq -r 'select(.type == "end") | .status' tap.jsonl | sort)" = "$(jq -r 'select(.type == "end") | .status' run.jsonl | sed 's/finished/stopped/' | sort)" ]
	start tap "$ROLLDBG" tap --listen 0 --to "$to" --out tap.jsonl --force --fail-on never --fault 'other-reply@turn == 0'
	rolldbg run --env "${url%/mcp}" --actions RIGHT,RIGHT --quiet --force --out run.jsonl
	rolldbg run --env "${url%/mcp}" --actions DOWN,DOWN --quiet --force --out run.jsonl
	stop tap
	[ "$(jq -c 'select(.type == "step") | .observation.position' run.jsonl | paste -s -d ' ')" = '2 8' ]
}

@test "MCP over HTTP: sessions beyond a number are refused with HTTP 503" {
	start lake "$ROLLDBG" serve --protocol mcp --port 0 --delay 300ms
	start tap "$ROLLDBG" tap --listen 0 --to "${url%/mcp}" --out tap.jsonl --fail-on never --fault refused --max-envs 1
	expect 0 rolldbg run --env "${url%/mcp}/mcp" --actions DOWN --group-size 2 --jobs 1 --quiet --out one.jsonl
	expect 1 rolldbg run --env "${url%/mcp}/mcp" --actions DOWN --group-size 8 --jobs 8 --quiet --out run.jsonl
	stop tap
	jq -r 'select(.type == "end") | .status' one.jsonl run.jsonl | sort >seen
	[ "$(grep -c refused seen)" -ge 1 ]
	grep -q '^sessions: 10, at most [12] at once' tap.log # one let in, one being refused, however many ask together
	diff seen <(jq -r 'select(.type == "end") | .status' tap.jsonl | sort)
	jq -es 'map(select(.type == "reset" and .outcome != "ok")) | length > 0 and all(.outcome == "capacity" and (.error.message | contains("injected")))' tap.jsonl
	[ "$(jq -r 'select(.event == "fault-injected") | .detail.what' tap.jsonl | wc -l)" = "$(grep -c refused seen)" ]
}

@test "usage: an unknown fault, a condition that comes too late, and a stdio server" {
	expect 2 rolldbg tap --to http://127.0.0.1:1 --fault no-such --out x.jsonl
	has "$stderr" 'there are: slow, hang'
	expect 2 rolldbg tap --to http://127.0.0.1:1 --fault 'hang@reward > 1' --out x.jsonl
	has "$stderr" 'before the call is sent'
	expect 2 rolldbg tap --fault hang --out x.jsonl -- cat
	has "$stderr" '--to URL'
}
