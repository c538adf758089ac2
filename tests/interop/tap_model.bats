#!/usr/bin/env bats
# The tap between the official clients of models and of MCP, and their servers.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# through API MODEL_URL [OPTIONS..]: an agent whose model and environment are behind a tap, recorded in tap.jsonl.
through() {
	local api=$1 tap model
	: >lake.log
	: >tap.log
	"$ROLLDBG" serve --port 0 >lake.log 3>&- &
	echo $! >lake.pid
	until grep -q listening lake.log; do sleep 0.1; done
	"$ROLLDBG" tap --listen 0 --to "http://$(sed 's/.* //' lake.log)" --model-listen 0 --model-to "$2" --out tap.jsonl --force >tap.log 3>&- &
	echo $! >tap.pid
	until grep -q model: tap.log; do sleep 0.1; done
	tap=$(sed -n 's/^listening on //p' tap.log)
	model=$(sed -n 's/^model: listening on //p' tap.log)
	"$installed/gym/bin/python" "$BATS_TEST_DIRNAME/model_client.py" "$api" "http://$model" "http://$tap/mcp" "${@:3}" >seen.json
	kill -INT "$(cat tap.pid)"
	wait "$(cat tap.pid)" || true
	rm tap.pid
	kill "$(cat lake.pid)"
	rm lake.pid
}

# facts: of each turn and call, what does not depend on the API.
facts() {
	jq -c 'select(.type == "step") | [.turn, .step, .tool_call.id, .tool_call.arguments.action, .meta.joined, .llm.finish_reason]' tap.jsonl
}

@test "Responses, whole, and Messages, streamed: the turns are in the rollout" {
	server_start apis "$installed/gym/bin/python" "$servers/model_apis.py"
	base=$(url apis)
	for api in responses 'messages stream'; do
		# shellcheck disable=SC2086 # words
		through ${api% *} "${base%/mcp}" ${api#* }
		[ "$(cat seen.json)" = '[[["RIGHT", 1], ["LEFT", 0], ["UP", 0]]]' ]
		[ "$(facts)" = '[0,0,"call_0_0","RIGHT","content","tool_calls"]
[0,1,"call_0_1","LEFT",null,null]
[1,2,"call_2_0","UP","content","tool_calls"]
[2,null,null,null,"content","stop"]' ]
	done
}

@test "chat completions: deltas of calls, and four agents that do the same" {
	jq -n '{replies: ([range(2) | {when: {turn: .}, calls: [{name: "lake_move", arguments: {action: "DOWN"}}]}] + [{when: {turn: 2}, text: "Done."}])}' >script.json
	"$ROLLDBG" serve llm script.json --port 0 >model.log 3>&- &
	echo $! >model.pid
	until grep -q listening model.log; do sleep 0.1; done
	through chat "http://$(sed 's/.* //' model.log)" stream
	[ "$(cat seen.json)" = '[[["DOWN", 4], ["DOWN", 8]]]' ]
	[ "$(facts | cut -d, -f2-5 | tr '\n' ' ')" = '0,"call_0_0","DOWN","content" 1,"call_1_0","DOWN","content" null,null,null,"content" ' ]
	# four agents that do the same at once: each call has a turn of its own, or is said to be ambiguous
	through chat "http://$(sed 's/.* //' model.log)" 4
	[ "$(jq -s 'map(select(.type == "step" and .step != null)) | length == 8 and all(if .llm then .llm.parse.source == "native" else .meta.joined == "ambiguous" end)' tap.jsonl)" = true ]
	[ -z "$(jq -r 'select(.type == "step" and .step != null and .llm) | .tool_call.id' tap.jsonl | sort | uniq -d)" ]
}
