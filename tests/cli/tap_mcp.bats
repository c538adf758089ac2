#!/usr/bin/env bats
# The tap between MCP clients and servers: over HTTP with MCP-Gym's control plane, and over standard streams.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# lake [OPTIONS..]: an MCP-Gym server; sets $lake, its URL.
lake() {
	start lake "$ROLLDBG" serve --port 0 "$@"
	lake=${url%/mcp}
}

# tap: in front of $lake; sets $tap, its MCP endpoint.
tap() {
	start tap "$ROLLDBG" tap --listen 0 --to "$lake" --out tap.jsonl
	tap=$url
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

# facts FILE: what the tap cannot know, and how it names things, left out.
facts() {
	rolldbg strip "$1" | jq -c 'del(.policy, .limits, .rollout, (.task, .sample), .reason, .total_reward)'
}

# ends FILE: "STATUS STEPS REASON" of each rollout.
ends() {
	jq -r 'select(.type == "end") | "\(.status) \(.steps) \(.reason)"' "$1"
}

# A server of MCP over standard streams: counts calls, and writes nonsense with the first.
counter() {
	cat >counter.py <<-'PYTHON'
		import json, sys
		count = 0
		for line in sys.stdin:
		    try:
		        m = json.loads(line)
		    except ValueError:
		        continue
		    if "id" not in m:
		        continue
		    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "counter", "version": "1"}}
		    if m["method"] == "tools/list":
		        result = {"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}
		    if m["method"] == "tools/call":
		        count += 1
		        if count == 1:
		            print("no JSON", flush=True)
		        result = {"content": [{"type": "text", "text": str(count)}], "isError": count == 3}
		    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
		print("counter ends", file=sys.stderr)
		sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
	PYTHON
}

needs_python() {
	command -v python3 >/dev/null || skip 'no python3'
}

# calls COUNT: the messages of a client.
calls() {
	echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	for ((i = 1; i <= $1; i++)); do
		echo '{"jsonrpc":"2.0","id":"'"$i"'","method":"tools/call","params":{"name":"count","arguments":{"n":'"$i"'}}}'
	done
}

@test "MCP-Gym: the recording equals the one of run, but for policy, limits and names" {
	lake
	tap
	expect 0 rolldbg run --env "$tap" --seed 42 --actions "$goal" --out run.jsonl
	tap_end 0
	diff <(facts run.jsonl) <(facts tap.jsonl)
	expect 0 rolldbg check tap.jsonl
	has "$output" 'no findings: 6 of 6 steps changed the state'
	all_are tap.jsonl header '.env.protocol == "mcp-gym" and .state_source.kind == "control-plane" and .seed == 42'
	all_are tap.jsonl step '.meta.control.reward == "ok" and .meta.control.status == "ok"'
}

@test "plain MCP: no states, and the calls as run sends them" {
	lake
	tap
	expect 0 rolldbg run --env "$tap" --protocol mcp --actions "$goal" --out run.jsonl
	tap_end 0
	diff <(facts run.jsonl) <(facts tap.jsonl)
	all_are tap.jsonl header '.env.protocol == "mcp" and .state_source.kind == "none"'
	[ "$(ends tap.jsonl)" = 'finished 6 the client deleted the session' ]
}

@test "a session refused at capacity is a rollout that was refused" {
	lake --max-envs 1 --fault capacity
	tap
	run -1 rolldbg run --env "$tap" --seed 42 --actions "$goal" --group-size 3 --jobs 3 --out run.jsonl
	tap_end 1
	[ "$(jq -s 'map(select(.type == "end" and .status == "refused")) | length' tap.jsonl)" = \
		"$(jq -s 'map(select(.type == "end" and .status == "refused")) | length' run.jsonl)" ] ||
		[ "$(jq -s 'map(select(.outcome == "capacity" or .error.class == "capacity")) | length' tap.jsonl)" -gt 0 ]
}

@test "parallel rollouts are not mixed" {
	lake --max-envs 16
	tap
	expect 0 rolldbg run --env "$tap" --seed 42 --actions "$goal" --group-size 16 --jobs 16 --without zero-variance-group --out run.jsonl
	kill -INT "$(cat tap.pid)"
	wait "$(cat tap.pid)" || true
	rm tap.pid
	[ "$(jq -s 'map(select(.type == "header")) | length' tap.jsonl)" = 16 ]
	jq -es 'map(select(.type == "step")) | group_by(.rollout) | all(map(.state.position) == [0, 4, 8, 9, 13, 14])' tap.jsonl
	jq -es 'map(select(.type == "header")) | map(.task.id) | unique | length == 1' tap.jsonl
}

