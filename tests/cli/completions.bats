#!/usr/bin/env bats
# The completions offer what the program's tables contain.

setup() {
	# shellcheck source=/dev/null
	source completions/rolldbg.bash
	set +T && declare -ft "$BATS_TEST_NAME" # see setup in lib.bash: that bats notes the place of each command of these slows them down
}

# bash_completions WORD...: the completions that bash offers while the last word is being typed. (Where readline splits a
# word at : or =, they start after the last one.)
bash_completions() {
	COMP_LINE="rolldbg $*"
	COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	_rolldbg
	printf '%s\n' "${COMPREPLY[@]}"
}

@test "bash: commands and global options" {
	[[ $(bash_completions ch) == check ]]
	[[ $(bash_completions '' | sort | tr '\n' ' ') == *'check '*'run '*'serve '*'show '*'strip '* ]]
	bash_completions --he | grep -qx -- --help
}

@test "bash: options of a command, after global ones too" {
	bash_completions run --en | grep -qx -- --env
	bash_completions -v run --en | grep -qx -- --env
}

@test "bash: values of a choice, after a space and after =" {
	[ "$(bash_completions check --fail-on w)" = warning ]
	[ "$(bash_completions check --fail-on=w)" = warning ]
	bash_completions check --fail-on= | grep -qx error
	[ "$(bash_completions check --color n)" = never ]
}

@test "bash: names of rules and faults" {
	bash_completions check --explain multi | grep -qx multi-step-illusion
	bash_completions serve --fault cap | grep -qx capacity
}

@test "bash: lists, commands and keywords" {
	[ "$(bash_completions check --only multi)" = multi-step-illusion ]
	[ "$(bash_completions check --only loop,cap)" = loop,capacity ]
	[ "$(bash_completions check --only=loop,capacity,tool-d)" = loop,capacity,tool-drift ]
	[ "$(bash_completions help sta)" = stats ]
	[ "$(bash_completions schema re | tr '\n' ' ')" = 'recording replay ' ]
	mkdir "$BATS_TEST_TMPDIR/empty"
	cd "$BATS_TEST_TMPDIR/empty"
	[ "$(bash_completions serve '' | tr '\n' ' ')" = 'frozen_lake desk llm ' ]
	touch run.jsonl
	[ "$(bash_completions serve ru)" = run.jsonl ]
	[ "$(bash_completions serve --map 8)" = 8x8 ]
}

