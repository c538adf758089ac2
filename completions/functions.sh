# shellcheck shell=bash
# The part of completions/rolldbg.bash that needs no tables. $cur is the value that is being typed, $before its "--option=".

# Those of $2, $3.. that begin with $cur; its beginning $1 is kept. Unlike `compgen -W`, this expands nothing: a word may be
# the name of a file, such as '$(date)'.
_rolldbg_choose()
{
	local word
	COMPREPLY=()
	for word in "${@:2}"; do
		[[ $1$word != "$cur"* ]] || COMPREPLY+=("$1$word")
	done
}

# The same for the words of $1, which are ours; the beginning is $2.
_rolldbg_words()
{
	local -a list
	read -ra list <<<"$1"
	_rolldbg_choose "${2-}" "${list[@]}"
}

# Files that begin with $cur, or directories with -d. (compgen -f would read quotes and $ in $cur as the shell does.)
_rolldbg_files()
{
	local word start=$cur tilde=''
	files=1
	if [[ -z $quote && -z $before && $cur == \~/* ]]; then
		home=$HOME tilde='~'
		start=$home${cur:1}
	fi
	COMPREPLY=()
	while IFS= read -rd '' word; do
		[ ! -d "$word" ] || word+=/
		[[ $1 == -d && $word != */ ]] || COMPREPLY+=("$tilde${word#"$home"}")
	done < <(set +f && shopt -u failglob && shopt -s nullglob && for word in "$start"*; do printf '%s\0' "$word"; done)
}

# One more of the words of $1, after the last comma.
_rolldbg_list()
{
	_rolldbg_words "$1" "${cur%"${cur##*,}"}"
}

# An environment of $1; a built-in one is followed by settings, of $2.
_rolldbg_target()
{
	compopt -o nospace 2>/dev/null
	case $cur in
	builtin:*\?*) _rolldbg_words "$2" "${cur%"${cur##*[?&]}"}" ;;
	*) _rolldbg_words "$1" ;;
	esac
}

# Files, after what was chosen.
_rolldbg_and_files()
{
	local -a chosen=("${COMPREPLY[@]}")
	_rolldbg_files -f
	COMPREPLY+=("${chosen[@]}")
}

# A word of $1, or a file.
_rolldbg_mixed()
{
	_rolldbg_words "$1"
	_rolldbg_and_files
}

# A value of $1, a ready-made policy, or a file.
_rolldbg_policy()
{
	local -a list policies
	read -ra list <<<"$1"
	mapfile -t policies < <(rolldbg __spec policies 2>/dev/null)
	_rolldbg_choose '' "${list[@]}" "${policies[@]}"
	_rolldbg_and_files
}

# Reads the line as readline does: its last word is $cur, without quotes, the others are $words. $quote is the one that is
# open in $cur. readline keeps what is before it, or before the last : = or @: $kept. Fails where the shell would expand
# something or ends the command, and after a closed quote.
_rolldbg_read()
{
	local line=$1 escaped='' special='' i c
	for ((i = 0; i < ${#line}; i++)); do
		c=${line:i:1}
		if [ -n "$escaped" ]; then
			[[ -z $quote || $c == [\\\"\$\`] ]] || cur+=\\
			cur+=$c
			escaped=''
		elif [[ $c == \\ && $quote != \' ]]; then
			escaped=1
		elif [[ -n $quote && $c == "$quote" ]]; then
			quote=''
			special=1
		elif [ -n "$quote" ]; then
			[[ $quote == \' || $c != [\$\`] ]] || special=1
			cur+=$c
		elif [[ $c == [\"\'] ]]; then
			quote=$c
			kept=$cur
		elif [[ $c == [[:blank:]] ]]; then
			[ -z "$cur" ] || words+=("$cur")
			cur='' kept='' special=''
		else
			[[ $c != [\$\`\<\>\;\|\&\(\)] ]] || special=1
			[[ $c != @ || $COMP_WORDBREAKS != *@* ]] || kept=$cur
			cur+=$c
			[[ $c != [:=] || $COMP_WORDBREAKS != *$c* ]] || kept=$cur
		fi
	done
	[ -z "$special" ]
}

# Puts $1 into $text as it is typed within $quote. Fails if that cannot be done, or would need $'..', which is no use for the
# beginning that several replies share.
_rolldbg_quote()
{
	text=$1
	case $quote in
	\') [[ $text != *[\'[:cntrl:]]* ]] || return ;;
	\")
		[[ $text != *!* && $text != *[[:cntrl:]]* ]] || return
		text=${text//\\/\\\\}
		text=${text//\"/\\\"}
		text=${text//\$/\\\$}
		text=${text//\`/\\\`}
		;;
	*)
		[[ $text == *[!A-Za-z0-9_./,:=@%+~-]* || $text == '~'* ]] || return 0
		printf -v text %q "$text"
		[[ $text != \$\'* ]] || return
		[ -z "$home" ] || text=${text#\\}
		;;
	esac
}

# Replies are quoted here: readline quotes only a single one, and only if it is the name of a file. readline's
# own way with files (it lists the last part of a path, and puts a slash after a directory) is taken where nothing needs
# quotes.
_rolldbg_reply()
{
	local -a quoted=()
	local reply text plain=$files
	[[ $kept == "$before" ]] || plain=''
	for reply in "${COMPREPLY[@]}"; do
		reply=$before$reply
		reply=${reply#"$kept"}
		_rolldbg_quote "$reply" || continue
		[[ $text == "$reply" ]] || plain=''
		quoted+=("$text")
	done
	if [ -n "$plain" ]; then
		compopt -o filenames 2>/dev/null
		quoted=("${quoted[@]%/}")
	elif [[ ${#quoted[@]} == 1 && ${quoted[0]} == */ ]]; then
		compopt -o nospace 2>/dev/null
	fi
	COMPREPLY=("${quoted[@]}")
}

_rolldbg()
{
	local cur='' kept='' quote='' files='' home='' before='' command='' prev i
	local -a words=()
	COMPREPLY=()
	_rolldbg_read "${COMP_LINE:0:COMP_POINT}" || return 0
	prev=${words[-1]}
	for i in "${words[@]:1}"; do
		if _rolldbg_is_command "$i"; then
			command=$i
			break
		fi
	done
	if [[ $cur == --*=* ]]; then
		prev=${cur%%=*}
		before=$prev=
		cur=${cur#*=}
	fi
	_rolldbg_value "$command:$prev" || _rolldbg_value ":$prev" || _rolldbg_word "$command:$cur"
	_rolldbg_reply
}
complete -F _rolldbg rolldbg
