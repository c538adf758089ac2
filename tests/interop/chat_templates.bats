#!/usr/bin/env bats
# The conversation as chat templates take it: fixtures/llm/templates has the constraints of 23 families, which the
# packages' own jinja2 renders. What a template raises is HTTP 400, as from vLLM.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

setup_file() {
	server_start templates "$installed/gym/bin/python" "$servers/template_model.py" "$root/fixtures/llm/templates"
}

# play FAMILY MODE: six turns; what the template refused is in `refused`.
play() {
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

# reformed MODE: the families whose template asked for another form of the history.
reformed() {
	jq -r 'select(.type == "event" and .event == "retry") | input_filename + " " + .detail.history' ./*."$1".jsonl |
		sed 's|^\./||; s|\.[a-z]*\.jsonl||' | sort | paste -sd ,
}

@test "native tools: every family takes the conversation" {
	local family bad=0
	for family in "$root"/fixtures/llm/templates/*.jinja; do
		play "$(basename "$family" .jinja)" native || bad=1
	done
	[ "$bad" = 0 ]
	[ "$(reformed native)" = 'gemma2 system-as-user,llama3 single-calls,mistral-v1 system-as-user,no-system-native system-as-user,tool-after-call results-as-user' ]
}

# The server answers some turns with native calls here too.
@test "tools as text: every family takes the conversation" {
	local family bad=0
	for family in "$root"/fixtures/llm/templates/*.jinja; do
		play "$(basename "$family" .jinja)" text || bad=1
	done
	[ "$bad" = 0 ]
	[ "$(reformed text)" = 'llama3 single-calls' ]
}
