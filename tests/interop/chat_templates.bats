#!/usr/bin/env bats
# Chat templates must accept the conversation: fixtures/llm/templates has the constraints of 25 model families, rendered by
# the installed jinja2. An exception in a template is HTTP 400, as in vLLM.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

setup_file() {
	server_start templates "$installed/gym/bin/python" "$servers/template_model.py" "$root/fixtures/llm/templates"
}

# run_family FAMILY MODE: runs six turns, which must make seven calls.
run_family() {
	local base
	base=$(url templates)
	"$ROLLDBG" run --quiet --policy llm --model "$1:$2" --base-url "${base%/mcp}" --tool-mode "$2" --on-no-tool nudge \
		--max-turns 6 --fail-on never --out "$1.$2.jsonl" 2>"$1.$2.err" >"$1.$2.out" || {
		printf '%s, tools %s: exit code %s\n' "$1" "$2" "$?" >&2
		cat "$1.$2.err" "$1.$2.out" >&2
		return 1
	}
	jq -s -e 'map(select(.type == "end").status) == ["max-turns"] and
		(map(select(.type == "step" and .step != null)) | length == 7 and all(.outcome == "ok"))' "$1.$2.jsonl" >/dev/null || {
		printf '%s, tools %s: not seven calls in six turns\n' "$1" "$2" >&2
		return 1
	}
}

# history_changes MODE: the families whose template rejected the history, with the form that was sent instead.
history_changes() {
	jq -r 'select(.type == "event" and .event == "retry") | input_filename + " " + .detail.history' ./*."$1".jsonl |
		sed 's|^\./||; s|\.[a-z]*\.jsonl||' | sort | paste -sd ,
}

@test "native tools: every family takes the conversation" {
	local family bad=0
	for family in "$root"/fixtures/llm/templates/*.jinja; do
		run_family "$(basename "$family" .jinja)" native || bad=1
	done
	[ "$bad" = 0 ]
	[ "$(history_changes native)" = 'gemma2 system-as-user,llama3 single-calls,mistral-v1 system-as-user,no-system-native system-as-user,tool-after-call results-as-user' ]
}

# In this mode, too, some replies have native calls.
@test "tools as text: every family takes the conversation" {
	local family bad=0
	for family in "$root"/fixtures/llm/templates/*.jinja; do
		run_family "$(basename "$family" .jinja)" text || bad=1
	done
	[ "$bad" = 0 ]
	[ "$(history_changes text)" = 'llama3 single-calls' ]
}
