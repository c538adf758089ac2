# Real servers for the tests in this folder: start one, wait until it listens, stop it by its process id.
# A test file starts its servers in setup_file and calls servers_stop in teardown_file.
# shellcheck shell=bash

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
servers=$root/fixtures/servers
installed=$root/.deps/interop
export rolldbg=${ROLLDBG:-$root/rolldbg}

# The package that carries each generation of MCP-Gym, and the folders laid over the newest one for it.
gym_package() {
	case $1 in
	D) echo eval_protocol ;;
	C) echo eval_protocol ep02:openai ;;
	B) echo reward_kit rk04:openai ;;
	A) echo reward_kit rk03:openai ;;
	C-on-mcp-1.9) echo eval_protocol mcp19:ep02:openai ;;
	esac
}

# server_start NAME COMMAND..: afterwards url_NAME holds the address of its MCP endpoint. Its output goes to a
# file, never to a pipe: these servers stop dead when nobody reads what they print.
server_start() {
	local name=$1 log=$BATS_FILE_TMPDIR/$1.log
	shift
	"$@" >"$log" 2>&1 3>&- &
	local pid=$!
	echo "$pid" >"$BATS_FILE_TMPDIR/$name.pid"
	local deadline=$((SECONDS + 60)) port
	until port=$(sed -nE 's|.*(running\|listening) on http://127\.0\.0\.1:([0-9]+).*|\2|p' "$log" | head -n 1) &&
		[ -n "$port" ]; do
		if ! kill -0 "$pid" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
			echo "$name did not start:" >&2
			tail -n 20 "$log" >&2
			return 1
		fi
		sleep 0.1
	done
	export "url_$name=http://127.0.0.1:$port/mcp"
}

# python PYTHON FOLDERS ARGS..: run a launch file. The compiled files go to a folder of ours, so that neither
# the tree nor a package cache is written to and a second start is quick.
python() {
	local python=$1 path=
	local -a folders
	IFS=: read -ra folders <<<"$2"
	shift 2
	local folder
	for folder in "${folders[@]}"; do
		path+=$installed/$folder:
	done
	exec env -u PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX="$installed/pycache" PYTHONPATH="${path%:}" \
		HOME="$BATS_FILE_TMPDIR" "$installed/$python/bin/python" -W ignore "$@"
}

# gym_start NAME GENERATION FILE [OPTIONS..]: FILE is gym_lake.py or gym_proxy.py.
gym_start() {
	local name=$1 package folders file=$3
	read -r package folders <<<"$(gym_package "$2")"
	shift 3
	server_start "$name" python gym "${folders:-}" "$servers/$file" --package "$package" "$@"
}

# sdk_start NAME 1|2 [OPTIONS..]
sdk_start() {
	local name=$1 python=gym
	[ "$2" = 2 ] && python=sdk2
	shift 2
	server_start "$name" python "$python" "" "$servers/sdk_counter.py" "$@"
}

everything_start() {
	server_start "$1" env PORT=0 node --require "$servers/loopback.js" \
		"$installed/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js" streamableHttp
}

servers_stop() {
	local file pid
	for file in "$BATS_FILE_TMPDIR"/*.pid; do
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
