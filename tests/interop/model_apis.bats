#!/usr/bin/env bats
# The Responses API and the Messages API: the types of the official clients validate the requests and replies of a scripted
# server. Recordings have the same form for every API.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

setup_file() {
	server_start apis "$installed/gym/bin/python" "$servers/model_apis.py"
}

# run_model API CODE MODEL [OPTIONS..]: a run recorded in API.jsonl, which must exit with CODE.
run_model() {
	local api=$1 code=$2 model=$3 base status=0
	shift 3
	base=$(url apis)
	echo '{"kind": "llm", "sampling": {"temperature": 1, "max_tokens": 512, "stop": ["END"], "seed": 3}}' >policy.json
	A_KEY=sk-right "$ROLLDBG" run --quiet --policy policy.json --api "$api" --model "$model" --base-url "${base%/mcp}" --key-env A_KEY \
		--out "$api.jsonl" --force "$@" >out 2>err || status=$?
	[ "$status" = "$code" ] || {
		printf 'exit code %s\n' "$status" >&2
		cat out err "$BATS_FILE_TMPDIR/apis.log" >&2
		return 1
	}
}

# common_facts FILE: the content of a recording that does not depend on the API.
common_facts() {
	jq -c 'if .type == "step" then [.tool_call.name, .tool_call.arguments, .outcome, .llm.finish_reason, .llm.parse.source,
			.llm.reasoning, .llm.usage.prompt_tokens, .llm.usage.completion_tokens, .llm.usage.prompt_tokens_details.cached_tokens]
		elif .type == "end" then [.status] else empty end' "$1"
}

@test "a rollout through each API, whole and streamed, is the same recording" {
	for api in responses anthropic; do
		run_model $api 0 tiny
		common_facts $api.jsonl >$api.whole
		run_model $api 0 tiny --stream
		common_facts $api.jsonl >$api.streamed
	done
	[ "$(sed -n 1p responses.whole)" = '["lake_move",{"action":"RIGHT"},"ok","tool_calls","native","Which way?",100,10,40]' ]
	[ "$(wc -l <responses.whole)" = 5 ]
	[ "$(sed -n 5p responses.whole)" = '["finished"]' ]
	diff responses.whole anthropic.whole
	diff responses.whole responses.streamed
	sed 's/Which way?/Whichway?/' anthropic.whole | diff - anthropic.streamed
}

@test "the header names the API and what was sent through it" {
	run_model responses 0 tiny
	jq -se '.[0].policy.params | .api == "responses" and (.sent | keys) == ["max_tokens", "temperature", "tool_choice"]' responses.jsonl
	run_model anthropic 0 tiny
	jq -se '.[0].policy.params | .api == "anthropic" and (.sent | keys) == ["max_tokens", "stop", "temperature", "tool_choice"]' anthropic.jsonl
}

@test "a truncated reply, and a refusal" {
	for api in responses anthropic; do
		for stream in '' --stream; do
			run_model $api 1 tiny-limit $stream
			jq -se 'map(select(.type == "step"))[0] | .llm.finish_reason == "length" and .llm.parse.cause == "finish-length"' $api.jsonl
		done
		run_model $api 1 tiny-fail
		jq -se 'last | .status == "refused" and (.reason | test("the script refuses this model"))' $api.jsonl
	done
}
