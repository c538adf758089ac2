#!/usr/bin/env bats
# --html without a browser: the content of the page, what must not be in it, and the file it is written to. For its
# behavior in a browser see tests/interop/html.bats.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

hostile=$data/hostile.jsonl

# data_of PAGE: the lines of the data element.
data_of() {
	sed -n '/^<script type="text\/plain" id="data">$/,/^<\/script>$/p' "$1" | sed '1d;$d'
}

# template_of PAGE: the page without its data.
template_of() {
	sed '/^<script type="text\/plain" id="data">$/,/^<\/script>$/d' "$1"
}

# recorded_lines PAGE: the lines of the recording, byte for byte.
recorded_lines() {
	data_of "$1" | grep '^{' | sed 's/\\u003c/</g'
}

# program_facts PAGE KIND: the lines of one kind that the program added.
program_facts() {
	data_of "$1" | jq -c "select(type == \"array\" and .[0] == \"$2\")"
}

# sha256_of: the hash of standard input as a content security policy has it (base64).
sha256_of() {
	# shellcheck disable=SC2059 # hex digits to bytes
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
	diff <(recorded_lines a.html) a.jsonl
	[ "$(program_facts a.html step | jq -c '.[3:8] + .[11:12]' | sed -n 2p)" = '[1,1,"ok",0,"lake_move action=DOWN","position 4 -> 8"]' ]
	[ "$(program_facts a.html step | jq -c '.[12]' | sort -u)" = '["/position"]' ]
	has "$(program_facts a.html summary)" 'no findings: 6 of 6 steps changed the state'
	# "-" writes the same page to standard output
	expect 0 rolldbg show --html - a.jsonl
	[ "$output" = "$(cat a.html)" ]
}

@test "findings and exit code are those of check" {
	local conf='builtin:frozen_lake?fault=fallback-session&max_envs=3'
	rolldbg run --quiet --env "$conf" --actions "$goal" --out a.jsonl || true
	expect 1 rolldbg check a.jsonl --html a.html
	has "$output" 'error: capacity: turns 3-5'
	diff <(program_facts a.html verdict | jq -c '.[2]') <(rolldbg check a.jsonl --json | jq -c 'select(.type != "summary")')
	has "$(program_facts a.html rule | jq -r '.[1]')" fallback-session
	expect 0 rolldbg check a.jsonl --html a.html --fail-on never
	expect 0 rolldbg show a.jsonl --html b.html
	diff <(program_facts a.html verdict) <(program_facts b.html verdict)
}

@test "peers' text stays data: no tag, comment or end of the element gets through" {
	expect 1 rolldbg check "$hostile" --html a.html
	[ "$(data_of a.html | wc -l)" -gt 10 ]
	lacks "$(data_of a.html)" '<'
	[ "$(grep -c '<script' a.html)" = 2 ]
	[ "$(grep -c '</script>' a.html)" = 2 ]
	diff <(recorded_lines a.html) "$hostile"
	# half a surrogate pair is valid JSON that jq rejects
	data_of a.html | sed 's/\\ud800//' | jq -e . >/dev/null
	lacks "$(template_of a.html)" hacked
}

