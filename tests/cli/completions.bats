#!/usr/bin/env bats
# The completions know what the program's tables know.

setup() {
	# shellcheck source=/dev/null
	source completions/rolldbg.bash
}

# The completions that bash offers after these words; the last one is being typed. (What readline would split is offered from
# the last : or = on.)
offered() {
	COMP_LINE="rolldbg $*"
	COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	_rolldbg
	printf '%s\n' "${COMPREPLY[@]}"
}

@test "bash: commands and global options" {
	[[ $(offered ch) == check ]]
	[[ $(offered '' | sort | tr '\n' ' ') == *'check '*'run '*'serve '*'show '*'strip '* ]]
	offered --he | grep -qx -- --help
}

@test "bash: options of a command, after global ones too" {
	offered run --en | grep -qx -- --env
	offered -v run --en | grep -qx -- --env
}

@test "bash: values of a choice, after a space and after =" {
	[ "$(offered check --fail-on w)" = warning ]
	[ "$(offered check --fail-on=w)" = warning ]
	offered check --fail-on= | grep -qx error
}

@test "bash: names of rules and faults" {
	offered check --explain multi | grep -qx multi-step-illusion
	offered serve --fault cap | grep -qx capacity
}

@test "bash: lists, commands and keywords" {
	[ "$(offered check --only multi)" = multi-step-illusion ]
	[ "$(offered check --only loop,cap)" = loop,capacity ]
	[ "$(offered check --only=loop,capacity,tool-d)" = loop,capacity,tool-drift ]
	[ "$(offered help sta)" = stats ]
	mkdir "$BATS_TEST_TMPDIR/empty"
	cd "$BATS_TEST_TMPDIR/empty"
	[ "$(offered serve '' | tr '\n' ' ')" = 'frozen_lake desk llm ' ]
	touch run.jsonl
	[ "$(offered serve ru)" = run.jsonl ]
	[ "$(offered serve --map 8)" = 8x8 ]
}

@test "bash: environments and their settings, state sources, protocols" {
	[ "$(offered run --env built | tr '\n' ' ')" = 'builtin:frozen_lake builtin:desk ' ]
	[ "$(offered run -e builtin:fro)" = frozen_lake ]
	[ "$(offered run --env=builtin:fro)" = frozen_lake ]
	[ "$(offered run --env "'builtin:fro")" = builtin:frozen_lake ]
	[ "$(offered run --env 'builtin:frozen_lake?map=8')" = 8x8 ]
	[ "$(offered run --env "'builtin:frozen_lake?map=8x8&fault=cap")" = 'builtin:frozen_lake?map=8x8&fault=capacity' ]
	offered probe --env '"builtin:desk?' | grep -qx 'builtin:desk?max_envs='
	offered run --env h | grep -qx http://
	[ "$(offered run --state con)" = control-plane ]
	[ "$(offered run --state to)" = tool: ]
	[ "$(offered probe --protocol openenv- )" = openenv-http ]
}

@test "bash: ready policies, kinds and files" {
	PATH=$(dirname "${ROLLDBG:-$PWD/rolldbg}"):$PATH
	cd "$BATS_TEST_TMPDIR"
	mkdir policies
	touch policies/lake-goal.json lake-mine.json
	[ "$(offered run --policy lake- | sort | tr '\n' ' ')" = 'lake-goal lake-mine.json ' ]
	[ "$(offered probe -p rand)" = random ]
}

@test "bash: files for file operands" {
	cd "$BATS_TEST_TMPDIR"
	touch one.jsonl
	[ "$(offered check one)" = one.jsonl ]
}

@test "zsh and fish parse their completions" {
	for shell in zsh fish; do
		command -v "$shell" >/dev/null || skip "no $shell"
	done
	zsh -n completions/_rolldbg
	fish -n completions/rolldbg.fish
	run fish -c 'source completions/rolldbg.fish; complete -C "rolldbg ch"'
	[[ $output == check* ]]
}
