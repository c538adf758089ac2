#!/usr/bin/env bats
# The tap: what it records of others, and that it changes nothing.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

peer=$data/tap_peer.py

# lake [OPTIONS..]: an OpenEnv server; sets $lake, its URL.
lake() {
	start lake "$ROLLDBG" serve --protocol openenv --port 0 "$@"
	lake=${url%/mcp}
}

# tap [OPTIONS..]: in front of $lake; sets $tap, its URL, and $port.
tap() {
	start tap "$ROLLDBG" tap --listen 0 --to "$lake" "$@"
	tap=${url%/mcp}
	port=${tap##*:}
}

# tap_end CODE: Ctrl-C; the exit code must be this.
tap_end() {
	local code=0
	kill -INT "$(cat tap.pid)"
	wait "$(cat tap.pid)" || code=$?
	rm tap.pid
	[ "$code" = "$1" ] || {
		printf 'exit code %s, not %s\n' "$code" "$1" >&2
		cat tap.log tap.err >&2
		return 1
	}
}

# ends FILE: "STATUS STEPS REASON" of each rollout.
ends() {
	jq -r 'select(.type == "end") | "\(.status) \(.steps) \(.reason)"' "$1"
}

needs_python() {
	command -v python3 >/dev/null || skip 'no python3'
}

@test "the tap's recording equals the one of run, but for the policy and its limits" {
	lake
	tap --out tap.jsonl
	expect 0 rolldbg run --env "$tap" --seed 3 --task FrozenLake-v1-seed3 --actions "$goal" --out run.jsonl
	tap_end 0
	for name in tap run; do
		rolldbg strip $name.jsonl | jq -c 'del(.policy, .limits)' >$name.strip
	done
	diff run.strip tap.strip
	expect 0 rolldbg diff --mask /policy run.jsonl tap.jsonl
	expect 0 rolldbg check tap.jsonl
	has "$(cat tap.log)" 'no findings: 6 of 6 steps changed the state'
	[ "$(jq -r 'select(.type == "header") | .meta.env_session' run.jsonl)" = "$(jq -r 'select(.type == "header") | .meta.env_session' tap.jsonl)" ]
	all_are tap.jsonl header '.meta.client_port > 0 and .policy == null and .limits == null'
}

@test "a tap's recording is a recording: show, stats, replay and serve take it" {
	lake
	tap --out tap.jsonl
	rolldbg run --env "$tap" --seed 3 --actions "$goal" --quiet --out run.jsonl
	tap_end 0
	expect 0 rolldbg show tap.jsonl
	expect 0 rolldbg stats tap.jsonl
	expect 0 rolldbg replay tap.jsonl --env "$lake"
	start playback "$ROLLDBG" serve tap.jsonl --port 0
	expect 0 rolldbg run --env "${url%/mcp}" --protocol openenv --seed 3 --actions "$goal" --out again.jsonl
	expect 0 rolldbg run --env "$lake" --seed 3 --actions "$goal" --state observation --out observed.jsonl
}

# by_session DIRECTORY: the stripped lines of its rollouts, without headers, and with the session in place of the rollout's id.
by_session() {
	awk 'NR == FNR { session[$1] = $2; next }
		!/^{"type":"header"/ && match($0, /"rollout":"[^"]*"/) {
			print session[substr($0, RSTART + 11, RLENGTH - 12)], substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
		}' <(cat "$1"/*.jsonl | jq -r 'select(.type == "header") | "\(.rollout) \(.meta.env_session)"') \
		<(rolldbg strip "$1") | sort -s -k 1,1
}

@test "64 clients at once: each rollout is whole and its own" {
	lake --max-envs 64
	tap --out taps/
	expect 0 rolldbg run --env "$tap" --seed 3 --actions "$goal" --group-size 64 --jobs 64 --out runs/
	tap_end 0
	[ "$(find taps -name "*.jsonl" | wc -l)" = 64 ]
	# the sessions join both sides
	by_session runs >theirs
	[ "$(cut -d ' ' -f 1 theirs | sort -u | grep -c '^.')" = 64 ]
	[ "$(wc -l <theirs)" = 512 ] # a reset, six steps and an end each
	by_session taps | diff theirs -
	has "$(cat tap.log)" '64 rollouts · 384 turns · 384 steps · 384 effective'
	[ "$(cat taps/*.jsonl | jq -r 'select(.type == "header") | .task.id' | sort -u)" = FrozenLake-v1-seed3 ]
}

@test "a trainer's pool: samples are in the order of the resets, calls or not, and groups are those of a batch" {
	needs_python
	lake --max-envs 2
	tap --out taps/
	expect 0 python3 "$peer" pool "$port" 0:01 1:10 2:2- 1:12 3:00
	tap_end 0
	cat taps/* >tap.jsonl
	jq -rs 'map(select(.type == "end") | "\(.rollout) \(.steps)") | sort | join(", ")' tap.jsonl >got
	[ "$(tr -d '\n' <got)" = "$(printf 'FrozenLake-v1-%s, ' seed0.{0\ 0,1\ 1} seed1-2.{0\ 1,1\ 2} seed1.{0\ 1,1\ 0} seed2.0\ 2 seed3.{0\ 0,1\ 0} | sed 's/, $//')" ]
	all_are tap.jsonl header '"\(.task.id).\(.sample)" == .rollout'
	has "$(cat tap.log)" 'void-rollouts: 3 findings in all'
	expect 0 rolldbg check taps
	has "$output" 'void-rollouts: 1 of 2 rollouts of task FrozenLake-v1-seed0 made no call that was answered'
}

@test "a trainer whose model never calls a tool: exit 1" {
	needs_python
	lake --max-envs 2
	tap --out taps/
	expect 0 python3 "$peer" pool "$port" 0:00
	kill -USR1 "$(cat tap.pid)"
	wait_for 60 grep -q '2 episodes · 0 steps .* 2 failed or void' tap.err
	tap_end 1
	has "$(cat tap.log)" '2 of 2 rollouts of task FrozenLake-v1-seed0 made no call that was answered, nor did any other'
	expect 1 rolldbg check taps
	expect 1 rolldbg check --jobs 2 taps
}

@test "refusals at capacity are rollouts that were refused, folded into one finding" {
	lake --max-envs 1
	tap --out tap.jsonl
	expect 1 rolldbg run --env "$tap" --actions "$goal" --group-size 8 --jobs 8 --quiet --out run.jsonl
	tap_end 1
	refused=$(jq -r 'select(.type == "end") | .status' run.jsonl | grep -c refused)
	[ "$(ends tap.jsonl | grep -c '^refused 0 the server refused the session: Server at capacity')" = "$refused" ]
	has "$(cat tap.log)" "capacity: $refused findings in all"
	has "$(cat tap.log)" "$refused refused"
	jq -es 'map(select(.type == "reset" and .outcome == "capacity")) | all(.error.class == "capacity" and .error.code == "CAPACITY_REACHED")' tap.jsonl
}

@test "a server that is not there: the client gets a 502 that says so" {
	lake=http://127.0.0.1:1
	tap --out tap.jsonl
	expect 1 rolldbg run --env "$tap" --protocol openenv --actions "$goal" --out run.jsonl
	has "$stderr" 'HTTP 502'
	needs_python
	printf '%s' 'GET /ws HTTP/1.1|Host: x|Upgrade: websocket|Connection: Upgrade|Sec-WebSocket-Key: x||' | sed 's/|/\r\n/g' | od -An -tx1 -v | tr -d ' \n' >request
	expect 0 python3 "$peer" send "$port" "$(cat request)"
	has "$output" 'cannot connect to 127.0.0.1:1: Connection refused'
	tap_end 1
	has "$(ends tap.jsonl)" 'unreachable 0'
}

@test "a server that comes after the tap is described as one that was there" {
	needs_python
	lake --max-envs 2
	kill "$(cat lake.pid)"
	wait "$(cat lake.pid)" || true
	tap --out tap.jsonl
	"$ROLLDBG" serve --protocol openenv --max-envs 2 --port "${lake##*:}" >lake.log 2>&1 3>&- &
	echo $! >lake.pid
	wait_for 60 grep -q '^listening on' lake.log
	expect 0 python3 "$peer" pool "$port" 3:12 # which does not ask for the description
	tap_end 0
	all_are tap.jsonl header '.env.name == "FrozenLake-v1" and .task.id == "FrozenLake-v1-seed3" and (.tools | length == 1)'
}

@test "a server that does not say what it is holds the first client for five seconds, and no other" {
	needs_python
	start lake python3 "$peer" undescribed
	lake=${url%/mcp}
	tap --out tap.jsonl
	python3 "$peer" upgrade "$port" 1 </dev/null >first 3>&- &
	first=$!
	wait_for 60 grep -q /schema lake.log
	[ "$(timeout 3 python3 "$peer" upgrade "$port" 1 </dev/null)" = open ]
	[ ! -s first ]
	wait "$first"
	[ "$(cat first)" = open ]
	[ "$(grep -c /schema lake.log)" = 1 ]
	tap_end 0
}

@test "the listening line comes first; a summary on SIGUSR1; Ctrl-C ends what is open" {
	needs_python
	lake
	tap --out tap.jsonl
	mkfifo go
	python3 "$peer" upgrade "$port" 3 <go >opened 3>&- &
	client=$!
	exec 5>go
	wait_for 60 grep -q open opened
	kill -USR1 "$(cat tap.pid)"
	wait_for 60 grep -q '3 open (3 at most) · 0 episodes' tap.err
	expect 0 rolldbg run --env "$tap" --seed 3 --actions "$goal" --quiet --out run.jsonl
	wait_for 60 grep -q '"type":"end"' tap.jsonl
	kill -USR1 "$(cat tap.pid)"
	wait_for 60 grep -q '(4 at most) · 1 episode · 6 steps · 6 effective · 0 refused · 0 replaced$' tap.err
	tap_end 0
	exec 5>&-
	wait $client
	has "$(head -n 1 tap.log)" 'listening on 127.0.0.1:'
	has "$(cat tap.log)" '3 without an episode, not recorded'
	[ "$(ends tap.jsonl | wc -l)" = 1 ]
}

@test "an interrupted episode says so" {
	lake --delay 30s
	tap --out tap.jsonl
	rolldbg run --env "$tap" --actions "$goal" --quiet --out run.jsonl 3>&- &
	client=$!
	wait_for 60 grep -q '"type":"reset"' run.jsonl
	sleep 0.3
	tap_end 1
	wait $client || true
	[ "$(ends tap.jsonl)" = 'interrupted 1 interrupted, with a call in flight' ]
}

@test "who closed first: the server, in the middle of a call" {
	lake --fault close-1011
	tap --out tap.jsonl
	expect 4 rolldbg run --env "$tap" --actions "$goal" --quiet --out run.jsonl
	tap_end 1
	has "$(ends tap.jsonl)" 'unreachable 3 the server closed the connection first (close code 1011): keepalive ping timeout, with a call in flight'
	diff <(jq -c 'select(.type == "step") | [.outcome, .error.class, .error.code]' run.jsonl) \
		<(jq -c 'select(.type == "step") | [.outcome, .error.class, .error.code]' tap.jsonl)
}

@test "a call is classified as run does it, whatever the server's fault" {
	for fault in zombie stateless disconnect no-metadata alias; do
		lake --fault "$fault"
		tap --force --out tap.jsonl
		rolldbg run --env "$tap" --seed 3 --task FrozenLake-v1-seed3 --actions "$goal" --quiet --force --out run.jsonl || true
		kill -INT "$(cat tap.pid)"
		wait "$(cat tap.pid)" || true
		kill "$(cat lake.pid)"
		wait "$(cat lake.pid)" || true
		first='select(.type == "step" and .rollout == "FrozenLake-v1-seed3.0")'
		diff <(jq -c "$first | [.step, .state_hash, .outcome, .error.class, .error.code, .reward, .env_steps]" run.jsonl) \
			<(jq -c "$first | [.step, .state_hash, .outcome, .error.class, .error.code, .reward, .env_steps]" tap.jsonl) || {
			echo "fault $fault" >&2
			return 1
		}
	done
	rm tap.pid lake.pid
}

@test "kill -9 leaves complete lines" {
	lake --delay 200ms
	tap --out tap.jsonl
	rolldbg run --env "$tap" --actions "$goal" --group-size 20 --quiet --out run.jsonl 3>&- &
	client=$!
	wait_for 60 grep -q '"step":1,' tap.jsonl # of six: some rollout is open
	kill -9 "$(cat tap.pid)"
	wait $client "$(cat tap.pid)" || true
	rm tap.pid
	jq -e . tap.jsonl >/dev/null
	expect 1 rolldbg check tap.jsonl
	has "$output" incomplete
}

@test "a full disk stops the recording, once and loudly, and nothing else" {
	lake
	start tap bash -c "ulimit -f 8 && exec '$ROLLDBG' tap --listen 0 --to '$lake' --out tap.jsonl"
	tap=${url%/mcp}
	expect 0 rolldbg run --env "$tap" --actions "$goal" --group-size 8 --quiet --out run.jsonl
	tap_end 5
	[ "$(grep -c 'nothing more is recorded, but everything is still relayed' tap.err)" = 1 ]
	jq -e . tap.jsonl >/dev/null
	[ -s tap.jsonl ]
}

@test "what is no HTTP is relayed as it is, both ways, and half-closed connections stay open" {
	needs_python
	start lake python3 "$peer" echo
	lake=${url%/mcp}
	tap --out tap.jsonl
	for bytes in 160301 00ff00ff 474554202f20 '485454502f312e31203230300d0a0d0a'; do
		[ "$(python3 "$peer" send "$port" "$bytes" half | od -An -tx1)" = "$(python3 "$peer" send "${lake##*:}" "$bytes" half | od -An -tx1)" ]
	done
	# a head that is too long, and one that is cut short
	printf 'GET / HTTP/1.1\r\nA: %070000d' 1 >long
	[ "$(python3 "$peer" send "$port" "@long" half)" = "$(cat long)" ]
	tap_end 0
	has "$(cat tap.log)" 'connections with something else than the protocol'
}

@test "fragments, pings and single bytes are read; frames that are none are passed on" {
	needs_python
	lake
	tap --out tap.jsonl
	[ "$(python3 "$peer" frames "$port" fragments)" = hi ]
	wait_for 60 grep -q '"type":"end"' tap.jsonl
	[ "$(ends tap.jsonl)" = 'stopped 0 the client closed the connection first (close code 1000)' ]
	timeout 20 python3 "$peer" frames "$port" nonsense
	timeout 20 python3 "$peer" frames "$port" huge
	expect 0 rolldbg run --env "$tap" --actions "$goal" --quiet --out run.jsonl
	tap_end 0
}

@test "a client that does not read is held back, and harms nobody" {
	needs_python
	start lake python3 "$peer" big
	lake=${url%/mcp}
	tap --out tap.jsonl
	mkfifo go
	clients=()
	for i in 1 2 3 4; do
		python3 "$peer" lazy "$port" <go >asked$i 3>&- &
		clients+=($!)
	done
	exec 5>go
	for i in 1 2 3 4; do
		wait_for 60 grep -q asked asked$i
	done
	sleep 0.5
	[ -n "${ASAN_OPTIONS:-}" ] || [ "$(awk '/VmRSS/ { print $2 }' "/proc/$(cat tap.pid)/status")" -lt 40000 ]
	expect 0 curl -s -o got "$tap/x"
	[ "$(wc -c <got)" = 50000000 ]
	exec 5>&-
	tap_end 0
	wait "${clients[@]}"
}

@test "a command is started with the URL, followed, and its exit code counts" {
	lake
	expect 0 rolldbg tap --listen 0 --to "$lake" --out a.jsonl -- bash -c "exec '$ROLLDBG' run --env \"\$ROLLDBG_TAP_URL\" --actions $goal --quiet --out run.jsonl"
	has "$stderr" 'no findings: 6 of 6 steps changed the state'
	[ "$(ends a.jsonl)" = 'terminated 6 the environment reported terminated' ]
	expect 7 rolldbg tap --listen 0 --to "$lake" --out b.jsonl -- bash -c 'echo mine; exit 7'
	[ "$output" = mine ]
	expect 2 rolldbg tap --listen 0 --to "$lake" --out c.jsonl -- no-such-command
	has "$stderr" "'no-such-command' was not found"
	expect 2 rolldbg tap
	has "$stderr" '--to URL'
}

@test "--fail-on decides the exit code; --out DIR/ must be empty" {
	lake --max-envs 1
	tap --fail-on never --out d/
	expect 1 rolldbg run --env "$tap" --actions "$goal" --group-size 4 --jobs 4 --quiet --out run.jsonl
	tap_end 0
	[ "$(find d -name "*.jsonl" | wc -l)" -gt 1 ]
	expect 2 rolldbg tap --listen 0 --to "$lake" --out d/
	has "$stderr" 'there are recordings in it'
}

@test "other requests pass: the pages of the description, and what nobody knows" {
	lake
	tap --out tap.jsonl
	[ "$(curl -s "$tap/schema")" = "$(curl -s "$lake/schema")" ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$tap/nowhere")" = 404 ]
	for where in "$tap" "$lake"; do
		curl -s -H 'Expect: 100-continue' -H 'Content-Type: application/json' -d '{"seed":1}' "$where/reset" >>resets
		echo >>resets
	done
	[ "$(uniq resets | wc -l)" = 1 ]
	[ "$(curl -sI -o /dev/null -w '%{http_code}' "$tap/schema")" = "$(curl -sI -o /dev/null -w '%{http_code}' "$lake/schema")" ]
	tap_end 0
}

@test "1,000 WebSockets at once, in 64 MiB" {
	needs_python
	lake --max-envs 2000
	tap --out tap.jsonl
	mkfifo go
	for i in 1 2; do
		python3 "$peer" upgrade "$port" 500 <go >opened$i 3>&- &
	done
	exec 5>go
	for i in 1 2; do
		wait_for 60 grep -q open opened$i
	done
	kill -USR1 "$(cat tap.pid)"
	wait_for 60 grep -q '1000 open (1000 at most)' tap.err
	[ -n "${ASAN_OPTIONS:-}" ] || [ "$(awk '/VmHWM/ { print $2 }' "/proc/$(cat tap.pid)/status")" -lt 65536 ]
	expect 0 rolldbg run --env "$tap" --actions "$goal" --quiet --out run.jsonl
	exec 5>&-
	tap_end 0
}

@test "a server that never answers some of its clients answers the others" {
	needs_python
	lake --fault hang
	tap --out tap.jsonl --fail-on never
	clients=()
	for i in 1 2 3; do
		rolldbg run --env "$tap" --protocol openenv --actions DOWN --timeout 4s --quiet --out hangs$i.jsonl 2>/dev/null 3>&- &
		clients+=($!)
	done
	for i in 1 2 3; do
		wait_for 60 grep -q '"type":"reset"' hangs$i.jsonl
	done
	[ "$(curl -s -m 3 "$tap/schema")" = "$(curl -s "$lake/schema")" ]
	wait "${clients[@]}" || true
	tap_end 0
	[ "$(ends tap.jsonl | grep -c 'the client closed the connection first .*, with a call in flight')" = 3 ]
}

@test "NeMo Gym: a call without the cookie, which the server answers from a fresh session" {
	needs_python
	cat >gym.py <<-'PYTHON'
		import base64, http.server, itertools, json
		ids, counts = itertools.count(), {}
		class Gym(http.server.BaseHTTPRequestHandler):
		    protocol_version = "HTTP/1.1"
		    wbufsize = -1 # a reply in one piece
		    def log_message(self, *_): pass
		    def do_POST(self):
		        self.rfile.read(int(self.headers["Content-Length"]))
		        cookie = (self.headers.get("Cookie") or "").partition("=")[2]
		        cookie = cookie or base64.b64encode(json.dumps({"session_id": f"s{next(ids)}"}).encode()).decode() + ".x.y"
		        counts.setdefault(cookie, 0)
		        counts[cookie] += self.path == "/increment"
		        body = {"/seed_session": {}, "/verify": {"reward": 1.0}}.get(self.path, {"count": counts[cookie]})
		        body = json.dumps(body).encode()
		        self.send_response(200)
		        self.send_header("Content-Type", "application/json")
		        self.send_header("Content-Length", str(len(body)))
		        self.send_header("Set-Cookie", f"CounterServer___counter={cookie}; path=/; HttpOnly")
		        self.end_headers()
		        self.wfile.write(body)
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gym)
		print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
		server.serve_forever()
	PYTHON
	start lake python3 gym.py
	lake=${url%/mcp}
	tap --out tap.jsonl
	curl -s -c jar -d '{"task": 1}' "$tap/seed_session"
	for options in '-b jar' '-b jar' '' '-b jar'; do
		# shellcheck disable=SC2086 # words or none
		curl -s $options -d '{}' "$tap/increment"
	done
	curl -s -b jar -d '{"task": 1, "response": {}}' "$tap/verify"
	tap_end 0
	[ "$(jq -c 'select(.type == "step") | .observation.count' tap.jsonl | paste -s -d ' ')" = '1 2 1 3' ]
	has "$(cat tap.log)" 'fallback-session: turn 2: 1 of 4 replies name session s1, expected s0'
	[ "$(ends tap.jsonl)" = 'finished 4 the client had it verified' ]
}
