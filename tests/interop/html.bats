#!/usr/bin/env bats
# The pages of --html in headless Chromium, with playwright-core: the views, keyboard, print, hostile content, and axe-core's
# rules in both color schemes. Screenshots are kept in html/ of the build directory. For the bytes of the page see
# tests/cli/html.bats.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

shots=${ROLLDBG_BUILD:-$root/build/release/interop}/html

setup_file() {
	mkdir -p "$shots"
}

# browse PAGE SCENARIO: runs a scenario of html_page.js; its lines "# ..." are printed.
browse() {
	local chromium
	chromium=$(command -v chromium) || skip 'no chromium'
	# shellcheck disable=SC2154 # a variable of lib.bash
	HOME=$BATS_TEST_TMPDIR node "$BATS_TEST_DIRNAME/html_page.js" "$installed/browser/node_modules" "$chromium" \
		"$shots" "$PWD/$1" "$2" >story 2>&1 || {
		cat story
		return 1
	}
	sed -n 's/^# //p' story >&3
}

# broken PAGE: writes the page of a rollout with five findings and an event.
broken() {
	"$ROLLDBG" run --quiet --env 'builtin:frozen_lake?fault=fallback-session&max_envs=3' \
		--actions DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT --out a.jsonl >/dev/null || true
	"$ROLLDBG" check a.jsonl --html "$1" >/dev/null || true
}

@test "a rollout: findings, timeline, steps, details; light, dark and narrow; accessible" {
	broken bad.html
	browse bad.html steps
}

@test "the keyboard alone" {
	broken bad.html
	browse bad.html keyboard
}

@test "search, filters by outcome and by rule, the timeline" {
	broken bad.html
	browse bad.html filter
}

@test "each step has a permalink" {
	broken bad.html
	browse bad.html link
}

@test "print: all rows, light, without controls" {
	broken bad.html
	browse bad.html print
}

@test "recorded content is inert: tags, handlers, images, bidirectional text" {
	"$ROLLDBG" show "$root/tests/cli/data/hostile.jsonl" --html hostile.html
	browse hostile.html hostile
}

@test "a model's rollout: the conversation beside the state" {
	"$ROLLDBG" show "$root/fixtures/check/observation-lost/good-told.jsonl" --html model.html
	browse model.html conversation
}

@test "a log's calls have their names, whatever form they are in; latency and tokens are on the timeline" {
	"$ROLLDBG" run --quiet --actions DOWN,DOWN --out a.jsonl
	jq -c 'if .step == 0 then .meta.latency_ms = 12.5 | .llm = {usage: {completion_tokens: 7}} | .messages = [
			{role: "assistant", tool_calls: ["{\"name\":\"turn\",\"arguments\":{\"degrees\":90}}"]},
			{role: "assistant", content: [{type: "thinking", thinking: "hm"}, {type: "tool_use", id: "t1", name: "Read", input: {path: "gate.c"}}]},
			{role: "assistant", content: "# Plan\n1. **go** [on](http://x.example/a)\n   - `deep`\n\n```\n**raw**\n```\n<b onclick=\"alert(1)\">x</b> a_b_c 2*3*4 __init__"},
			{role: "user", content: [{type: "tool_result", tool_use_id: "t1", content: "int gate;"}]},
			{type: "function_call", name: "look", arguments: "{}"}, {type: "function_call_output", output: "ok"}]
		else . end' a.jsonl >log.jsonl
	"$ROLLDBG" show log.jsonl --html log.html
	browse log.html logs
}

@test "images of observations" {
	local png gif=R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7
	png=$(grep -o 'iVBORw0KGgo[A-Za-z0-9+/=]*' "$root/tests/cli/data/hostile.jsonl")
	"$ROLLDBG" run --quiet --out a.jsonl
	jq -c --arg png "$png" --arg gif "$gif" 'if .step == 0 then
			.observation = {frame: ("data:image/jpeg;base64," + $png), nested: [{screen: $gif}], icon: "data:image/svg+xml;base64,PHN2Zz48L3N2Zz48c3ZnPjwvc3ZnPjxzdmc+PC9zdmc+PHN2Zz48L3N2Zz4="}
		elif .step == 1 then .observation = {content: [{type: "image", mimeType: "image/png", data: $png}]} else . end' a.jsonl >images.jsonl
	"$ROLLDBG" show images.jsonl --html images.html
	browse images.html images
}

@test "10,000 steps: few elements wherever one scrolls; first paint and frame times are printed" {
	"$ROLLDBG" run --quiet --out a.jsonl
	{
		jq -c 'select(.type == "header" or .type == "reset")' a.jsonl
		jq -cn '[inputs | select(.type == "step")] as $s | range(10000) | . as $i | $s[$i % 6] |
			.turn = $i | .step = $i | .env_steps = null | .terminated = false' a.jsonl
	} >long.jsonl
	"$ROLLDBG" show long.jsonl --html long.html
	browse long.html many
}

@test "many rollouts: reward against steps, findings by rule, the table" {
	local actions
	for actions in DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT RIGHT,DOWN LEFT,LEFT,LEFT,LEFT UP,NORTH,SOUTH,EAST; do
		"$ROLLDBG" run --quiet --task "$actions" --actions "$actions" --force-call --out "$actions.jsonl" >/dev/null || true
	done
	"$ROLLDBG" show ./*.jsonl --html group.html
	browse group.html group
}

@test "two recordings side by side" {
	"$ROLLDBG" run --quiet --out a.jsonl
	"$ROLLDBG" run --quiet --actions DOWN,UP,DOWN,DOWN,RIGHT --out b.jsonl >/dev/null || true
	"$ROLLDBG" diff a.jsonl b.jsonl --html diff.html >/dev/null || true
	browse diff.html diff
}

@test "the best and the worst rollout of a task, step by step" {
	"$ROLLDBG" run --quiet --task lake --out best.jsonl
	"$ROLLDBG" run --quiet --task lake --actions DOWN,LEFT,RIGHT --out worst.jsonl
	cat best.jsonl <(sed 's/lake\.0/lake.1/' worst.jsonl) >both.jsonl
	"$ROLLDBG" show both.jsonl --html both.html
	browse both.html best
}

@test "metrics and rollouts" {
	"$ROLLDBG" run --quiet --group-size 2 --task lake --out a.jsonl
	"$ROLLDBG" stats a.jsonl --html stats.html >/dev/null
	browse stats.html stats
}
