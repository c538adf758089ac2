#!/usr/bin/env bats
# probe: the report on servers with one defect each, and no sessions left open. The table is data/probe.tsv.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

rows() {
	grep -v '^#' "$data/probe.tsv"
}

# not_ok FILE: the properties that are not ok, in the table's format.
not_ok() {
	jq -r 'select(.type == "property" and .status != "ok") | "\(.name):\(.status)"' "$1" | paste -sd ' '
}

# play FAULT ARGUMENTS...: probes; sets $code, the exit code. The output goes to lines.
play() {
	local timeout=60s fault=$1
	shift
	code=0
	case $fault in hang | late-reply) timeout=$short ;; esac
	rolldbg probe --sessions 3 --need 2 --settle 200ms --timeout "$timeout" --actions DOWN,UP,DOWN,UP --json "$@" >lines 2>err || code=$?
}

# expect_property NAME FILTER: the jq filter is true for that property in lines.
expect_property() {
	jq -es --arg name "$1" "map(select(.type == \"property\" and .name == \$name)) | length == 1 and all($2)" lines >/dev/null || {
		printf 'not so: %s: %s\n' "$1" "$2" >&2
		cat lines >&2
		return 1
	}
}

@test "the tool for drawn calls can be chosen" {
	expect 0 rolldbg probe --env builtin:desk --ignore /clock --sessions 1 --settle 100ms --tool list_items --json
	has "$output" '"evidence":"all calls are read-only"'
	expect 2 rolldbg probe --env builtin:desk --sessions 1 --settle 100ms --tool list_itms
	has "$stderr" "the server has no tool 'list_itms'; did you mean 'list_items'?"
}

@test "--ignore none is a word of check and probe, too" {
	expect 0 rolldbg probe --ignore none --sessions 1 --settle 100ms --actions DOWN
	jq -c 'if .state then .state = {request_count: ((.step // 3) | . * .)} else . end' \
		"$root/fixtures/check/only-counts/good-by-name.jsonl" >counts.jsonl
	expect 1 rolldbg check counts.jsonl
	has "$output" frozen-state
	expect 0 rolldbg check --ignore none counts.jsonl
	has "$output" '3 effective'
	expect 2 rolldbg check --ignore nothing counts.jsonl
	has "$stderr" 'nothing: not a JSON Pointer'
}

@test "every fault has a row for each of its protocols" {
	faults >wanted
	rows | awk '$2 != "-" { print $1, $2 }' | sort | diff wanted -
}

@test "every row of the table" {
	while IFS=$'\t' read -r protocol fault wanted; do
		keys="protocol=$protocol&max_envs=2&delay=1ms"
		[ "$fault" = - ] || keys+="&fault=$fault"
		play "$fault" --env "builtin:frozen_lake?$keys"
		printf '{"type":"row","row":"%s %s","code":%s}\n%s\n' "$protocol" "$fault" $code "$(<lines)" >>played
		printf '%s %s\t%s\n' "$protocol" "$fault" "${wanted%$'\t'}" >>wanted
	done < <(rows)
	# in one go, as jq takes longer to start than the program
	jq -rn 'reduce inputs as $line ([]; if $line.type == "row" then . + [[$line]] else .[-1] += [$line] end) | .[]
		| "\(.[0].row)\t\(.[0].code)\t" + (map(select(.type == "property" and .status != "ok") | "\(.name):\(.status)") | join(" "))' played |
		sed 's/\t$//' | diff wanted - >&2
}

@test "the properties are those of the tables, and the summary counts them" {
	rolldbg probe --json --env 'builtin:frozen_lake?max_envs=3&fault=fallback-session' >lines || [ $? = 1 ]
	[ "$(jq -r 'select(.type == "property").name' lines)" = "$(rolldbg __spec | awk -F '\t' '$2 == "property" { print $3 }')" ]
	[ "$(jq -c 'select(.type == "property") | keys_unsorted' lines | sort -u)" = '["type","name","status","value","evidence","fix"]' ]
	jq -es 'last | .type == "summary" and .ok + .fail + .unknown + .skipped == 14 and .sessions == 4 and .need == 4' lines
	[ "$(jq -s 'last.fail' lines)" = "$(grep -c '"status":"fail"' lines)" ]
	# a failure has evidence and a fix
	all_are lines property '.status != "fail" or (.evidence != null and .fix != null)'
	# an unknown property has a reason
	all_are lines property '.status != "unknown" or .evidence != null'
}

