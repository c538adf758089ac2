#!/usr/bin/env bats
# Questions of the tap for states: what the recording has, and that the client sees nothing of them.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# through PROTOCOL [OPTIONS..]: six steps to the goal in front of a server of that protocol, recorded in run.jsonl and tap.jsonl.
through() {
	local path=/mcp
	local -a protocol=()
	[ "$1" != openenv ] || path='' protocol=(--protocol openenv)
	start lake "$ROLLDBG" serve --protocol "$1" --port 0
	start tap "$ROLLDBG" tap --listen 0 --to "${url%/mcp}" --out tap.jsonl --force --fail-on never --delay 100ms "${@:2}"
	rolldbg run --env "${url%/mcp}$path" --seed 3 --actions "$goal" --state observation "${protocol[@]}" --timeout "${patience:-20s}" --quiet --force --out run.jsonl || true
	stop tap
	stop lake
}

stop() {
	kill -INT "$(cat "$1.pid")"
	wait "$(cat "$1.pid")" || true
	rm "$1.pid"
}

# states: of each step, and at the end whether there is one.
states() {
	jq -r 'select(.type == "step") | .state.position' tap.jsonl | paste -s -d ' '
	jq -r 'select(.type == "end") | .state_hash != null' tap.jsonl
}

# A server of MCP with a resource and a tool that show its state: stdin of curl is enough for it. It notes the calls and their ids in `asked`.
counter() {
	command -v python3 >/dev/null || skip 'no python3'
	cat >counter.py <<-'PYTHON'
		import http.server, json, os, sys, threading
		era, count, log = sys.argv[1], 0, open("asked", "w")
		class Counter(http.server.BaseHTTPRequestHandler):
		    protocol_version = "HTTP/1.1"
		    wbufsize = -1 # a reply in one piece
		    def log_message(self, *_): pass
		    def do_POST(self):
		        global count
		        m = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
		        p = m.get("params", {})
		        name = p.get("name") or p.get("uri") or ""
		        print(m["method"], name, self.headers.get("Mcp-Session-Id"), self.headers.get("Mcp-Name"), self.headers.get("Authorization"),
		              "_meta" in p, m.get("id"), file=log, flush=True)
		        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "counter", "version": "1"}}
		        if m["method"] == "server/discover":
		            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": {}, "resultType": "complete"}
		        if m["method"] == "tools/list":
		            result = {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("add", "show")], "resultType": "complete"}
		        if m["method"] == "tools/call":
		            count += name == "add"
		            if name == "show" and count == 1 and os.environ.get("HANGS"):
		                threading.Event().wait()
		            text = "broken" if name == "show" and count == 3 else json.dumps({"count": count}) if name == "show" else "done"
		            result = {"content": [{"type": "text", "text": text}], "isError": text == "broken", "resultType": "complete"}
		        if m["method"] == "resources/read":
		            result = {"contents": [{"uri": name, "text": json.dumps({"count": count})}], "resultType": "complete"}
		        if era == "modern" and m["method"] == "initialize":
		            self.reply(400, json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"]}}}))
		        elif "id" not in m:
		            self.reply(202, "")
		        else:
		            self.reply(200, json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), m["method"])
		    def do_GET(self): self.reply(405, "")
		    def do_DELETE(self): self.reply(200, "")
		    def reply(self, status, text, method=None):
		        stream = method == "tools/call" # the others as JSON
		        text = f"event: message\ndata: {text}\n\n" if stream else text
		        self.send_response(status)
		        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
		        if method == "initialize": self.send_header("Mcp-Session-Id", "s1")
		        self.send_header("Content-Length", str(len(text)))
		        self.end_headers()
		        self.wfile.write(text.encode())
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counter)
		print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
		server.serve_forever()
	PYTHON
	start counter python3 counter.py "$1"
	start tap "$ROLLDBG" tap --listen 0 --to "${url%/mcp}" --out tap.jsonl --force --fail-on never "${@:2}"
	export A_KEY=sk-of-the-client
	expect 0 rolldbg run --env "${url%/mcp}/mcp" --protocol mcp --era "$1" --state none --call add --call add --call add \
		--header "Authorization: Bearer $A_KEY" --fail-on never --quiet --force --out run.jsonl
	stop tap
	kill "$(cat counter.pid)"
	rm counter.pid
}