@test "the content security policy allows only the page's own style and script" {
	expect 0 rolldbg show "$hostile" --html a.html
	policy_allows a.html 'style-src' "$(sed -n '/^<style>/,/^<\/style>/p' a.html | sed '1s/^<style>//;$d' | sha256_of)"
	policy_allows a.html 'script-src' "$(sed -n '/^<script type="module">/,/^<\/script>/p' a.html | sed '1s/^<script type="module">//;$d' | sha256_of)"
	has "$(cat a.html)" "content=\"default-src 'none'; script-src 'sha256-"
	lacks "$(cat a.html)" unsafe-inline
	# the page loads nothing: its only URL is the SVG namespace
	[ "$(template_of a.html | grep -oE '(https?:)?//[a-z][^" ]*\.[a-z][^" ]*')" = http://www.w3.org/2000/svg ]
}

@test "a page never overwrites a recording or another file" {
	rolldbg run --quiet --out a.jsonl
	cp a.jsonl before.jsonl
	echo precious >notes.txt
	expect 2 rolldbg show a.jsonl --html a.jsonl
	has "$stderr" 'a.jsonl exists and is not a page of rolldbg: name another file, or remove it'
	ln a.jsonl link
	expect 2 rolldbg check a.jsonl --html link
	# without an operand the latest recording would be shown
	rolldbg run --quiet
	expect 2 rolldbg show --html before.jsonl
	has "$stderr" 'before.jsonl exists and is not a page of rolldbg: name another file, or remove it'
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
	has "$stderr" 'cannot write missing/a.html: No such file or directory'
	expect 5 rolldbg check a.jsonl --html /dev/full
	mkdir directory
	expect 5 rolldbg show a.jsonl --html directory
	echo '{"type":' >broken.jsonl
	expect 3 rolldbg check broken.jsonl --html broken.html
	[ ! -e broken.html ]
	[ -z "$(find . -name '*.partial')" ]
}

@test "usage: options that exclude each other" {
	rolldbg run --quiet --out a.jsonl
	cp a.jsonl before.jsonl
	expect 2 rolldbg show a.jsonl --html a.html --turn 1
	has "$stderr" '--html and --turn are mutually exclusive'
	expect 2 rolldbg check a.jsonl --html -
	has "$stderr" '--html -: standard output is already used for the result'
	expect 2 rolldbg diff a.jsonl a.jsonl --html -
	expect 2 rolldbg stats a.jsonl --html -
	expect 2 rolldbg stats --compare a.jsonl a.jsonl --html a.html
	expect 2 rolldbg show a.jsonl --html a.html --rollout nobody
	has "$stderr" "the recording has no rollout 'nobody'"
	expect 2 rolldbg diff - a.jsonl --html a.html <before.jsonl
	has "$stderr" 'which is not possible with standard input'
	expect 2 rolldbg stats --html a.html - <before.jsonl
	[ ! -e a.html ]
}

@test "several recordings, directories, standard input, one rollout of many" {
	local one
	for one in up down; do
		rolldbg run --quiet --task $one --actions ${one^^} --out $one.jsonl || true
	done
	mkdir both
	cat up.jsonl down.jsonl >all.jsonl
	mv up.jsonl down.jsonl both
	expect 0 rolldbg show --html a.html both all.jsonl
	[ "$(program_facts a.html rollout | jq -c '.[3:6]' | tr '\n' ' ')" = '["down.0","both/down.jsonl","down"] ["up.0","both/up.jsonl","up"] ["up.0","all.jsonl","up"] ["down.0","all.jsonl","down"] ' ]
	expect 0 rolldbg show --html b.html - <all.jsonl
	[ "$(program_facts b.html rollout | wc -l)" = 2 ]
	expect 0 rolldbg show --html c.html all.jsonl --rollout down.0
	[ "$(recorded_lines c.html | jq -r .rollout | sort -u)" = down.0 ]
	# one of several files is unusable
	echo nonsense >both/broken.jsonl
	expect 3 rolldbg show --html d.html both
	has "$stderr" both/broken.jsonl
	[ "$(program_facts d.html rollout | wc -l)" = 2 ]
	has "$(program_facts d.html note)" both/broken.jsonl
	expect 2 rolldbg show both/up.jsonl both/down.jsonl
	has "$stderr" "unexpected operand 'both/down.jsonl'"
}

@test "interleaved rollouts, one without an end, a truncated line: shown up to there" {
	local fixtures=$root/fixtures/recordings
	expect 0 rolldbg show --html a.html "$fixtures/interleaved.jsonl"
	[ "$(program_facts a.html step | jq -r '.[1]' | sort -u | wc -l)" = "$(jq -r .rollout "$fixtures/interleaved.jsonl" | sort -u | wc -l)" ]
	rolldbg run --quiet --out good.jsonl
	head -c -100 good.jsonl >torn.jsonl
	expect 0 rolldbg show --html b.html torn.jsonl
	[ "$(program_facts b.html step | tail -n 1 | jq -c '[.[10], .[11]]')" = '[null,null]' ]
	sed 1d good.jsonl >headless.jsonl
	expect 0 rolldbg show --html c.html headless.jsonl
	[ "$(program_facts c.html step | wc -l)" = 6 ]
}

@test "diff: both recordings, and each difference as --json prints it" {
	rolldbg run --quiet --out a.jsonl
	rolldbg run --quiet --actions DOWN,UP,DOWN,DOWN --out b.jsonl || true
	expect 1 rolldbg diff a.jsonl b.jsonl --html d.html
	diff <(program_facts d.html result | jq -c '.[2]') <(rolldbg diff a.jsonl b.jsonl --json | jq -c .)
	[ "$(program_facts d.html rollout | jq -c '.[6]' | tr '\n' ' ')" = '0 1 ' ]
	expect 0 rolldbg diff a.jsonl a.jsonl --html same.html
	[ "$(program_facts same.html result | jq -r '.[2].different')" = 0 ]
	expect 1 rolldbg diff a.jsonl b.jsonl --stat --html e.html
	[ "${#lines[@]}" = 2 ]
	diff <(program_facts d.html result) <(program_facts e.html result)
}

@test "stats: the metrics as --json prints them, with those of each task" {
	rolldbg run --quiet --group-size 2 --task lake --out a.jsonl
	expect 0 rolldbg stats a.jsonl --html s.html
	has "$output" 'tools/call_frequency'
	diff <(program_facts s.html result | jq -c '.[2]') <(rolldbg stats a.jsonl --json --by task | jq -c .)
}

@test "10,000 steps: the page is at most 1.5 times the size of the recording" {
	rolldbg run --quiet --out a.jsonl
	# the six steps repeated; only the last line is an end
	jq -c --argjson n 10000 'select(.type != "step")' a.jsonl | sed '$d' >long.jsonl
	jq -cn --argjson n 10000 '[inputs | select(.type == "step")] as $s | range($n) | . as $i | $s[$i % 6] | .turn = $i | .step = $i | .env_steps = null | .terminated = false' a.jsonl >>long.jsonl
	expect 0 rolldbg show --html long.html long.jsonl
	[ "$(program_facts long.html step | wc -l)" = 10000 ]
	[ "$(($(stat -c %s long.html) * 2))" -le "$(($(stat -c %s long.jsonl) * 3))" ]
}
