#!/usr/bin/env bats
# A tool server of verifiers, started with its state channel. (tests/interop has the real ones.)

# shellcheck disable=SC2154 # variables of lib.bash
load lib

server="verifiers:python3 $data/tool_server.py"

# drive FAULT OPTIONS..: three calls
drive() {
	local fault=$1
	shift
	command -v python3 >/dev/null || skip 'no python3'
	rolldbg run --env "$server $fault" --tool act --actions east,look,west --force-call --out "$fault.jsonl" "$@" >"$fault.out" 2>"$fault.err"
}

steps() {
	jq -c "select(.type == \"step\") | $2" "$1.jsonl" | paste -s -d ' '
}

@test "the state before and after each call, in sessions of their own, and a golden" {
	drive none --group-size 2
	[ "$(steps none .state)" = '{} {"acts":1} {"acts":1} {} {"acts":1} {"acts":1}' ]
	[ "$(jq -c 'select(.type == "end") | .state' none.jsonl | paste -s -d ' ')" = '{"acts":2} {"acts":2}' ]
	jq -es '.[0] | .state_source.kind == "verifiers" and .env.protocol == "verifiers"' none.jsonl
	rolldbg strip none.jsonl >golden.jsonl
	rolldbg replay golden.jsonl --env "$server" >/dev/null
}

@test "a task, and a state to begin with; a server that listens late" {
	drive task --reset-json '{"prompt":"go \"on\""}'
	jq -es 'map(select(.type == "step"))[2].observation | .cls == "verifiers.v1.task:TaskData" and (.task | fromjson | .prompt == "go \"on\"")' task.jsonl
	drive late --reset-json '{"task":{},"cls":"m:T","state":{"acts":5}}'
	[ "$(steps late .state.acts)" = '5 6 6' ]
	rolldbg run --env "$server" --call 'act move=look' --state observation --out observed.jsonl >/dev/null
	jq -es '.[0].state_source.kind == "observation"' observed.jsonl
}

@test "a server that does not use the channel, or puts what is not JSON" {
	drive stateless
	jq -es 'map(select(.event == "state-source-lost")) | length == 1 and (.[0].detail.why | contains("declares none"))' stateless.jsonl
	[ "$(jq -c 'select(.type == "end") | .state' stateless.jsonl)" = null ]
	drive nan || [ $? = 1 ]
	[ "$(grep -c 'state that the server has put is not JSON' nan.jsonl)" = 1 ]
}

@test "requests that the channel refuses" {
	local fault
	for fault in secret path; do
		drive $fault || [ $? = 1 ]
		[ "$(steps $fault .outcome)" = '"tool-error" "tool-error" "tool-error"' ]
	done
	grep -q 'HTTP Error 401' secret.jsonl
	grep -q 'HTTP Error 404' path.jsonl
	drive rude --timeout 30s
	[ "$(steps rude .state)" = '{} {"acts":1} {"acts":1}' ]
}

@test "a server that ends, is not found, or is not started by a command" {
	expect 4 drive ends
	has "$(<ends.err)" 'the server exited with status 1: no lake today'
	expect 4 rolldbg run --env verifiers:no-such-server --call act
	has "$stderr" "'no-such-server' could not be started: "
	expect 2 rolldbg run --env http://127.0.0.1:1/mcp --protocol verifiers --call act
	has "$stderr" 'expected verifiers:COMMAND'
	expect 2 rolldbg run --env verifiers: --call act
	expect 2 rolldbg run --env "$server" --call act --state openenv
}
