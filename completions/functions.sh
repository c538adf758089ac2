# shellcheck shell=bash
# The part of completions/rolldbg.bash that needs no tables. $cur is what is being typed.

# The words of $1 that begin with $cur; its beginning $2 is kept.
_rolldbg_words()
{
	mapfile -t COMPREPLY < <(compgen -P "${2-}" -W "$1" -- "${cur#"${2-}"}")
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

# A word of $1, or a file.
_rolldbg_mixed()
{
	local named
	_rolldbg_words "$1"
	named=("${COMPREPLY[@]}")
	_rolldbg_files -f
	COMPREPLY+=("${named[@]}")
}

# A value of $1, a ready-made policy, or a file.
_rolldbg_policy()
{
	_rolldbg_mixed "$1 $(rolldbg __spec policies 2>/dev/null)"
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
	fi
	_rolldbg_value "$command:$prev" || _rolldbg_value ":$prev" || _rolldbg_word "$command:$cur"
	if [ -z "$quote" ]; then
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=${COMPREPLY[i]#"${cur%"${cur##*[:=]}"}"}
		done
	fi
}
complete -F _rolldbg rolldbg
