#!/usr/bin/env bats
# diff: differences between recordings, matched by rollout and call.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# record NAME ACTIONS [OPTION...]: records a run on the built-in lake.
record() {
	local name=$1 actions=$2
	shift 2
	rolldbg run --quiet --seed 42 --actions "$actions" --out "$name.jsonl" "$@"
}

@test "two equal runs: nothing is printed, exit 0" {
	record a "$goal"
	record b "$goal"
	cp a.jsonl same.jsonl
	for other in b same; do
		expect 0 rolldbg diff a.jsonl $other.jsonl
		[ -z "$output$stderr" ]
	done
	expect 0 rolldbg diff --json a.jsonl same.jsonl
	[ "$(jq -c '[.type, .rollouts, .different, .steps]' <<<"$output")" = '["summary",1,0,6]' ]
}

@test "two inserted calls are two lines, and the rest is equal" {
	record a DOWN,DOWN,RIGHT
	record b DOWN,UP,DOWN,DOWN,RIGHT
	expect 1 rolldbg diff a.jsonl b.jsonl
	[ "$(grep -c '^[+] step' <<<"$output")" = 2 ]
	lacks "$output" '- step'
	# the steps after them are equal
	lacks "$output" '/state'
	has "$output" '1 of 1 rollout differs · '
}

@test "a difference names its pointer, then expected and got" {
	record a DOWN,DOWN,RIGHT
	record b DOWN,DOWN,RIGHT --env 'builtin:frozen_lake?map=8x8'
	expect 1 rolldbg diff a.jsonl b.jsonl
	has "$output" $'  step 2  lake_move action=RIGHT\n    /state/position  8 -> 16\n'
	expect 1 rolldbg diff --json a.jsonl b.jsonl
	[ "$(jq -c 'select(.step == 2 and .pointer == "/state/position") | [.kind, .expected, .got, .line, .turn]' <<<"$output")" = \
		'["changed",8,16,"step",2]' ]
	has "$output" '"type":"summary"'
}

@test "--no-exit-code, --stat" {
	record a DOWN,DOWN
	record b DOWN,RIGHT
	expect 1 rolldbg diff a.jsonl b.jsonl
	expect 0 rolldbg diff --no-exit-code a.jsonl b.jsonl
	has "$output" '- step 1  lake_move action=DOWN'
	has "$output" '+ step 1  lake_move action=RIGHT'
	expect 1 rolldbg diff --stat a.jsonl b.jsonl
	[ "${#lines[@]}" = 2 ]
	has "${lines[0]}" 'FrozenLake-v1.0: 2 -> 2 steps, '
	has "${lines[0]}" ', 1 missing, 1 extra'
	has "${lines[0]}" ' values differ: /status finished -> terminated, /state/position changed, /policy/params/actions/1 changed'
}

@test "--mask, --tolerance, and the masks of the header" {
	record a DOWN,DOWN
	sed 's/"reward":0,/"reward":0.001,/; s/"total_reward":0\.0/"total_reward":0.001/' a.jsonl >b.jsonl
	expect 1 rolldbg diff a.jsonl b.jsonl
	expect 0 rolldbg diff --tolerance /reward=0.01 --tolerance /total_reward=0.01 a.jsonl b.jsonl
	expect 1 rolldbg diff --tolerance /reward=0.0001 --mask /total_reward a.jsonl b.jsonl
	expect 0 rolldbg diff --mask /reward --mask /total_reward a.jsonl b.jsonl
	for wrong in /reward=1x reward=1 /reward /reward=x /reward=-1; do
		expect 2 rolldbg diff --tolerance $wrong a.jsonl b.jsonl
		has "$stderr" "--tolerance: expected POINTER=NUMBER such as /reward=1e-6, got '$wrong'"
	done
	record c DOWN,DOWN --mask '/observation/grid'
	sed 's/(Down)/(Masked)/g' c.jsonl >d.jsonl
	expect 0 rolldbg diff c.jsonl d.jsonl
	# a value masked on one side is not compared
	expect 0 rolldbg diff --mask '/state/**' a.jsonl d.jsonl
	sed 's/(Down)/(Masked)/g; s,"masks":\[[^]]*\],"masks":[],' c.jsonl >e.jsonl
	sed 's,"masks":\[[^]]*\],"masks":[],' c.jsonl >f.jsonl
	expect 1 rolldbg diff --mask '/state/**' e.jsonl f.jsonl
	has "$output" '/observation/grid'
}

