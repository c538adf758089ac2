# Starts real servers for the tests in this directory, and has assertions about runs. A server started by setup_file is
# stopped after the file's last test, one started by a test at the end of that test.
# shellcheck shell=bash

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
servers=$root/fixtures/servers
installed=$root/.deps/interop
# Compiled files go to a separate directory, so that neither the source tree nor a package cache is written to, and a second
# start is fast.
export PYTHONPYCACHEPREFIX=$installed/pycache
unset PYTHONDONTWRITEBYTECODE
ROLLDBG=${ROLLDBG:-$root/rolldbg}

# gym_package GENERATION: the package with that generation of MCP-Gym, and the directories that override the newest one.
gym_package() {
	case $1 in
	D) echo eval_protocol ;;
	C) echo eval_protocol ep02:openai ;;
	B) echo reward_kit rk04:openai ;;
	A) echo reward_kit rk03:openai ;;
	C-on-mcp-1.9) echo eval_protocol mcp19:ep02:openai ;;
	esac
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	servers_stop "$BATS_TEST_TMPDIR"
}

teardown_file() {
	servers_stop "$BATS_FILE_TMPDIR"
}

# url NAME: the MCP endpoint of a started server.
url() {
	cat "$BATS_TEST_TMPDIR/$1.url" 2>/dev/null || cat "$BATS_FILE_TMPDIR/$1.url"
}

# server_start NAME COMMAND..: starts a server and waits until it listens. Its output goes to a file, never to a pipe:
# these servers block when their output is not read.
server_start() {
	local dir=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR} name=$1
	local log=$dir/$name.log
	shift
	: >"$log"
	"$@" >>"$log" 2>&1 3>&- &
	local pid=$!
	echo "$pid" >"$dir/$name.pid"
	local deadline=$((SECONDS + 240)) port
	until port=$(sed -nE 's|.*(running\|listening) on http://127\.0\.0\.1:([0-9]+).*|\2|p' "$log" | head -n 1) &&
		[ -n "$port" ]; do
		if ! kill -0 "$pid" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
			echo "$name did not start:" >&2
			tail -n 20 "$log" >&2
			return 1
		fi
		sleep 0.1
	done
	echo "http://127.0.0.1:$port/mcp" >"$dir/$name.url"
}

# python PYTHON DIRECTORIES ARGS..: runs a launch file.
python() {
	local python=$1 path=
	local -a directories
	IFS=: read -ra directories <<<"$2"
	shift 2
	local directory
	for directory in "${directories[@]}"; do
		path+=$installed/$directory:
	done
	PYTHONPATH=${path%:} HOME=$BATS_FILE_TMPDIR exec "$installed/$python/bin/python" -W ignore "$@"
}

# gym_start NAME GENERATION FILE [OPTIONS..]: FILE is gym_lake.py or gym_proxy.py.
gym_start() {
	local name=$1 package directories file=$3
	read -r package directories <<<"$(gym_package "$2")"
	shift 3
	server_start "$name" python gym "${directories:-}" "$servers/$file" --package "$package" "$@"
}

# sdk_start NAME 1|2 [OPTIONS..]
sdk_start() {
	local name=$1 python=gym
	[ "$2" = 2 ] && python=sdk2
	shift 2
	server_start "$name" python "$python" "" "$servers/sdk_counter.py" "$@"
}

# openenv_start NAME 0.10|0.3|0.2|0.1 [OPTIONS..]
openenv_start() {
	local name=$1 generation=$2
	shift 2
	openenv_file "$name" "$generation" openenv_lake.py "$@"
}

# openenv_file NAME GENERATION FILE [OPTIONS..]: FILE is one of openenv_*.py.
openenv_file() {
	local name=$1 directory=openenv-$2 file=$3 dir=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}
	shift 3
	server_start "$name" python openenv "$directory" "$servers/$file" "$@" || return
	sed -i 's|/mcp$||' "$dir/$name.url"
}

# zoo_start NAME: the worlds of fixtures/zoo for OpenEnv.
zoo_start() {
	server_start "$1" python openenv openenv-0.10 "$root/fixtures/zoo/openenv_zoo.py"
}

# nemo_gym_start NAME: the resources servers of nemo_gym_worlds.py; url NAME is where they are.
nemo_gym_start() {
	local name=$1 dir=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}
	server_start "$name" python nemo-gym "" "$servers/nemo_gym_worlds.py" || return
	sed -i 's|/mcp$||' "$dir/$name.url"
	until curl -s -o /dev/null "$(cat "$dir/$name.url")"; do sleep 0.1; done
}

# everything_start NAME [streamableHttp|sse]
everything_start() {
	server_start "$1" env PORT=0 node --require "$servers/loopback.js" \
		"$installed/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js" "${2:-streamableHttp}"
}

# at_once COMMAND..: starts several servers in parallel; each argument is a call of one of the functions above.
at_once() {
	local command failed=0
	local -a pids=()
	for command; do
		# shellcheck disable=SC2086 # a command and its arguments
		$command 3>&- &
		pids+=($!)
	done
	for command in "${pids[@]}"; do
		wait "$command" || failed=1
	done
	return $failed
}