@test "a key in a header is in no recording" {
	lake
	tap
	expect 0 rolldbg run --env "$tap" --seed 42 --header 'Authorization: Bearer top-secret-key-1' --actions "$goal" --out run.jsonl
	tap_end 0
	run -1 grep -a 'top-secret-key-1' tap.jsonl tap.log tap.err
}

@test "a call without a reply is recorded, also if the client deletes the session first" {
	canned peer <<-'END'
		tools/call	hang
	END
	lake=${url%/mcp}
	tap
	local head=(-H 'Mcp-Session-Id: one' -H 'MCP-Protocol-Version: 2025-06-18' -H 'Content-Type: application/json')
	curl -sS "${head[@]}" -d '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}' "$tap" 3>&- &
	local call=$!
	wait_for 60 grep -q tools/call peer.log
	curl -sS "${head[@]}" -X DELETE "$tap"
	kill $call
	tap_end 1
	all_are tap.jsonl step '.outcome == "transport-error" and .error.message == "no reply: the client deleted the session"'
	[ "$(jq -c 'select(.type == "end") | [.status, .steps]' tap.jsonl)" = '["finished",1]' ]
}

@test "stdio: the same bytes, the server's exit code, and its stderr" {
	needs_python
	counter
	calls 2 >in
	expect 7 python3 counter.py 7 <in
	local direct=$output
	expect 7 rolldbg tap --out tap.jsonl -- python3 counter.py 7 <in
	[ "$output" = "$direct" ]
	has "$stderr" 'counter ends'
	[ "$(ends tap.jsonl)" = "finished 2 the client ended the server's input" ]
	[ "$(jq -c 'select(.type == "step") | [.outcome, .observation]' tap.jsonl)" = $'["ok",1]\n["ok",2]' ]
	jq -es 'any(.event == "noise" and .detail.text == "no JSON")' tap.jsonl
}

@test "stdio: with the same calls, one of which fails, it equals what run records" {
	needs_python
	counter
	rolldbg run --fail-on never --env "stdio:$ROLLDBG tap --out tap.jsonl -- python3 counter.py" --protocol mcp \
		--call 'count n=1' --call 'count n=2' --call 'count n=3' --out run.jsonl
	diff <(facts run.jsonl | grep -v '"type":"event"') <(facts tap.jsonl | grep -v '"type":"event"')
	all_are tap.jsonl header '.env.name == "counter" and .meta.mcp.transport == "stdio"'
	[ "$(jq -r 'select(.type == "step") | .outcome' tap.jsonl | tr '\n' ' ')" = 'ok ok tool-error ' ]
}

@test "stdio: what was recorded survives kill -9, and the server does not" {
	needs_python
	counter
	mkfifo in
	"$ROLLDBG" tap --out tap.jsonl -- python3 counter.py <in >out 2>err 3>&- &
	local pid=$!
	exec 5>in
	calls 2 >&5
	wait_for 60 grep -q '"id": "2"' out
	wait_for 60 grep -q '"step":1,' tap.jsonl
	local server
	server=$(pgrep -P $pid python3)
	kill -9 $pid
	wait $pid || true
	wait_for 60 eval "! kill -0 $server"
	exec 5>&-
	jq -e . tap.jsonl >/dev/null
	run -1 rolldbg check tap.jsonl
	has "$output" incomplete
}

@test "stdio: a server that hangs does not outlive the tap" {
	mkfifo in
	"$ROLLDBG" tap --out tap.jsonl -- sh -c 'trap "" TERM; echo $$; while :; do sleep 0.05; done' <in >out 2>err 3>&- &
	local pid=$! server
	exec 5>in
	wait_for 60 grep -q . out
	server=$(cat out)
	kill -TERM $pid
	kill -9 $pid
	wait $pid || true
	wait_for 60 eval "! kill -0 $server"
	exec 5>&-
}

@test "stdio: signals reach the server, and one that is missing is named" {
	"$ROLLDBG" tap --out tap.jsonl -- sh -c 'trap "exit 9" TERM; echo up; while :; do sleep 0.05; done' >out 2>err 3>&- </dev/zero &
	local pid=$! code=0
	wait_for 60 grep -q up out
	kill -TERM $pid
	wait $pid || code=$?
	[ $code = 9 ]
	expect 2 rolldbg tap --out none.jsonl -- ./no-such-server
	has "$stderr" "'./no-such-server' was not found"
}