@test "batches: rollouts are matched by id, in files and directories, in any order" {
	rolldbg run --quiet --actions DOWN -g 3 -j 3 --out before.jsonl
	mkdir after
	rolldbg run --quiet --actions DOWN -g 4 --out after/
	expect 1 rolldbg diff before.jsonl after
	[ "$output" = "$(printf 'rollout env.3\n+ only in the second recording\n1 of 4 rollouts differs · 1 difference · 3 steps compared')" ]
	expect 1 rolldbg diff after before.jsonl --stat
	[ "${lines[0]}" = 'env.3: missing' ]
	expect 0 rolldbg diff before.jsonl after --rollout env.1
	expect 2 rolldbg diff before.jsonl after --rollout env.7
	has "$stderr" "no rollout 'env.7' in either recording"
	cp before.jsonl same.jsonl
	expect 0 rolldbg diff before.jsonl - <same.jsonl
}

@test "--stat of batches: the largest changes first, with the verdicts of check" {
	printf '{"id":"%s","actions":"%s"}\n' a "$goal" b DOWN c DOWN,DOWN d UP f DOWN,DOWN,RIGHT >before.tasks
	printf '{"id":"%s","actions":"%s"}\n' a "${goal%,*}" b NORTH,NORTH,NORTH,NORTH c DOWN,RIGHT e UP f DOWN,DOWN,RIGHT >after.tasks
	for side in before after; do
		mkdir $side
		rolldbg run --quiet --seed 1 --tasks $side.tasks --force-call --out $side/ --fail-on never >/dev/null
	done
	expect 1 rolldbg diff before after --stat
	has "$output" $'what differs:\n'
	has "$output" $'\n  /state/position changed: 3 of 6 rollouts\n'
	lacks "$output" ': 0 of 6'
	[ "$(grep '^[a-f]\.0: ' <<<"$output" | cut -d: -f1 | paste -sd ' ')" = 'b.0 d.0 e.0 a.0 c.0' ]
	has "$output" 'b.0: 1 -> 4 steps, verdict no error -> multi-step-illusion, '
	has "$output" 'd.0: missing'
	has "$output" 'e.0: extra'
	has "$output" 'a.0: 6 -> 5 steps, status terminated -> finished, reward 1.0 -> 0.0, '
	has "$output" '5 of 6 rollouts differ · '
	expect 1 rolldbg diff before after --stat --json
	[ "$(jq -cs '.[0] | [.type, .rollout, .expected.error, .got.error, .got.steps]' <<<"$output")" = \
		'["rollout-difference","b.0",null,"multi-step-illusion",4]' ]
	[ "$(jq -cs '.[-1].different' <<<"$output")" = 5 ]
}

@test "equal rollouts in another order, and a different one" {
	printf '{"id":"%s","actions":"%s"}\n' a "$goal" b DOWN c DOWN,DOWN >tasks
	mkdir one
	rolldbg run --quiet --seed 1 --tasks tasks --out one/
	rolldbg run --quiet --seed 1 --tasks tasks --jobs 3 --out two.jsonl
	cat one/c.0.jsonl one/a.0.jsonl one/b.0.jsonl >shuffled.jsonl
	for other in one two.jsonl shuffled.jsonl; do
		expect 0 rolldbg diff one/ $other --json
		[ "$(jq -c '[.rollouts, .different, .steps]' <<<"$output")" = '[3,0,9]' ]
	done
	sed 's/"reward":1,/"reward":0.5,/' shuffled.jsonl >changed.jsonl
	expect 1 rolldbg diff one changed.jsonl
	[ "${lines[0]}" = 'rollout a.0' ]
	has "$output" '1 of 3 rollouts differs · 1 difference · 9 steps compared'
}