@test "an HTTP status is named once, as everywhere" {
	expect 1 rolldbg probe --env 'builtin:frozen_lake?fault=http-500'
	has "$output" 'lake_move: Internal Server Error (HTTP 500)'
	lacks "$output" '(http'
}

@test "the session limit, where it comes from, and the fix" {
	start lake "$ROLLDBG" serve --port 0 --max-envs 2
	expect 1 rolldbg probe --env "$url"
	has "$output" 'fail     capacity      2 of 4: session 3 was refused: Too many open sessions (HTTP 503)'
	has "$output" 'fix: raise the server'
	has "$output" 'or run at most 2 rollouts at a time'
	has "$output" 'ok       release       all 2 freed'
	expect 0 rolldbg probe --env "$url" --need 2
	has "$output" 'ok       capacity      2 of 2'
	expect 1 rolldbg probe --env "$url" --need 3
	expect 0 rolldbg probe --env "$url" --need 2 --sessions 3
	has "$output" '2 needed'
	expect 1 rolldbg probe --env "$url" --num-generations 4 --per-device-train-batch-size 4 -v
	has "$stderr" '4 sessions at once'
	expect 0 rolldbg probe --env "$url" --per-device-train-batch-size 1 --num-processes 2 --num-generations 2 --quiet
	[ -z "$output" ]
	expect 1 rolldbg probe --env "$url" --quiet
	has "$output" 'fail     capacity'
	lacks "$output" 'ok  '
}

@test "a second probe finds the same as the first: nothing is left open" {
	start lake "$ROLLDBG" serve --port 0 --max-envs 2 --map random
	for i in 1 2 3; do
		play - --env "$url" --seed 7
		printf '%s\t%s\n' $code "$(not_ok lines)" >verdict$i
		jq -c 'select(.name != "latency" and .name != "load" and .name != "release")' lines >lines$i
	done
	[ "$(cat verdict1)" = $'0\treward:unknown' ]
	cmp lines1 lines2
	cmp lines1 lines3
}

# expect_max_open NAME N: the canned server had at most N open sessions, and none at the end.
expect_max_open() {
	[ "$(awk '/^POST initialize/ { n++ } /^DELETE/ { n-- } n > most { most = n } END { print most + 0, n + 0 }' "$1.log")" = "$2 0" ]
}

@test "never more than --sessions are open, and all of them are closed" {
	for n in 1 2 5; do
		canned peer$n <<-'END'
			tools/call	{"content":[{"type":"text","text":"done"}]}
		END
		rolldbg probe --env "$url" --sessions $n --actions A,B --quiet
		wait_for 60 expect_max_open peer$n $n
	done
}

@test "SIGINT: every session is closed, exit 130" {
	canned peer <<-'END'
		tools/call	hang
	END
	env --default-signal=INT "$ROLLDBG" probe --env "$url" --sessions 3 --actions A >out 2>err 3>&- &
	pid=$!
	wait_for 60 grep -q 'POST tools/call' peer.log
	kill -INT $pid
	code=0
	wait $pid || code=$?
	[ $code = 130 ]
	wait_for 60 expect_max_open peer 3
}

sockets_of() {
	[ "$(find "/proc/$1/fd" -lname 'socket:*' | wc -l)" -ge "$2" ]
}