@test "bash: environments and their settings, state sources, protocols" {
	[ "$(bash_completions run --env built | tr '\n' ' ')" = 'builtin:frozen_lake builtin:desk ' ]
	[ "$(bash_completions run -e builtin:fro)" = frozen_lake ]
	[ "$(bash_completions run --env=builtin:fro)" = frozen_lake ]
	[ "$(bash_completions run --env "'builtin:fro")" = builtin:frozen_lake ]
	[ "$(bash_completions run --env 'builtin:frozen_lake?map=8')" = 8x8 ]
	[ "$(bash_completions run --env "'builtin:frozen_lake?map=8x8&fault=cap")" = 'builtin:frozen_lake?map=8x8&fault=capacity' ]
	bash_completions probe --env '"builtin:desk?' | grep -qx 'builtin:desk?max_envs='
	bash_completions run --env h | grep -qx http://
	[ "$(bash_completions run --state con)" = control-plane ]
	[ "$(bash_completions run --state to)" = tool: ]
	[ "$(bash_completions probe --protocol openenv- )" = openenv-http ]
}

@test "bash: ready policies, kinds and files" {
	PATH=$(dirname "${ROLLDBG:-$PWD/rolldbg}"):$PATH
	cd "$BATS_TEST_TMPDIR" || return
	mkdir policies
	touch policies/lake-goal.json lake-mine.json
	[ "$(bash_completions run --policy lake- | sort | tr '\n' ' ')" = 'lake-goal lake-mine.json ' ]
	[ "$(bash_completions run --policy rand)" = random: ]
}

@test "bash: formats to read and to write" {
	cd "$BATS_TEST_TMPDIR" || return
	touch mapping.json
	[ "$(bash_completions convert --from ma | sort | tr '\n' ' ')" = 'map: mapping.json ' ]
	[ "$(bash_completions convert --from insp)" = inspect ]
	[ -z "$(bash_completions convert --to insp)" ]
	[ "$(bash_completions convert --to ati)" = atif ]
}

@test "bash: files for file operands" {
	cd "$BATS_TEST_TMPDIR" || return
	touch one.jsonl
	[ "$(bash_completions check one)" = one.jsonl ]
}

# What is not a word of ours may be completed, but never run: each line is typed, completed with two tabs, and entered.
hostile_folder() {
	local i names=() quoted=()
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin home policies
	ln -s "${ROLLDBG:-$root/rolldbg}" bin/rolldbg
	printf '#!/bin/sh\ntouch PWNED\n' >bin/pwned
	chmod +x bin/pwned
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH HOME=$BATS_TEST_TMPDIR/home
	# shellcheck disable=SC2016 # names, not expansions
	names=('$(touch PWNED)' '`touch PWNED`' "a';touch PWNED;'" 'b";touch PWNED;"' $'c\ntouch PWNED' 'd;touch PWNED;'
		'$(pwned)' '`pwned`' '*' '?' '[x]' '-x' '~' '{a,b}' '<(touch PWNED)')
	mapfile -t quoted < <(jq -cn '$ARGS.positional[]' --args -- "${names[@]}")
	for i in "${!names[@]}"; do
		printf '{"type":"header","version":1,"rollout":%s,"task":%s,"tools":[{"name":%s}]}\n' \
			"${quoted[i]}" "${quoted[i]}" "${quoted[i]}" >"${names[i]}.jsonl"
		printf '{"kind":"script","tool":%s,"actions":[%s]}\n' "${quoted[i]}" "${quoted[i]}" >"policies/${names[i]}.json"
		mkdir "./${names[i]}.d"
		: >"./${names[i]}.d/only.jsonl"
	done
	jq -s '{environments: map({(.rollout): {target: "builtin:desk"}}) | add}' ./*.jsonl >.rolldbg.json
}

typed=('run --policy ' 'run --policy \$' 'run --policy \`' 'run --policy=' 'run --policy "' "run --policy '" 'run --env '
	'check ' 'check \$' 'check ./\`' 'check \*' 'check \<' 'show --rollout ' 'show --rollout \$' 'show -- '
	'run --tool ' 'run --tool \$' 'replay --env ' 'stats --out ' 'serve ')

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

@test "bash: names of files run nothing" {
	hostile_folder
	{
		printf '%s\n' "source '$root/completions/rolldbg.bash'"
		printf 'rolldbg %s\t\t\n' "${typed[@]}"
		printf '\n'
	} >keys
	TERM=dumb timeout 100 bash --norc -i <keys >screen 2>&1 || true
	grep -F 'touch PWNED' screen
	[ ! -e PWNED ]
	[ "$(bash_completions 'run --policy d' | sort | tr '\n' ' ')" = 'd\;touch\ PWNED\; d\;touch\ PWNED\;.d/ d\;touch\ PWNED\;.jsonl ' ]
	[ "$(bash_completions 'run --policy -' | sort | tr '\n' ' ')" = '-x -x.d -x.jsonl ' ]
	[ "$(bash_completions 'run --policy \[' | sort | tr '\n' ' ')" = '\[x\] \[x\].d/ \[x\].jsonl ' ]
	[ ! -e PWNED ]
}

# Lines that end in one Tab and Enter, and the words that the program gets.
# shellcheck disable=SC2016 # names, not expansions
one_tab=(
	'run --policy x' '<run><--policy><x`pwned`>'
	'run --policy "x' '<run><--policy><x`pwned`>'
	"run --policy 'x" '<run><--policy><x`pwned`>'
	'run --policy=lake' '<run><--policy=lake$(pwned)>'
	'run --policy="lake' '<run><--policy=lake$(pwned)>'
	'run --policy tw' '<run><--policy><two`pwned`>'
	'check k:' '<check><k:`pwned`.json>'
	'check k\:' '<check><k:`pwned`.json>'
	'check "k:' '<check><k:`pwned`.json>'
	'check k=' '<check><k=`pwned`.json>'
	'run --out k=' '<run><--out><k=`pwned`.json>'
	'run --out=k=' '<run><--out=k=`pwned`.json>'
	$'check m\tm' '<check><m:m`pwned`.json>'
	'check n' '<check><n`pwned`>'
	'check o\ p' '<check><o p$(pwned).json>'
	'check "o p' '<check><o p$(pwned).json>'
	'check at@' '<check><at@`pwned`>'
	'check in' '<check><in`pwned`/>'
	'check in\`pwned\`/' '<check><in`pwned`/one$(pwned)>'
	'check plain/s' '<check><plain/sub/>'
)

# More names, and a program that writes its words into `got`.
# shellcheck disable=SC2016 # names, not expansions
one_tab_folder() {
	hostile_folder
	mkdir -p 'in`pwned`' plain/sub
	touch k{:,=}'`pwned`.json' 'm:m`pwned`.json' m:b.json n'`pwned`'{1,2} 'o p$(pwned).json' 'at@`pwned`' \
		'home/h`pwned`' 'in`pwned`/one$(pwned)' policies/{'x`pwned`','lake$(pwned)','two`pwned`'{1,2}}.json
	rm bin/rolldbg
	cat >bin/rolldbg <<-EOF
		#!/bin/sh
		[ "\$1" != __spec ] || exec '${ROLLDBG:-$root/rolldbg}' "\$@"
		{ printf '<%s>' "\$@" && echo; } >>'$PWD/got'
	EOF
	chmod +x bin/rolldbg
	# shellcheck disable=SC2088 # typed
	one_tab+=('check ~/h' "<check><$HOME/h\`pwned\`>")
}

@test "bash: a line completed by one tab runs nothing, and names the file" {
	one_tab_folder
	printf '%s\n' "source '$root/completions/rolldbg.bash'" >keys
	for ((i = 0; i < ${#one_tab[@]}; i += 2)); do
		printf 'rolldbg %s\t\n' "${one_tab[i]}" >>keys
		printf '%s\n' "${one_tab[i + 1]}" >>wanted
	done
	TERM=dumb timeout 100 bash --norc -i <keys >screen 2>&1 || true
	cat screen
	diff -u wanted got
	[ ! -e PWNED ]
}

@test "fish: names of files run nothing" {
	hostile_folder
	for line in "${typed[@]}"; do
		fish --no-config -c "source '$root/completions/rolldbg.fish'; complete --escape -C \$argv[1]" "rolldbg $line" >>screen
	done
	grep -F 'touch\ PWNED' screen
	[ ! -e PWNED ]
	fish --no-config -c "source '$root/completions/rolldbg.fish'; complete -C 'rolldbg run --policy \\\$'" >offered
	grep -qF $'$(touch PWNED)\t' offered
}

# on_zsh TABS LINE..: the shell runs on a terminal of its own; the file `screen` is what it shows.
on_zsh() {
	cat >inner <<-EOF
		PS1='ready> '
		fpath=('$root/completions' \$fpath)
		autoload -Uz compinit && compinit -u -D
		unsetopt beep
		LISTMAX=1000
	EOF
	cat >outer <<-'EOF'
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell 'source ./inner; stty columns 200 rows 50'
		zpty -r shell shown '*ready> *'
		for line in "${@:2}"; do
			zpty -w -n shell "rolldbg $line$1"$'\n'
			zpty -r shell shown '*ready> *'
			print -r -- "$shown"
		done
	EOF
	TERM=dumb timeout 100 zsh -f outer "$@" >screen 2>&1
}

@test "zsh: names of files run nothing" {
	hostile_folder
	on_zsh $'\t\t' "${typed[@]}"
	grep -F 'touch\ PWNED' screen
	[ ! -e PWNED ]
}

@test "zsh: a line completed by one tab runs nothing" {
	one_tab_folder
	for ((i = 0; i < ${#one_tab[@]}; i += 2)); do
		lines+=("${one_tab[i]}")
	done
	on_zsh $'\t' "${lines[@]}"
	# shellcheck disable=SC2016 # a name
	grep -F 'lake$(pwned)' got
	[ ! -e PWNED ]
}

@test "zsh and fish parse their completions" {
	zsh -n completions/_rolldbg
	fish -n completions/rolldbg.fish
	run fish -c 'source completions/rolldbg.fish; complete -C "rolldbg ch"'
	[[ $output == check* ]]
}
