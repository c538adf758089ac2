#!/usr/bin/env bats
# rolldbg in git: textconv, the merge driver, difftool, with a real git.
# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# golden FILE TASK=ACTIONS..: a stripped recording of these rollouts
golden() {
	local file=$1 one
	shift
	for one in "$@"; do
		rolldbg run --quiet --task "${one%%=*}" --actions "${one#*=}" --out "${one%%=*}.part" --force --fail-on never
	done
	rolldbg strip "${@/%=*/.part}" >"$file"
	rm -f -- *.part
}

# repository: an empty one, with rolldbg as its diff and merge driver
repository() {
	command -v git >/dev/null || skip 'no git'
	export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
	git init -q repo
	cd repo || return
	git checkout -q -b main
	git config user.email a@example.com
	git config user.name a
	git config diff.rolldbg.textconv "'$ROLLDBG' strip --text"
	git config merge.rolldbg.driver "'$ROLLDBG' merge %O %A %B %P"
	echo '*.jsonl diff=rolldbg merge=rolldbg' >.gitattributes
	golden g.jsonl a=DOWN b=DOWN c=DOWN
	git add .
	git commit -qm base
}

# commit MESSAGE TASK=ACTIONS..
commit() {
	golden g.jsonl "${@:2}"
	git commit -qam "$1"
}

@test "textconv: what changed, in words, and one more call as one more block" {
	repository
	golden g.jsonl a=DOWN b=DOWN,RIGHT c=DOWN
	expect 0 git diff -U0
	has "$output" $'+step lake_move\n+arguments\n+  action      "RIGHT"\n'
	[ "$(grep -c '^-[^-]' <<<"$output")" = 3 ] # the limit, the status and the reason of b
	sed -i 's/"position":4,/"position":5,/; s/"position":4}/"position":5}/' g.jsonl
	expect 0 git diff -U0
	has "$output" $'-  /position 0 -> 4\n'
	has "$output" $'+  /position 0 -> 5\n'
	[ "$(rolldbg strip --text g.jsonl | grep '^header')" = $'header of rollout a.0\nheader of rollout b.0\nheader of rollout c.0' ]
}

@test "strip --text: long, added and unknown members of the state" {
	rolldbg run --quiet --actions DOWN,RIGHT --out a.jsonl --fail-on never
	jq -c --arg long "$(printf 'x%.0s' {1..100})" 'if .type == "step" and .step == 1 then .state = {position: $long, more: [1]}
		elif .type == "end" then .state = null else . end' a.jsonl >b.jsonl
	expect 0 rolldbg strip --text b.jsonl
	has "$output" $'changed\n  /more added [1]\n  /position 0 -> "xxxx'
	has "$output" $'changed       unknown\n\nend\n'
}

@test "the merge driver: each side changed, added or removed another rollout" {
	repository
	git checkout -q -b theirs
	commit theirs a=DOWN b=RIGHT d=RIGHT # c is gone, d is new
	git checkout -q main
	commit ours a=RIGHT b=DOWN c=DOWN e=DOWN
	# as lines they conflict
	git show theirs~:g.jsonl >../base
	git show theirs:g.jsonl >../theirs
	git merge-file -p g.jsonl ../base ../theirs >../merged && false
	has "$(cat ../merged)" '<<<<<<<'
	expect 0 git merge -q theirs
	golden want a=RIGHT b=RIGHT d=RIGHT e=DOWN
	cmp want g.jsonl
	[ -z "$(git status --porcelain --untracked-files=no)" ]
}

@test "the merge driver: a conflict is named, and ours is still a recording" {
	repository
	git checkout -q -b theirs
	commit theirs a=RIGHT b=RIGHT
	git checkout -q main
	commit ours a=DOWN,DOWN b=DOWN c=RIGHT
	expect 1 git merge theirs
	has "$stderr$output" 'conflict: g.jsonl: rollout a.0: changed on both sides; kept: ours'
	has "$stderr$output" 'conflict: g.jsonl: rollout c.0: changed by us, removed by them; kept: ours'
	lacks "$stderr$output" 'rollout b.0'
	[ "$(git status --porcelain g.jsonl)" = 'UU g.jsonl' ]
	golden want a=DOWN,DOWN b=RIGHT c=RIGHT
	cmp want g.jsonl
	git merge --abort
	git checkout -q theirs
	expect 1 git merge main
	has "$stderr$output" 'rollout c.0: removed by us, changed by them; kept: theirs'
	# a file that is new on both sides has no base; the same change on both is none
	git merge --abort
	golden n.jsonl a=DOWN b=DOWN
	git add n.jsonl
	git commit -qm new
	git checkout -q main
	golden n.jsonl a=DOWN b=RIGHT
	golden g.jsonl a=RIGHT b=RIGHT
	git add n.jsonl
	git commit -qam new
	expect 1 git merge theirs
	[ "$(grep -o "conflict: .*" <<<"$stderr")" = 'conflict: n.jsonl: rollout b.0: added on both sides; kept: ours' ]
}

@test "merge: what is no recording, and an incomplete one" {
	golden a.jsonl a=DOWN
	cp a.jsonl ours.jsonl
	echo '<<<<<<< ours' >bad.jsonl
	expect 3 rolldbg merge a.jsonl ours.jsonl bad.jsonl
	head -c -9 a.jsonl >torn.jsonl
	expect 3 rolldbg merge a.jsonl ours.jsonl torn.jsonl g.jsonl
	has "$stderr" 'g.jsonl: line 4 is truncated'
	cmp a.jsonl ours.jsonl
	expect 2 rolldbg merge a.jsonl ours.jsonl
}

@test "difftool: a tool of its own" {
	repository
	git config difftool.rolldbg.cmd "'$ROLLDBG' diff --no-exit-code \"\$LOCAL\" \"\$REMOTE\""
	golden g.jsonl a=DOWN b=DOWN,RIGHT c=DOWN
	expect 0 git difftool --no-prompt --tool rolldbg
	has "$output" $'rollout b.0\n'
	has "$output" '+ step 1  lake_move action=RIGHT'
	lacks "$output" 'rollout a.0'
}
