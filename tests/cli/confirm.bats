#!/usr/bin/env bats
# run --confirm: what watching cannot tell, an experiment can.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

moves=DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT

# summary FILTER: the jq filter is true for the summary in output.
summary() {
	jq -es "last | .type == \"summary\" and ($1)" <<<"$output" >/dev/null
}

@test "clean is what the experiment confirmed, on every protocol" {
	for protocol in mcp openenv; do
		expect 0 rolldbg run --confirm --env "builtin:frozen_lake?protocol=$protocol" --actions $moves
		has "$output" 'clean: every step that had to act had an effect, and replies depend on earlier calls'
		has "$stderr" 'history: 2 sessions for 6 calls'
		expect 0 rolldbg run --confirm --quiet --env "builtin:frozen_lake?protocol=$protocol" --actions $moves
		[ -z "$output$stderr" ]
	done
	expect 0 rolldbg run --actions $moves
	lacks "$output" clean:
	expect 0 rolldbg run --json --actions $moves
	summary '.confirmed == null'
	expect 0 rolldbg run --json --confirm --actions $moves
	summary '.confirmed == true'
}

@test "an environment that is rebuilt for each call is found, though its state moves" {
	for env in '?fault=rebuild' '?protocol=openenv&fault=stateless'; do
		expect 1 rolldbg run --confirm --env "builtin:frozen_lake$env" --state observation --actions $moves
		has "$output" 'error: no-history: 5 of 5 replies are the same in a fresh session'
		has "$output" 'findings: 1 error'
	done
	expect 0 rolldbg run --env 'builtin:frozen_lake?fault=rebuild' --actions $moves
	expect 1 rolldbg run --json --confirm --env 'builtin:frozen_lake?fault=rebuild' --actions $moves
	summary '.confirmed == false and .findings.error == 1'
	expect 0 rolldbg run --confirm --without no-history --env 'builtin:frozen_lake?fault=rebuild' --actions $moves
	expect 0 rolldbg run --confirm --env 'builtin:frozen_lake?fault=rebuild' --actions DOWN,DOWN,DOWN --without loop
	has "$output" 'warning: no-history: '
	has "$output" "replies to calls drawn from the tools' schemas are the same in a fresh session"
	expect 0 rolldbg probe --sessions 2 --env 'builtin:frozen_lake?fault=rebuild' --actions DOWN,DOWN,DOWN
	has "$output" 'unknown  history       not shown: every call got the same reply; '
}

@test "what stays open is said: walls, one call, read-only calls" {
	expect 0 rolldbg run --confirm --actions DOWN,LEFT,DOWN
	has "$output" 'replies depend on earlier calls, but the state is known to have changed in only 2 of 3 steps'
	lacks "$output" clean:
	expect 0 rolldbg run --confirm --actions DOWN
	has "$output" 'unknown whether replies depend on earlier calls: at least two successful calls in one episode are needed'
	[ -z "$stderr" ]
	expect 0 rolldbg run --json --confirm --actions DOWN
	summary '.confirmed == null'
}

@test "calls that can move nothing accuse nobody: calls that are drawn from the schemas move" {
	start corner "$ROLLDBG_BUILD/tests/tools/misbehaving_openenv" cornered
	url=ws://${url#http://}
	url=${url%/mcp}
	expect 0 rolldbg run --confirm --env "$url" --actions on,aside,on,aside
	has "$output" 'unknown whether replies depend on earlier calls: the replies to the script'"'"'s calls do not, those to calls drawn'
	lacks "$output" no-history
	expect 0 rolldbg probe --env "$url" --actions on,aside,on,aside --sessions 2
	has "$output" "ok       history       kept: "
	has "$output" "of calls drawn from the tools' schemas"
}

@test "a call that leaves nothing of the calls before it is named, and the run is not clean" {
	start forgets "$ROLLDBG_BUILD/tests/tools/misbehaving_openenv" forgets
	url=ws://${url#http://}
	expect 0 rolldbg run --confirm --env "${url%/mcp}" --actions on,aside,back
	has "$output" 'replies depend on earlier calls, but step {"way":"back"} left nothing of the calls before it: it does so, or the environment was replaced'
	has "$output" 'no findings: 3 of 3 steps changed the state'
	lacks "$output" clean:
	expect 0 rolldbg probe --env "${url%/mcp}" --actions on,aside,back --sessions 2
	has "$output" 'unknown  history       kept by some calls: '
	has "$output" '; but step {"way":"back"} left nothing of the calls before it'
	has "$output" 'fit to train: unknown (history kept by some calls'
}

