#!/usr/bin/env bats
# The completions know what the program's tables know.

setup() {
	# shellcheck source=/dev/null
	source completions/rolldbg.bash
}

# What bash would offer behind these words; the last one is being typed.
offered() {
	COMP_WORDS=(rolldbg "$@")
	COMP_CWORD=$#
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

@test "bash: values of a choice, with a blank and with =" {
	[ "$(offered check --fail-on w)" = warning ]
	[ "$(offered check --fail-on = w)" = warning ]
	offered check --fail-on = | grep -qx error
}

@test "bash: names of rules and faults" {
	offered check --explain multi | grep -qx multi-step-illusion
	offered serve --fault cap | grep -qx capacity
}

@test "bash: lists, commands and words that stand for themselves" {
	offered check --only multi | grep -qx multi-step-illusion
	[ "$(offered help sta)" = stats ]
	[ "$(offered serve '' | tr '\n' ' ')" = 'frozen_lake desk llm ' ]
	[ "$(offered serve --map 8)" = 8x8 ]
}

@test "bash: files for file operands" {
	cd "$BATS_TEST_TMPDIR"
	touch one.jsonl
	[ "$(offered check one)" = one.jsonl ]
}

@test "zsh and fish can read theirs" {
	for shell in zsh fish; do
		command -v "$shell" >/dev/null || skip "no $shell"
	done
	zsh -n completions/_rolldbg
	fish -n completions/rolldbg.fish
	run fish -c 'source completions/rolldbg.fish; complete -C "rolldbg ch"'
	[[ $output == check* ]]
}
