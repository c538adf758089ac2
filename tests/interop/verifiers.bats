#!/usr/bin/env bats
# Tool servers of verifiers v1, from its own package: started with their state channel, and without it.

# shellcheck disable=SC2154,SC2094 # variables of lib.bash; moves is a function and a file
load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export PYTHONPATH=$servers
	lake="verifiers:$installed/verifiers/bin/python -W ignore -m verifiers_lake"
	pass=(--pass-env PYTHONPATH --pass-env PYTHONPYCACHEPREFIX)
}

@test "1,000 steps are those of the framework's client: the state before each call, and the reply" {
	moves 1000 >moves
	"$installed/verifiers/bin/python" -W ignore "$BATS_TEST_DIRNAME/verifiers_client.py" verifiers_lake lake <moves >theirs 2>their.err 3>&- &
	client=$!
	"$ROLLDBG" run --env "$lake lake" "${pass[@]}" --force-call --tool move --actions "$(paste -s -d , moves)" --out ours.jsonl >run.out || [ $? = 1 ]
	wait "$client"
	[ "$(wc -l <theirs)" = 1000 ]
	diff <(jq -c . theirs) <(jq -c 'select(.type == "step") | [.state, .observation]' ours.jsonl)
	jq -e -s 'map(select(.type == "step" and .outcome == "tool-error")) | length > 0' ours.jsonl
}

@test "two sessions at once, a task and a state to begin with; a golden is replayed, of which another state is the only difference" {
	cat >tasks.jsonl <<-'TASKS'
		{"id":"plain","reset":{"prompt":"Walk"},"actions":"DOWN,DOWN,RIGHT","tool":"move"}
		{"id":"begun","reset":{"task":{"prompt":"Go on"},"state":{"position":9}},"actions":"DOWN,RIGHT,RIGHT","tool":"move"}
	TASKS
	"$ROLLDBG" run --env "$lake lake" "${pass[@]}" --tasks tasks.jsonl --jobs 2 --out out/ >run.out
	grep -q 'no findings: 6 of 6 steps changed the state' run.out
	[ "$(jq -c 'select(.type == "end") | .state.position' out/*.jsonl | paste -s -d ' ')" = "15 9" ]
	"$ROLLDBG" strip out/begun.0.jsonl >golden.jsonl
	sed 's/"position":13/"position":12/' golden.jsonl >other.jsonl
	run "$ROLLDBG" replay other.jsonl --env "$lake lake" "${pass[@]}"
	[ "$status" = 1 ]
	[[ $output == *"/state/position"*"1 of 1 rollout differs · 1 difference ·"* ]]
}

@test "the server ends within a call, one that takes too long, and a setup that fails" {
	"$ROLLDBG" run --env "$lake lake" "${pass[@]}" --timeout 2s --open-timeout 60s --force-call --tool move --actions DOWN,WAIT,DOWN,EXIT --out ended.jsonl >ended.out 2>&1 3>&- &
	ended=$!
	run "$ROLLDBG" run --env "$lake failing" "${pass[@]}" --call look
	[ "$status" = 4 ]
	[[ $output == *"the server exited with status 1: RuntimeError: no lake today"* ]]
	wait "$ended" || [ $? = 4 ]
	holds ended 'steps | map(.outcome) == ["ok", "timeout", "ok", "transport-error"] and map(.state.position) == [null, 4, 4, 8]'
}

@test "a toolset that keeps its state to itself; and one whose state is lost, because nobody hosts its channel" {
	server_start lost env MCP_PORT_FILE="$PWD/port" "$installed/verifiers/bin/python" -W ignore -c '
import os, subprocess, sys, time
server = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "verifiers_lake", "lake"])
while not os.path.exists("port") or not (port := open("port").read()): time.sleep(0.05)
print(f"listening on http://127.0.0.1:{port}", flush=True)
server.wait()' 
	"$ROLLDBG" run --env "$lake memory" "${pass[@]}" --tool move --actions DOWN,DOWN,RIGHT --out memory.jsonl --json >memory.json
	fires memory "control-plane-blind warning"
	silent memory missing-state
	until curl -s -o /dev/null -d '{}' "$(url lost)"; do sleep 0.1; done
	drive lost 0 --env "$(url lost)" --tool fish --actions worm,bread,fly,worm,bread,fly
	fires lost "observation-frozen warning"
}
