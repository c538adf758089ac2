#!/usr/bin/env bats
# The scripted model, used by OpenAI's client.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

@test "OpenAI's client: models, a choice, errors" {
	jq -n '{models: ["calls", "talks", "busy", "poor"], key: "sk-right", replies: [
		{when: {model: "calls"}, calls: [{name: "lake_move", arguments: {action: "DOWN"}}]},
		{when: {model: "talks"}, text: "Hello there.", usage: {prompt_tokens: 5, completion_tokens: 2, total_tokens: 7}},
		{when: {model: "busy"}, status: 429, code: "rate_limit_exceeded"},
		{when: {model: "poor"}, status: 429, code: "insufficient_quota"}]}' >script.json
	"$ROLLDBG" serve llm script.json --port 0 >model.log 3>&- &
	echo $! >model.pid
	until grep -q listening model.log; do sleep 0.1; done
	[ "$("$installed/gym/bin/python" "$BATS_TEST_DIRNAME/openai_client.py" "http://$(sed 's/.* //' model.log)")" = 'all is well' ]
}
