# Shared by the command tests: a private directory and state for each test, servers that are stopped by pid, and assertions
# about a run.
# shellcheck shell=bash disable=SC2034,SC2154 # variables set by bats, and variables read by the tests

bats_require_minimum_version 1.5.0
root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
ROLLDBG=${ROLLDBG:-$root/rolldbg}
ROLLDBG_BUILD=${ROLLDBG_BUILD:-$root/build/release}
data=$BATS_TEST_DIRNAME/data
# A --timeout for tests with calls that are never answered; it must suffice for the calls that are.
short=${VALGRIND:+10s}
short=${short:-1s}
goal=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
	mkdir "$XDG_STATE_HOME"
	export ROLLDBG_PAGER=cat
	unset CI # with CI set, replay writes nothing
	# bats notes the place of every command for the case that it fails, which takes longer than the command; make test notes
	# the place of the test's own commands only
	[ -n "${TRACE_HELPERS:-}" ] || { set +T && declare -ft "$BATS_TEST_NAME"; }
}

teardown() {
	local file pid
	for file in *.pid; do
		[ -f "$file" ] || continue
		read -r pid <"$file"
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
}

rolldbg() {
	"$ROLLDBG" "$@"
}

# expect CODE COMMAND...: runs the command, which must exit with CODE; sets $status, $output (standard output), $lines and
# $stderr, as bats's own `run` does with twice the processor time.
expect() {
	local code=$1 errors=$BATS_FILE_TMPDIR/stderr.$BASHPID
	shift
	status=0
	output=$("$@" 2>"$errors") || status=$?
	read -d '' -r stderr <"$errors" || true
	IFS=$'\n' read -d '' -r -a lines <<<"$output" || true
	[ "$status" = "$code" ] || {
		printf 'exit code %s, not %s: %s\n%s\n%s\n' "$status" "$code" "$*" "$output" "$stderr" >&2
		return 1
	}
}

# has TEXT PART: TEXT contains PART.
has() {
	[[ $1 == *"$2"* ]] || {
		printf 'not found: %s\nin: %s\n' "$2" "$1" >&2
		return 1
	}
}

# lacks TEXT PART: TEXT does not contain PART.
lacks() {
	[[ $1 != *"$2"* ]] || {
		printf 'found: %s\nin: %s\n' "$2" "$1" >&2
		return 1
	}
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds, at first after 10 ms.
wait_for() {
	local deadline=$((SECONDS + $1)) pause=10
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || {
			printf 'not fulfilled in time: %s\n' "$*" >&2
			return 1
		}
		sleep "0.0$pause"
		pause=$((pause < 80 ? 2 * pause : pause))
	done
}

# listening FILE: sets $url if the server whose output is in the file has printed "listening on ADDRESS:PORT".
listening() {
	local line
	while IFS= read -r line; do
		[[ $line != 'listening on '* ]] || { url=http://${line#listening on }/mcp && return; }
	done <"$1"
	return 1
}

# start NAME COMMAND...: starts a server that prints "listening on ADDRESS:PORT". Sets $url; the output goes to NAME.log. A server
# of this name that runs is stopped after the test, too.
start() {
	local name=$1
	shift
	[ ! -e "$name.pid" ] || mv "$name.pid" "$name.$(<"$name.pid").pid"
	: >"$name.log"
	"$@" >"$name.log" 2>"$name.err" 3>&- &
	echo $! >"$name.pid"
	wait_for 60 listening "$name.log"
}

# canned NAME: starts tests/tools/canned_server.c with the rows on standard input. Without rows for them, initialize
# succeeds and tools/list has one tool.
canned() {
	cat >"$1.rows"
	grep -q '^initialize' "$1.rows" || printf 'initialize\t%s\n' \
		'{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"canned","version":"1"}}' >>"$1.rows"
	grep -q '^tools/list' "$1.rows" || printf 'tools/list\t%s\n' \
		'{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"move":{"type":"string"}},"required":["move"]}}]}' >>"$1.rows"
	start "$1" "$ROLLDBG_BUILD/tests/tools/canned_server" "$1.rows"
}

# model SCRIPT: starts the scripted model; sets $base, its base URL.
model() {
	start model "$ROLLDBG" serve llm "$1" --port 0
	base=${url%/mcp}
}

stop_model() {
	local pid
	read -r pid <model.pid
	kill "$pid"
	wait "$pid"
	rm model.pid
}

# faults: prints "PROTOCOL FAULT" for each fault and each protocol that has it.
faults() {
	rolldbg __spec | awk -F '\t' '$2 == "fault" {
		if ($4 !~ /\(openenv\)$/) print "mcp", $3
		if ($4 !~ /\(mcp\)$/) print "openenv", $3
	}' | sort
}

# all_are FILE TYPE FILTER: the file has lines of that type, and the jq filter is true for all of them.
all_are() {
	jq -es --arg type "$2" "map(select(.type == \$type)) | length > 0 and all($3)" "$1" >/dev/null || {
		printf 'not all %s lines: %s\n' "$2" "$3" >&2
		cat "$1" >&2
		return 1
	}
}