@test "SIGINT with many sessions on a stopped server: they are closed in parallel" {
	start lake "$ROLLDBG" serve --port 0 --protocol openenv --max-envs 64 --delay 1h
	# closing them one by one would take two minutes
	env --default-signal=INT "$ROLLDBG" probe --env "${url%/mcp}" --sessions 60 --actions DOWN >out 2>err 3>&- &
	pid=$!
	echo $pid >probe.pid
	wait_for 60 sockets_of "$(cat lake.pid)" 60
	kill -STOP "$(cat lake.pid)"
	kill -INT $pid
	late=
	wait_for 60 process_ended $pid || late=yes
	kill -CONT "$(cat lake.pid)" # a stopped process does not react to SIGTERM
	[ -z "$late" ]
	code=0
	wait $pid || code=$?
	[ $code = 130 ]
	rm probe.pid
}

# process_ended PID: also true for a zombie, whose exit status has not been read.
process_ended() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

@test "OpenEnv: slots are released, and the fix names OpenEnv's settings" {
	start lake "$ROLLDBG" serve --port 0 --protocol openenv --max-envs 2
	for _ in 1 2; do
		expect 1 rolldbg probe --env "${url%/mcp}"
		has "$output" 'session 3 was refused: Server at capacity: 2/2 sessions active.'
		has "$output" 'fix: raise MAX_CONCURRENT_ENVS, or max_concurrent_envs'
		has "$output" 'ok       release       all 2 freed'
	done
	expect 1 rolldbg probe --env "${url%/mcp}" --protocol openenv-http
	has "$output" 'fail     capacity      no sessions'
	has "$output" 'fail     statefulness  state lost between calls'
}

@test "a session that outlives its environment: four given calls prove nothing, 24 drawn ones do" {
	rolldbg probe --json --env 'builtin:frozen_lake?protocol=openenv&fault=zombie' --sessions 2 --actions DOWN,UP,DOWN,UP >lines
	expect_property statefulness '.status == "unknown" and (.evidence | contains("the last 2 calls succeeded, but were not counted and changed nothing"))'
	rolldbg probe --json --env 'builtin:frozen_lake?protocol=openenv&fault=zombie' --sessions 2 >lines || [ $? = 1 ]
	expect_property statefulness '.status == "fail" and .value == "stopped counting" and (.evidence | contains("the last 22 calls succeeded, but were not counted"))'
	expect_property seed '.status == "unknown"'
	jq -es 'last | .fail == 1' lines
}

@test "a state that three unlike calls leave as it was never changes; one call again and again may be a wall" {
	canned still <<-'END'
		tools/list	{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"move":{"type":"string"}},"required":["move"]}},{"name":"look","inputSchema":{"type":"object"}}]}
		tools/call	{"content":[{"type":"text","text":"at the gate"}]}
	END
	for actions in A,B A,A,A,A; do
		rolldbg probe --json --env "$url" --sessions 2 --state tool:look --tool act --actions $actions >lines
		expect_property state-source '.status == "unknown" and .evidence == "no call changed it"'
	done
	rolldbg probe --json --env "$url" --sessions 2 --state tool:look --tool act --actions A,B,A >lines || [ $? = 1 ]
	expect_property state-source '.status == "fail" and .value == "tool, never changes" and (.evidence | startswith("3 calls were answered"))'
}

@test "why a state could not be read, and the fix for a timeout" {
	rolldbg probe --json --env 'builtin:frozen_lake?fault=no-control-plane' --state resource:nope --sessions 2 --actions DOWN >lines
	expect_property state-source '.status == "unknown" and (.evidence | contains("Unknown resource: nope")) and (.fix | contains("--state"))'
	rolldbg probe --json --env 'builtin:frozen_lake?fault=hang' --timeout "$short" --sessions 2 --actions DOWN >lines || [ $? = 1 ]
	expect_property tools '.status == "fail" and (.fix | contains("--timeout"))'
}

@test "unreachable or another protocol: exit 4, no properties" {
	expect 4 rolldbg probe --env http://127.0.0.1:1/mcp
	[ -z "$output" ]
	expect 4 rolldbg probe --env 'builtin:frozen_lake?fault=html-200'
	[ -z "$output" ]
	has "$stderr" ' is not an MCP server: '
}

@test "a server that never answers a session: exit 4 after the timeout" {
	canned peer <<-'END'
		initialize	hang
	END
	expect 4 rolldbg probe --env "$url" --timeout "$short"
	[ -z "$output" ]
}