@test "OpenEnv: each step has the state before it, with and without a fault whose condition asks for it" {
	through openenv --ask-state
	[ "$(states)" = $'0 4 8 9 13 14\ntrue' ]
	all_are tap.jsonl header '.state_source.kind == "openenv"'
	all_are tap.jsonl step '.env_steps == .step + 1'
	for fault in slow stale-reply error-reply no-done; do
		through openenv --ask-state --fault "$fault@before.position == 8"
		[ "$(jq -c 'select(.event == "fault-injected") | [.turn, .detail.what]' tap.jsonl)" = "[2,\"$fault\"]" ]
		[ "$(states)" = $'0 4 8 9 13 14\ntrue' ]
	done
	# without ours there is no state to ask for: only observations
	patience=3s # one of these has no reply
	for fault in disconnect hang cut-json; do
		through openenv --ask-state --fault "$fault@before.position == 8"
		[ "$(jq -c 'select(.event == "fault-injected") | [.turn, .detail.what]' tap.jsonl | head -n 1)" = "[2,\"$fault\"]" ]
		[ "$(jq -r 'select(.type == "step" and .step < 3) | .state.position' tap.jsonl | paste -s -d ' ')" = '0 4 8' ]
	done
}

@test "MCP-Gym: the control plane is asked after each call, with the client's id" {
	through mcp --ask-state
	[ "$(states)" = $'0 4 8 9 13 14\ntrue' ]
	all_are tap.jsonl header '.state_source.kind == "control-plane"'
	all_are tap.jsonl step '.meta.control.reward == "ok" and .meta.control.status == "ok"'
	expect 0 rolldbg check tap.jsonl
	has "$output" 'no findings: 6 of 6 steps changed the state'
	through mcp --ask-state --fault 'error-reply@before.position == 8'
	[ "$(jq -c 'select(.event == "fault-injected") | .turn' tap.jsonl)" = 2 ]
	[ "$(states)" = $'0 4 8 9 13 14\ntrue' ]
	[ "$(jq -c 'select(.type == "step") | .outcome' tap.jsonl | sort | uniq -c | tr -s ' \n' ' ')" = ' 5 "ok" 1 "tool-error" ' ]
}

@test "plain MCP of both eras: a tool or a resource is asked in the client's session, and its calls are no steps" {
	local era source
	for era in legacy modern; do
		for source in tool:show resource:counter://now; do
			counter $era --state $source
			[ "$(jq -c 'select(.type == "step") | [.tool_call.name, .state.count]' tap.jsonl | paste -s -d ' ')" = '["add",0] ["add",1] ["add",2]' ]
			all_are tap.jsonl header ".state_source.kind == \"${source%%:*}\""
			[ "$(jq -c 'select(.type == "step") | .observation' run.jsonl | sort -u)" = '"done"' ]
			# its own ids, and the client's session, key and protocol
			[ "$(grep -c "^[a-z/]* ${source#*:} .*Bearer sk-of-the-client" asked)" = 4 ]
			[ "$(awk '{ print $NF }' asked | grep -v None | sort | uniq -d)" = '' ]
			if [ $era = legacy ]; then
				[ "$(grep -c "^[a-z/]* ${source#*:} s1 None .* rolldbg-tap-" asked)" = 4 ]
			else
				[ "$(grep -c "^[a-z/]* ${source#*:} None ${source#*:} .* True rolldbg-tap-" asked)" = 4 ]
			fi
		done
		# the last call of the tool fails, which is said
		counter $era --state tool:show
		[ "$(jq -r 'select(.event == "control-plane-failed") | .detail.why' tap.jsonl)" = 'tool show: broken' ]
	done
}

@test "a state that never comes holds the client for five seconds, and is said to be missing" {
	export HANGS=1
	counter legacy --state tool:show
	[ "$(jq -c 'select(.type == "step") | [.outcome, .state.count]' tap.jsonl | paste -s -d ' ')" = '["ok",0] ["ok",null] ["ok",2]' ]
	[ "$(jq -r 'select(.event == "control-plane-failed") | .detail.why' tap.jsonl | head -n 1)" = 'tool show: no reply in time' ]
}

@test "usage of --state and --ask-state" {
	expect 2 rolldbg tap --to http://127.0.0.1:1 --state observation
	has "$stderr" '--state observation: expected resource:URI or tool:NAME[:JSON]'
	expect 2 rolldbg tap --state tool:x -- cat
	has "$stderr" '--to URL'
	expect 2 rolldbg tap --ask-state -- cat
	has "$stderr" '--to URL'
}
