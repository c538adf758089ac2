# What the command tests share: a private folder and state for each test, servers that are stopped by pid, and words to
# judge a run with.
# shellcheck shell=bash disable=SC2034,SC2154 # what bats sets, and what the tests read

bats_require_minimum_version 1.5.0
root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
ROLLDBG=${ROLLDBG:-$root/rolldbg}
ROLLDBG_BUILD=${ROLLDBG_BUILD:-$root/build/release}
data=$BATS_TEST_DIRNAME/data
# A --timeout for calls that are never answered: the others have to be answered meanwhile.
short=${VALGRIND:+10s}
short=${short:-1s}
goal=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
	mkdir "$XDG_STATE_HOME"
	export ROLLDBG_PAGER=cat
	unset CI # replay writes nothing in CI
}

teardown() {
	local file pid
	for file in *.pid; do
		[ -f "$file" ] || continue
		pid=$(cat "$file")
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
}

rolldbg() {
	"$ROLLDBG" "$@"
}

# expect CODE COMMAND...: runs it; $output is its standard output, $stderr its standard error.
expect() {
	local code=$1
	shift
	run --separate-stderr "$@"
	[ "$status" = "$code" ] || {
		printf 'exit code %s, not %s: %s\n%s\n%s\n' "$status" "$code" "$*" "$output" "$stderr" >&2
		return 1
	}
}

# has TEXT PART: the text holds the part.
has() {
	[[ $1 == *"$2"* ]] || {
		printf 'not found: %s\nin: %s\n' "$2" "$1" >&2
		return 1
	}
}

# lacks TEXT PART: it does not.
lacks() {
	[[ $1 != *"$2"* ]] || {
		printf 'found: %s\nin: %s\n' "$2" "$1" >&2
		return 1
	}
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || {
			printf 'waited in vain: %s\n' "$*" >&2
			return 1
		}
		sleep 0.05
	done
}

# start NAME COMMAND...: a server that prints "listening on ADDRESS:PORT"; its URL is in $url, its output in NAME.log.
start() {
	local name=$1
	shift
	: >"$name.log"
	"$@" >"$name.log" 2>"$name.err" 3>&- &
	echo $! >"$name.pid"
	wait_for 60 grep -q '^listening on' "$name.log"
	url=http://$(sed -n 's/^listening on //p' "$name.log")/mcp
}

# canned NAME: the same for the rows on standard input (see tests/tools/canned_server.c); unless they say otherwise it
# opens a session and offers one tool.
canned() {
	cat >"$1.rows"
	grep -q '^initialize' "$1.rows" || printf 'initialize\t%s\n' \
		'{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"canned","version":"1"}}' >>"$1.rows"
	grep -q '^tools/list' "$1.rows" || printf 'tools/list\t%s\n' \
		'{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"move":{"type":"string"}},"required":["move"]}}]}' >>"$1.rows"
	start "$1" "$ROLLDBG_BUILD/tests/tools/canned_server" "$1.rows"
}

# model SCRIPT: the scripted model; $base is where it is.
model() {
	start model "$ROLLDBG" serve llm "$1" --port 0
	base=${url%/mcp}
}

stop_model() {
	kill "$(cat model.pid)"
	wait "$(cat model.pid)"
	rm model.pid
}

# faults: "PROTOCOL FAULT" of each fault, for each protocol it belongs to.
faults() {
	rolldbg __spec | awk -F '\t' '$2 == "fault" {
		if ($4 !~ /\(openenv\)$/) print "mcp", $3
		if ($4 !~ /\(mcp\)$/) print "openenv", $3
	}' | sort
}

# all_are FILE TYPE FILTER: the file has lines of that type, and the jq filter holds for all of them.
all_are() {
	jq -es --arg type "$2" "map(select(.type == \$type)) | length > 0 and all($3)" "$1" >/dev/null || {
		printf 'not all %s lines: %s\n' "$2" "$3" >&2
		cat "$1" >&2
		return 1
	}
}