@test "a server that dies while it is probed: all properties are printed, exit 4" {
	start lake "$ROLLDBG" serve --port 0 --fault slow --delay 100ms
	rolldbg probe --env "$url" --json >lines 2>err 3>&- &
	pid=$!
	wait_for 60 grep -q '"capacity"' lines
	kill "$(cat lake.pid)"
	code=0
	wait $pid || code=$?
	[ $code = 4 ]
	[ "$(grep -c '"type":"property"' lines)" = 14 ]
	expect_property capacity '.status == "ok"'
	expect_property seed '.status == "unknown" and .evidence != null'
	all_are lines property '.status != "fail"'
	has "$(cat err)" "127.0.0.1"
}

@test "drawn and given calls, tools, and read-only tools" {
	canned peer <<-'END'
		tools/list	{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"move":{"type":"string"}},"required":["move"]}},{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}
		tools/call	{"content":[{"type":"text","text":"done"}]}
	END
	# without a state, only calls given by the user are made
	rolldbg probe --env "$url" --json >lines
	run ! grep tools/call peer.log
	expect_property tools '.status == "unknown" and .value == "2 advertised; none called"'
	expect_property statefulness '.status == "unknown" and (.fix | contains("--actions"))'
	rolldbg probe --env "$url" --json --call-read-only >lines
	expect_property tools '.status == "ok" and .value == "2 advertised; 1 of 1 tested replied"'
	[ "$(grep -c 'POST tools/call' peer.log)" = 1 ]
	rolldbg probe --env "$url" --json --tool act --actions '"go","stay"' --sessions 2 >lines
	expect_property tools '.value == "2 advertised; 1 of 1 tested replied"'
	# one before, two in the first session and two more, as its state is unknown, one in the other; four for restart, and for
	# load two in each of two sessions alone and of two together
	[ "$(grep -c 'POST tools/call' peer.log)" = 18 ]
	expect_property history '.status == "unknown" and .evidence == "every call got the same reply"'
}

@test "given calls must succeed, drawn ones need not" {
	canned peer <<-'END'
		tools/call	{"content":[{"type":"text","text":"not today"}],"isError":true}
	END
	expect 1 rolldbg probe --env "$url" --actions A,B --sessions 1
	has "$output" 'fail     tools         1 advertised; 1 of 1 tested replied: no call to act succeeded: not today (mcp)'
	has "$output" 'unknown  statefulness  no call succeeded'
	expect 0 rolldbg probe --env "$url" --state observation --sessions 1
	has "$output" 'ok       tools'
	expect 2 rolldbg probe --env "$url" --actions A --tool other
	[ -z "$output" ]
}

@test "seeds: a map that is always the same is no fault" {
	rolldbg probe --json >lines
	expect_property seed '.status == "unknown" and (.evidence | contains("nothing is random, or seeds are ignored"))'
	rolldbg probe --json --env 'builtin:frozen_lake?map=random8x8&slippery=1' >lines
	expect_property seed '.status == "ok"'
	for protocol in mcp openenv; do
		rolldbg probe --json --env "builtin:frozen_lake?map=random&protocol=$protocol" >lines
		expect_property seed '.status == "ok" and (.evidence | endswith("steps in another session do not affect it"))'
	done
	rolldbg probe --json --env 'builtin:frozen_lake?map=random&protocol=openenv&fault=seed-ignored' >lines || [ $? = 1 ]
	expect_property seed '.status == "fail" and (.evidence | contains("differ at /grid"))'
	rolldbg probe --json --env 'builtin:frozen_lake?slippery=1' --seed 7 >lines
	expect_property seed '.status == "ok" and (.evidence | startswith("seed 7 repeats its episode, and seed 8 gives a different one"))'
	rolldbg probe --json --seed 9223372036854775807 >lines
	expect_property seed '.evidence | contains("9223372036854775806")'
}