@test "--unordered: sets, and arrays of records" {
	record a DOWN
	sed 's/"observation":{/"observation":{"seen":[1,2,3],"items":[{"id":"x","n":1},{"id":"y","n":2}],/' a.jsonl >b.jsonl
	sed 's/"observation":{/"observation":{"seen":[3,1,2],"items":[{"id":"y","n":5},{"id":"x","n":1}],/' a.jsonl >c.jsonl
	expect 1 rolldbg diff b.jsonl c.jsonl
	has "$output" '/observation/seen/0  1 -> 3'
	expect 1 rolldbg diff b.jsonl c.jsonl --unordered '/**/seen' --unordered /observation/items=id
	lacks "$output" seen
	has "$output" '/observation/items/y/n  2 -> 5'
	[ -z "$stderr" ]
	expect 0 rolldbg diff b.jsonl c.jsonl --unordered '/**/seen' --unordered /observation/items=id --mask '/observation/items/*/n'
	expect 1 rolldbg diff b.jsonl c.jsonl --mask /observation/sen
	has "$stderr" "--mask: '/observation/sen' matches nothing in the recordings; did you mean '/observation/seen'?"
	for wrong in seen /seen=; do
		expect 2 rolldbg diff b.jsonl c.jsonl --unordered $wrong
		has "$stderr" "--unordered: expected POINTER or POINTER=KEY such as /state/items=id, got '$wrong'"
	done
}

@test "long strings are compared word by word" {
	record a DOWN
	long='the door is locked and the old lamp on the wall gives a little light to see by'
	sed "s/\"observation\":{/\"observation\":{\"text\":\"$long\",\"short\":\"on it\",/" a.jsonl >b.jsonl
	sed 's/old lamp/new lamp/; s/on it/off it/' b.jsonl >c.jsonl
	expect 1 rolldbg diff b.jsonl c.jsonl
	has "$output" '/observation/text  …is locked and the [-old-]{+new+} lamp on the wall…'
	has "$output" '/observation/short  "on it" -> "off it"'
	expect 1 rolldbg diff b.jsonl c.jsonl --word-diff
	has "$output" '/observation/short  [-on-]{+off+} it'
	expect 1 rolldbg --color always diff b.jsonl c.jsonl
	has "$output" $'the \e[31mold\e[0m\e[32mnew\e[0m lamp'
	# the end of a long word, where it differs, is shown
	sed "s/$long/$(printf 'x%.0s' {1..300})1/" b.jsonl >b1.jsonl
	sed "s/$long/$(printf 'x%.0s' {1..300})2/" b.jsonl >b2.jsonl
	expect 1 rolldbg diff b1.jsonl b2.jsonl
	has "$output" '/observation/text  …xxxxxxxxxxxx1 -> …xxxxxxxxxxxx2'
}

@test "without operands: the last two recordings" {
	expect 3 rolldbg diff
	has "$stderr" 'fewer than two recordings in '
	rolldbg run --quiet --actions DOWN
	sleep 1.1 # file names have a resolution of one second
	rolldbg run --quiet --actions DOWN,DOWN
	expect 1 rolldbg diff
	has "$output" '+ step 1  lake_move action=DOWN'
}

@test "not a recording, or an incomplete one" {
	record a DOWN,DOWN
	echo 'no recording' >foreign
	expect 3 rolldbg diff a.jsonl foreign
	has "$stderr" 'foreign:1: '
	expect 3 rolldbg diff foreign foreign
	expect 3 rolldbg diff a.jsonl missing.jsonl
	expect 2 rolldbg diff a.jsonl
	expect 2 rolldbg diff - -
	head -c -20 a.jsonl >torn.jsonl
	expect 1 rolldbg diff a.jsonl torn.jsonl
	has "$stderr" 'torn.jsonl:5: the last line is truncated and was skipped'
	has "$output" '- the end line'
}