@test "a call that sets a member to its word, whatever it was, is like one in a new environment: unknown" {
	start sets "$ROLLDBG_BUILD/tests/tools/misbehaving_openenv" sets
	url=ws://${url#http://}
	url=${url%/mcp}
	for effect in '' --effect=/way; do
		expect 0 rolldbg run --confirm ${effect:+"$effect"} --state observation --env "$url" --actions on,aside,back,on
		has "$output" 'unknown whether replies depend on earlier calls: the replies show no effect of the calls but words of them'
		lacks "$output" no-history
	done
	expect 0 rolldbg probe --state observation --env "$url" --actions on,aside,back,on --sessions 2
	has "$output" 'unknown  history       not shown: the replies show no effect of the calls but words of them'
}

@test "tools that only compute are not accused: no server says that they are more" {
	expect 0 rolldbg run --confirm --env 'builtin:frozen_lake?fault=rebuild' --protocol mcp --state none --actions $moves
	has "$output" 'warning: no-history: 5 of 5 replies are the same in a fresh session; so are those of tools that only compute'
	expect 0 rolldbg probe --env 'builtin:frozen_lake?fault=rebuild' --protocol mcp --state none --actions $moves --sessions 2
	has "$output" 'unknown  history       not shown: 5 of 5 replies are the same in a fresh session; so are those of tools that only compute'
}

@test "nothing is sent when an error is found, and nobody is asked for" {
	canned peer <<-'END'
		tools/call	{"content":[{"type":"text","text":"no"}],"isError":true}
	END
	run rolldbg run --confirm --env "$url" --actions A,B,C
	[ "$(grep -c 'POST initialize' peer.log)" = 1 ]
	canned other <<-'END'
		tools/call	{"content":[{"type":"text","text":"done"}]}
	END
	run rolldbg run --env "$url" --actions A,B,C
	[ "$(grep -c 'POST tools/call' other.log)" = 3 ]
}

@test "the last line of an unknown verdict is the command that settles it" {
	expect 0 rolldbg run --protocol mcp --state none --actions 'DOWN,RIGHT' --out a.jsonl --header 'X-Key: it is hidden-1234'
	[ "${lines[-1]}" = "  rolldbg run --protocol mcp --state none --actions DOWN,RIGHT --header 'X-Key: <redacted>' --confirm" ]
	[ "${lines[-2]}" = 'to know whether replies depend on earlier calls (if the server keeps its data, on a copy: see CONFIRMATION in rolldbg-run(1)):' ]
	expect 0 rolldbg run --protocol mcp --state none --actions 'DOWN,RIGHT' --out b.jsonl
	ln -s "$ROLLDBG" rolldbg
	expect 0 env PATH="$PWD:$PATH" sh -c "${lines[-1]}"
	has "$output" 'replies depend on earlier calls'
	for unasked in '--actions DOWN' '--actions DOWN,RIGHT --confirm'; do
		# shellcheck disable=SC2086 # options
		expect 0 rolldbg run --protocol mcp --state none $unasked
		lacks "$output" '  rolldbg run'
	done
	expect 0 rolldbg run --actions DOWN,RIGHT
	lacks "$output" '  rolldbg run'
}

@test "it is sent unasked where a fresh session costs nobody anything, and nothing is known to have changed" {
	for protocol in mcp openenv; do
		expect 0 rolldbg run --env "builtin:frozen_lake?protocol=$protocol" --state none --actions $moves
		has "$stderr" 'history: 2 sessions for 6 calls'
		has "$output" 'replies depend on earlier calls, but the state is known to have changed in only 0 of 6 steps'
		lacks "$output" '  rolldbg run'
	done
	expect 1 rolldbg run --env 'builtin:frozen_lake?fault=rebuild' --state none --actions $moves --fail-on warning
	has "$output" 'warning: no-history: 5 of 5 replies are the same in a fresh session'
	expect 0 rolldbg run --env 'builtin:frozen_lake?fault=rebuild' --state none --actions $moves --without no-history,control-plane-blind
	lacks "$stderr" history:
	expect 0 rolldbg run --actions $moves
	lacks "$stderr" history:
}

@test "an interrupted experiment keeps the verdict of the rollout" {
	start lake "$ROLLDBG" serve --port 0 --delay 500ms
	"$ROLLDBG" run --confirm --env "$url" --actions DOWN,DOWN --out a.jsonl >out 2>err 3>&- &
	local pid=$! code=0
	wait_for 60 grep -q 'history: 1 session' err
	kill -INT $pid
	wait $pid || code=$?
	[ $code = 130 ]
	grep -q 'no findings: 2 of 2 steps changed the state' out
	expect 0 rolldbg check a.jsonl
}