servers_stop() {
	local file pid
	for file in "$1"/*.pid; do
		[ -e "$file" ] || continue
		pid=$(cat "$file")
		kill "$pid" 2>/dev/null || continue
		stop_within_20s "$pid"
	done
}

stop_within_20s() {
	local deadline=$((SECONDS + 20))
	while kill -0 "$1" 2>/dev/null; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			kill -9 "$1"
			return
		fi
		sleep 0.1
	done
}

# tap_start SERVER [OPTIONS..]: sets $tap, its URL without a path; it records to tap.jsonl.
tap_start() {
	local to=$1
	shift
	"$ROLLDBG" tap --listen 0 --to "$to" --out tap.jsonl "$@" >tap.out 2>&1 3>&- &
	local pid=$!
	echo $pid >"$BATS_TEST_TMPDIR/tap.pid"
	until grep -qs '^listening on' tap.out || ! kill -0 $pid; do sleep 0.05; done
	# shellcheck disable=SC2034 # for the caller
	tap=http://$(sed -n 's/^listening on //p' tap.out)
}

# tap_end CODE
tap_end() {
	local code=0 pid
	pid=$(cat "$BATS_TEST_TMPDIR/tap.pid")
	rm "$BATS_TEST_TMPDIR/tap.pid"
	kill -INT "$pid"
	wait "$pid" || code=$?
	[ "$code" = "$1" ] && return
	echo "exit code $code, expected $1"
	cat tap.out
	return 1
}

# moves COUNT: a repeatable walk that meets three sides and not the goal, with impossible moves
moves() {
	awk -v n="$1" 'BEGIN { split("DOWN,UP,LEFT LEFT LEFT RIGHT,NORTH,DOWN", walk, ","); s = 7
		while (count < n) {
			s = (s * 75 + 74) % 65537
			parts = split(walk[1 + s % 5], one, " ")
			for (i = 1; i <= parts && count < n; i++) { print one[i]; count++ }
		} }'
}

# drive NAME EXIT_CODE OPTIONS..: runs `run`, with the recording in NAME.jsonl and the verdict in NAME.json; `check` on the
# recording must give the same verdict. A --fail-on must be the first option and is passed to both.
drive() {
	local name=$1 wanted=$2 got=0 fail_on=()
	shift 2
	[ "$1" != --fail-on ] || fail_on=("$1" "$2")
	"$ROLLDBG" run --json --out "$name.jsonl" "$@" >"$name.json" 2>"$name.err" || got=$?
	same_code "$name" "$wanted" "$got"
	got=0
	"$ROLLDBG" check --json "${fail_on[@]}" "$name.jsonl" >"$name.check" 2>>"$name.err" || got=$?
	same_code "$name (check)" "$wanted" "$got"
	diff <(judgment "$name.json") <(judgment "$name.check")
}

same_code() {
	[ "$2" = "$3" ] && return
	echo "$1: exit code $3, expected $2"
	cat "${1%% *}.err" "${1%% *}.json"
	return 1
}

judgment() {
	jq -c 'del(.file)' "$1"
}

# holds NAME EXPRESSION: a jq expression, which may use lines.jq, that must be true for the recording.
holds() {
	jq -L "$root/tests/interop" -L "$BATS_TEST_DIRNAME" -se "include \"lines\"; $2" "$1.jsonl" >/dev/null && return
	echo "$1: not true: $2"
	cut -c 1-600 "$1.jsonl"
	return 1
}

# findings NAME: "rule severity" of each finding, sorted.
findings() {
	jq -r 'select(.type == "finding") | "\(.rule) \(.severity)"' "$1.json" | sort -u
}

fires() {
	findings "$1" | grep -qx "$2" && return
	echo "$1: '$2' is not among the findings:"
	findings "$1"
	return 1
}

silent() {
	findings "$1" | grep -q "^$2 " || return 0
	echo "$1: $2 among the findings:"
	findings "$1"
	return 1
}

no_findings() {
	[ -z "$(findings "$1")" ] && return
	findings "$1"
	return 1
}

# hold_session URL HEADERS_FILE: opens a session and leaves it open.
hold_session() {
	curl -sSf -D "$2" -o "$2.body" -H 'Content-Type: application/json' \
		-H 'Accept: application/json, text/event-stream' -d '{"jsonrpc":"2.0","id":1,"method":"initialize",
		"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"holder","version":"1"}}}' "$1"
}

# end_session URL HEADERS_FILE: ends the session opened by hold_session.
end_session() {
	curl -sSf -X DELETE -H "$(grep -i '^mcp-session-id:' "$2" | tr -d '\r')" "$1"
}

# hold_ws URL COUNT: opens COUNT sessions, which stay open until release_ws.
hold_ws() {
	"$installed/openenv/bin/python" - "$1" "$2" "$BATS_TEST_TMPDIR" 3>&- <<-'PYTHON' &
		import contextlib, pathlib, sys, time
		from websockets.sync.client import connect
		url, count, directory = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
		with contextlib.ExitStack() as held:
		    for _ in range(count):
		        socket = held.enter_context(connect(url, proxy=None))
		        socket.send('{"type":"state"}')
		        socket.recv()
		    (directory / "held").touch()
		    deadline = time.monotonic() + 240
		    while not (directory / "release").exists() and time.monotonic() < deadline:
		        time.sleep(0.05)
		(directory / "released").touch()
	PYTHON
	wait_for held
}

wait_for() {
	local deadline=$((SECONDS + 120))
	until [ -e "$BATS_TEST_TMPDIR/$1" ]; do
		[ $SECONDS -lt $deadline ]
		sleep 0.05
	done
}

release_ws() {
	touch "$BATS_TEST_TMPDIR/release"
	wait_for released
	rm "$BATS_TEST_TMPDIR"/{held,release,released}
}