@test "git diff and git difftool" {
	command -v git >/dev/null || skip 'no git'
	export GIT_CONFIG_GLOBAL=$PWD/gitconfig GIT_CONFIG_SYSTEM=/dev/null
	git init -q -b main repository
	cd repository
	git config user.name tester
	git config user.email tester@example.org
	git config diff.rolldbg.textconv "$ROLLDBG strip"
	git config diff.rolldbg.cachetextconv false
	echo '*.jsonl diff=rolldbg' >.gitattributes
	record golden DOWN,DOWN
	git add .
	git commit -qm golden
	record golden DOWN,DOWN --force
	[ -z "$(git diff)" ]
	record golden DOWN,UP --force
	has "$(git diff)" '-{"type":"step"'
	expect 0 git difftool --no-prompt --extcmd "$ROLLDBG diff"
	has "$output" '- step 1  lake_move action=DOWN'
}

@test "an empty file is not a recording; /dev/null, as git difftool passes it, is an empty side" {
	record g DOWN
	: >empty.jsonl
	expect 3 rolldbg diff g.jsonl empty.jsonl
	has "$stderr" 'empty.jsonl: contains no recording'
	expect 3 rolldbg diff empty.jsonl g.jsonl
	expect 1 rolldbg diff /dev/null g.jsonl
}

@test "as diff.NAME.command of git: a change, a new file, a file that is gone, a renamed one" {
	command -v git >/dev/null || skip 'no git'
	export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
	rolldbg run --quiet --actions DOWN --out raw.jsonl
	rolldbg run --quiet --actions DOWN,RIGHT --out raw2.jsonl
	mkdir repo
	cd repo
	git init -q .
	git config user.email a@example.com
	git config user.name a
	git config diff.rolldbg.command "'$ROLLDBG' diff"
	echo '*.jsonl diff=rolldbg' >.gitattributes
	for name in one gone moved; do
		rolldbg strip ../raw.jsonl >"$name.jsonl"
	done
	git add .
	git commit -qm one
	rolldbg strip ../raw2.jsonl >one.jsonl
	rolldbg strip ../raw2.jsonl >new.jsonl
	git rm -q gone.jsonl
	git mv moved.jsonl there.jsonl
	git add .
	expect 0 git diff --cached -M
	has "$output" $'diff: one.jsonl\nrollout FrozenLake-v1.0\n'
	has "$output" '+ step 1  lake_move action=RIGHT'
	has "$output" '- only in the first recording'
	has "$output" 'diff: new.jsonl'
	expect 0 git difftool --cached -y --extcmd "'$ROLLDBG' diff" -- one.jsonl
	has "$output" '+ step 1  lake_move action=RIGHT'
	expect 2 rolldbg diff one.jsonl new.jsonl there.jsonl
}

@test "of several equal calls the one that was left out is named, by state and observation" {
	rolldbg run --quiet --env 'builtin:frozen_lake?map=8x8' --actions RIGHT,RIGHT,RIGHT,RIGHT,RIGHT,RIGHT --out six.jsonl
	for at in 0 2 5; do
		jq -c "select(.step != $at)" six.jsonl >five.jsonl
		expect 1 rolldbg diff six.jsonl five.jsonl
		[ "$(grep -c '^[-+ ] *step' <<<"$output")" = 1 ]
		has "$output" "- step $at  lake_move action=RIGHT"
		expect 1 rolldbg diff five.jsonl six.jsonl
		has "$output" "+ step $at  lake_move action=RIGHT"
		has "$output" '1 of 1 rollout differs · 1 difference · 5 steps compared'
	done
	# as many calls: each is compared with the one in its place
	jq -c 'if .step == 2 then .observation = "other" else . end' six.jsonl >other.jsonl
	expect 1 rolldbg diff six.jsonl other.jsonl
	has "$output" $'  step 2  lake_move action=RIGHT\n    /observation'
}

@test "a raw reply is compared; an error's message in our words is not" {
	rolldbg run --quiet --actions DOWN,NORTH --force-call --out a.jsonl --fail-on never
	jq -c 'if .step == 1 then .error.message = "other" else . end' a.jsonl >b.jsonl
	expect 0 rolldbg diff a.jsonl b.jsonl
	jq -c 'if .step == 0 then .raw = "<html>" else . end' a.jsonl >b.jsonl
	expect 1 rolldbg diff a.jsonl b.jsonl
	has "$output" $'  step 0  lake_move action=DOWN\n    /raw  null -> "<html>"'
}