@test "walls and slippery ice are not reported as faults" {
	expect 0 rolldbg probe --env 'builtin:frozen_lake?slippery=1' --actions LEFT,UP
	expect 0 rolldbg probe --actions LEFT,UP,LEFT,UP
	has "$output" 'unknown  history       not shown: the replies show no effect of the calls'
	has "$output" 'unknown  isolation     inconclusive: no call of session 1 changed the state'
	has "$output" 'fix: specify calls that change the state (--call or --actions)'
	# each move is undone: only a call sent twice shows that state is kept
	expect 0 rolldbg probe --actions DOWN,UP,DOWN,UP
	has "$output" 'ok       history       kept: the same call, sent twice, got two replies; 2 sessions for 4 calls'
	# without a state, replies show that sessions are isolated
	expect 0 rolldbg probe --state resource:nope://x --actions DOWN,DOWN,RIGHT
	has "$output" 'the first reply of each session is not affected by calls in another'
}

@test "an environment that is rebuilt for each call: states change, but no reply depends on earlier calls" {
	rolldbg probe --json --env 'builtin:frozen_lake?fault=rebuild' --actions DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT >lines || [ $? = 1 ]
	expect_property history '.status == "fail" and .value == "no history" and (.evidence | startswith("5 of 5 replies are the same in a fresh session"))'
	expect_property statefulness '.status == "fail" and (.evidence | contains("the state changed 4 times"))'
	expect_property isolation '.status == "unknown" and .evidence == "no state is kept between calls"'
	expect 0 rolldbg probe --actions DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT -v
	has "$stderr" 'history: 2 sessions for 6 calls'
	has "$output" '5 of 5 replies depend on earlier calls'
}

@test "a clock in the state is not a difference" {
	rolldbg probe --json --env builtin:desk >lines
	[ "$(not_ok lines)" = "release:unknown reward:unknown" ]
	expect_property seed '.evidence | startswith("seed 42 repeats its episode, and seed 43 gives a different one")'
	expect_property isolation '.value == "4 isolated"'
}

@test "what varies by chance is not taken for what sessions share" {
	start noisy "$ROLLDBG_BUILD/tests/tools/misbehaving_openenv" noisy
	url=ws://${url#http://}
	expect 0 rolldbg probe --env "${url%/mcp}" --actions on,aside,on,back --sessions 4
	has "$output" 'ok       load          4 sessions at once'
}

@test "secrets are redacted in the server's texts" {
	code=0
	rolldbg probe --env 'builtin:frozen_lake?fault=no-tools' --secret 'list of tools' --secret fail1 >out || code=$?
	[ $code = 1 ]
	lacks "$(cat out)" 'list of tools'
	rolldbg probe --json --env 'builtin:frozen_lake?max_envs=1' --secret 'open sessions' >lines || [ $? = 1 ]
	lacks "$(cat lines)" 'open sessions'
	jq -e . lines >/dev/null
}

@test "a full disk gives exit 5, and the sessions are closed" {
	[ -w /dev/full ] || skip "no /dev/full"
	canned peer <<-'END'
		tools/call	{"content":[{"type":"text","text":"done"}]}
	END
	code=0
	rolldbg probe --env "$url" >/dev/full 2>err || code=$?
	[ $code = 5 ]
	wait_for 60 expect_max_open peer 4
}

@test "--golden: tools that changed since, and the solution" {
	rolldbg run --actions DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT --out run.jsonl >/dev/null
	rolldbg strip run.jsonl >golden.jsonl
	rolldbg probe --golden golden.jsonl --sessions 2 --json >lines
	expect_property tools '.status == "ok" and .evidence == "as in the golden"'
	expect_property reward '.status == "ok" and (.value | startswith("ceiling 1, floor 0"))'
	sed 's/"name":"lake_move"/"name":"lake_step"/; s/"description":"/&Now: /' golden.jsonl >renamed.jsonl
	rolldbg probe --golden renamed.jsonl --solution golden.jsonl --sessions 2 --json >lines || [ $? = 1 ]
	expect_property tools '.status == "fail" and (.evidence | contains("renamed: /tools/lake_step/name; since the golden: 1 breaking"))'
	expect 3 rolldbg probe --golden /dev/null
}
