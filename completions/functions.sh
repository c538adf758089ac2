# shellcheck shell=bash
# The part of completions/rolldbg.bash that needs no tables. $cur is what is being typed.

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

_rolldbg_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
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

# readline splits words at : and =, which are parts of values here. So the words are read from the line itself, and the
# replies start after the last : or =.
_rolldbg()
{
	local line=${COMP_LINE:0:COMP_POINT} cur prev quote='' words command='' i
	COMPREPLY=()
	cur=${line##*[[:blank:]]}
	read -ra words <<<"${line%"$cur"}"
	prev=${words[-1]}
	for i in "${words[@]:1}"; do
		if _rolldbg_is_command "$i"; then
			command=$i
			break
		fi
	done
	if [[ $cur == --*=* ]]; then
		prev=${cur%%=*}
		cur=${cur#*=}
	fi
	if [[ $cur == [\"\']* ]]; then
		quote=${cur:0:1}
		cur=${cur:1}
	else
		# readline quotes the replies again, but after a $ or ` not all of them (bash 5.2)
		[[ $cur != *\\[\`\$]* ]] || return
		cur=${cur//\\/}
	fi
	_rolldbg_value "$command:$prev" || _rolldbg_value ":$prev" || _rolldbg_word "$command:$cur"
	if [ -z "$quote" ]; then
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=${COMPREPLY[i]#"${cur%"${cur##*[:=]}"}"}
		done
	fi
}
complete -F _rolldbg rolldbg
