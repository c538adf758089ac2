#!/usr/bin/env bats
# --html without a browser: what is in the page, what it may not hold, and the file it is written to. What the page does in
# a browser: tests/interop/html.bats.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

hostile=$data/hostile.jsonl

# data_of PAGE: the lines between the template's two halves.
data_of() {
	sed -n '/^<script type="text\/plain" id="data">$/,/^<\/script>$/p' "$1" | sed '1d;$d'
}

# template_of PAGE: the rest.
template_of() {
	sed '/^<script type="text\/plain" id="data">$/,/^<\/script>$/d' "$1"
}

# recorded PAGE: the recorded lines, as they were.
recorded() {
	data_of "$1" | grep '^{' | sed 's/\\u003c/</g'
}

# said PAGE KIND: what the program says, of one kind.
said() {
	data_of "$1" | jq -c "select(type == \"array\" and .[0] == \"$2\")"
}

# sha256_of: of standard input, as a policy spells it.
sha256_of() {
	# shellcheck disable=SC2059 # the digits as bytes
	printf "sha256-%s" "$(printf "$(sha256sum | cut -c 1-64 | sed 's/../\\x&/g')" | base64 -w 0)"
}

# policy_allows PAGE DIRECTIVE HASH
policy_allows() {
	has "$(grep -o 'http-equiv="Content-Security-Policy" content="[^"]*"' "$1")" "$2 '$3'"
}

@test "the page contains the recording unchanged, and the facts derived from it" {
	rolldbg run --quiet --out a.jsonl
	expect 0 rolldbg show --html a.html a.jsonl
	[ -z "$output$stderr" ]
	diff <(recorded a.html) a.jsonl
	[ "$(said a.html step | jq -c '[.[4:10], .[10]]' | sed -n 2p)" = '[[1,1,"ok","changed",0,"lake_move action=DOWN"],"position 4 -> 8"]' ]
	[ "$(said a.html step | jq -c '.[11]' | sort -u)" = '["/position"]' ]
	has "$(said a.html summary)" 'clean: every step reached the environment'
	# "-" is standard output, and the same page
	expect 0 rolldbg show --html - a.jsonl
	[ "$output" = "$(cat a.html)" ]
}

@test "findings and exit code are those of check" {
	local conf='builtin:frozen_lake?fault=fallback-session&max_envs=3'
	rolldbg run --quiet --env "$conf" --actions "$goal" --out a.jsonl || true
	expect 1 rolldbg check a.jsonl --html a.html
	has "$output" 'error: capacity: turns 3-5'
	diff <(said a.html verdict | jq -c '.[2]') <(rolldbg check a.jsonl --json | jq -c 'select(.type != "summary")')
	has "$(said a.html rule | jq -r '.[1]')" fallback-session
	expect 0 rolldbg check a.jsonl --html a.html --fail-on never
	expect 0 rolldbg show a.jsonl --html b.html
	diff <(said a.html verdict) <(said b.html verdict)
}

@test "peers' text stays data: no tag, comment or end of the element gets through" {
	expect 1 rolldbg check "$hostile" --html a.html
	[ "$(data_of a.html | wc -l)" -gt 10 ]
	lacks "$(data_of a.html)" '<'
	[ "$(grep -c '<script' a.html)" = 2 ]
	[ "$(grep -c '</script>' a.html)" = 2 ]
	diff <(recorded a.html) "$hostile"
	# half of a surrogate pair is JSON, which jq refuses
	data_of a.html | sed 's/\\ud800//' | jq -e . >/dev/null
	lacks "$(template_of a.html)" hacked
}

@test "the content security policy allows only the page's own style and script" {
	expect 0 rolldbg show "$hostile" --html a.html
	policy_allows a.html 'style-src' "$(sed -n '/^<style>/,/^<\/style>/p' a.html | sed '1s/^<style>//;$d' | sha256_of)"
	policy_allows a.html 'script-src' "$(sed -n '/^<script type="module">/,/^<\/script>/p' a.html | sed '1s/^<script type="module">//;$d' | sha256_of)"
	has "$(cat a.html)" "content=\"default-src 'none'; script-src 'sha256-"
	lacks "$(cat a.html)" unsafe-inline
	# nothing is loaded from anywhere: the only addresses are the names of the SVG elements
	[ "$(template_of a.html | grep -oE '(https?:)?//[a-z][^" ]*\.[a-z][^" ]*')" = http://www.w3.org/2000/svg ]
}

@test "a page never overwrites a recording or another file" {
	rolldbg run --quiet --out a.jsonl
	cp a.jsonl before.jsonl
	echo precious >notes.txt
	expect 2 rolldbg show a.jsonl --html a.jsonl
	has "$stderr" '--html a.jsonl: that is the recording; name another file for the page'
	ln a.jsonl link
	expect 2 rolldbg check a.jsonl --html link
	# the operand was forgotten: the latest recording would be shown
	rolldbg run --quiet
	expect 2 rolldbg show --html before.jsonl
	has "$stderr" '--html before.jsonl: the file exists and is not an HTML page'
	expect 2 rolldbg diff a.jsonl before.jsonl --html before.jsonl
	expect 2 rolldbg stats a.jsonl --html notes.txt
	diff a.jsonl before.jsonl
	[ "$(cat notes.txt)" = precious ]
	# a page is replaced by a newer one
	expect 0 rolldbg show a.jsonl --html a.html
	expect 0 rolldbg show a.jsonl --html a.html
	[ "$(find . -name 'a.html*' | wc -l)" = 1 ]
}

@test "a page that cannot be written is reported and leaves nothing behind" {
	rolldbg run --quiet --out a.jsonl
	expect 5 rolldbg show a.jsonl --html missing/a.html
	has "$stderr" 'cannot write the report missing/a.html: No such file or directory'
	expect 5 rolldbg check a.jsonl --html /dev/full
	mkdir folder
	expect 5 rolldbg show a.jsonl --html folder
	echo '{"type":' >broken.jsonl
	expect 3 rolldbg check broken.jsonl --html broken.html
	[ ! -e broken.html ]
	[ -z "$(find . -name '*.partial')" ]
}

@test "usage: options that exclude each other" {
	rolldbg run --quiet --out a.jsonl
	cp a.jsonl before.jsonl
	expect 2 rolldbg show a.jsonl --html a.html --turn 1
	has "$stderr" '--html shows all turns'
	expect 2 rolldbg check a.jsonl --html -
	has "$stderr" '--html -: standard output is taken by the result'
	expect 2 rolldbg diff a.jsonl a.jsonl --html -
	expect 2 rolldbg stats a.jsonl --html -
	expect 2 rolldbg stats --compare a.jsonl a.jsonl --html a.html
	expect 2 rolldbg show a.jsonl --html a.html --rollout nobody
	has "$stderr" "the recording has no rollout 'nobody'"
	expect 2 rolldbg diff - a.jsonl --html a.html <before.jsonl
	has "$stderr" 'which standard input cannot'
	expect 2 rolldbg stats --html a.html - <before.jsonl
	[ ! -e a.html ]
}

@test "several recordings, folders, standard input, one rollout of many" {
	local one
	for one in up down; do
		rolldbg run --quiet --task $one --actions ${one^^} --out $one.jsonl || true
	done
	mkdir both
	cat up.jsonl down.jsonl >all.jsonl
	mv up.jsonl down.jsonl both
	expect 0 rolldbg show --html a.html both all.jsonl
	[ "$(said a.html rollout | jq -c '.[3:6]' | tr '\n' ' ')" = '["down.0","both/down.jsonl","down"] ["up.0","both/up.jsonl","up"] ["up.0","all.jsonl","up"] ["down.0","all.jsonl","down"] ' ]
	expect 0 rolldbg show --html b.html - <all.jsonl
	[ "$(said b.html rollout | wc -l)" = 2 ]
	expect 0 rolldbg show --html c.html all.jsonl --rollout down.0
	[ "$(recorded c.html | jq -r .rollout | sort -u)" = down.0 ]
	# one of several that cannot be used
	echo nonsense >both/broken.jsonl
	expect 3 rolldbg show --html d.html both
	has "$stderr" both/broken.jsonl
	[ "$(said d.html rollout | wc -l)" = 2 ]
	has "$(said d.html note)" both/broken.jsonl
	expect 2 rolldbg show both/up.jsonl both/down.jsonl
	has "$stderr" "unexpected operand 'both/down.jsonl'"
}

@test "interleaved rollouts, one without an end, a truncated line: shown up to there" {
	local fixtures=$root/fixtures/recordings
	expect 0 rolldbg show --html a.html "$fixtures/interleaved.jsonl"
	[ "$(said a.html step | jq -r '.[1]' | sort -u | wc -l)" = "$(jq -r .rollout "$fixtures/interleaved.jsonl" | sort -u | wc -l)" ]
	rolldbg run --quiet --out good.jsonl
	head -c -100 good.jsonl >torn.jsonl
	expect 0 rolldbg show --html b.html torn.jsonl
	[ "$(said b.html step | tail -n 1 | jq -c '[.[3], .[7]]')" = '[null,"unknown"]' ]
	sed 1d good.jsonl >headless.jsonl
	expect 0 rolldbg show --html c.html headless.jsonl
	[ "$(said c.html step | wc -l)" = 6 ]
}

@test "diff: both recordings, and each difference as --json prints it" {
	rolldbg run --quiet --out a.jsonl
	rolldbg run --quiet --actions DOWN,UP,DOWN,DOWN --out b.jsonl || true
	expect 1 rolldbg diff a.jsonl b.jsonl --html d.html
	diff <(said d.html result | jq -c '.[2]') <(rolldbg diff a.jsonl b.jsonl --json | jq -c .)
	[ "$(said d.html rollout | jq -c '.[6]' | tr '\n' ' ')" = '0 1 ' ]
	expect 0 rolldbg diff a.jsonl a.jsonl --html same.html
	[ "$(said same.html result | jq -r '.[2].different')" = 0 ]
	expect 1 rolldbg diff a.jsonl b.jsonl --stat --html e.html
	[ "${#lines[@]}" = 2 ]
	diff <(said d.html result) <(said e.html result)
}

@test "stats: the metrics as --json prints them, with those of each task" {
	rolldbg run --quiet --group-size 2 --task lake --out a.jsonl
	expect 0 rolldbg stats a.jsonl --html s.html
	has "$output" 'tools/call_frequency'
	diff <(said s.html result | jq -c '.[2]') <(rolldbg stats a.jsonl --json --by task | jq -c .)
}

@test "10,000 steps: the page is at most 1.5 times the size of the recording" {
	rolldbg run --quiet --out a.jsonl
	# the six steps again and again; only the last line is an end
	jq -c --argjson n 10000 'select(.type != "step")' a.jsonl | sed '$d' >long.jsonl
	jq -cn --argjson n 10000 '[inputs | select(.type == "step")] as $s | range($n) | . as $i | $s[$i % 6] | .turn = $i | .step = $i | .env_steps = null | .terminated = false' a.jsonl >>long.jsonl
	expect 0 rolldbg show --html long.html long.jsonl
	[ "$(said long.html step | wc -l)" = 10000 ]
	[ "$(($(stat -c %s long.html) * 2))" -le "$(($(stat -c %s long.jsonl) * 3))" ]
}
