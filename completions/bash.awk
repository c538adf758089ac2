# Writes completions/rolldbg.bash.

function flags_of(owner,    i, out) {
	for (i = 1; i <= options[owner]; i++)
		out = out (out == "" ? "" : " ") "--" long[owner, i] (letter[owner, i] == "" ? "" : " -" letter[owner, i])
	return out
}

function reply(what) {
	if (what == "files") return "_rolldbg_files -f"
	if (what == "folders") return "_rolldbg_files -d"
	return "_rolldbg_words " quoted(words_of(what))
}

function value_rows(owner,    i, name) {
	for (i = 1; i <= options[owner]; i++) {
		if (values[owner, i] == "none") continue
		name = owner ":--" long[owner, i]
		if (letter[owner, i] != "") name = name " | " owner ":-" letter[owner, i]
		print "\t" name ") " reply(values[owner, i]) " ;;"
	}
}

function write_all(    i, names) {
	print "# bash completion for rolldbg, written by `make completions` from the program's own tables."
	print "\n_rolldbg_words()\n{\n\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n}"
	print "\n_rolldbg_files()\n{\n\tcompopt -o filenames 2>/dev/null\n\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n}"
	print "\n# The value of option $1 (\"COMMAND:OPTION\"); fails when it takes none."
	print "_rolldbg_value()\n{\n\tcase $1 in"
	value_rows("")
	for (i = 1; i <= commands; i++) value_rows(command[i])
	print "\t*) return 1 ;;\n\tesac\n}"
	for (i = 1; i <= commands; i++) names = names (i > 1 ? " " : "") command[i]
	print "\n_rolldbg()\n{"
	print "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} commands=" quoted(" " names " ") " command i"
	print "\tCOMPREPLY=()"
	print "\t# readline splits --option=value into three words"
	print "\tif [ \"$cur\" = = ]; then\n\t\tcur=\n\telif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi"
	print "\tfor ((i = 1; i < COMP_CWORD; i++)); do"
	print "\t\tcase $commands in\n\t\t*\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]} && break ;;\n\t\tesac\n\tdone"
	print "\t_rolldbg_value \"$command:$prev\" && return"
	print "\tcase $command:$cur in"
	print "\t:-*) _rolldbg_words " quoted(flags_of("")) " ;;"
	print "\t:*) _rolldbg_words " quoted(names) " ;;"
	for (i = 1; i <= commands; i++) {
		print "\t" command[i] ":-*) _rolldbg_words " quoted(flags_of(command[i])) " ;;"
		if (operand_values(command[i]) != "none") print "\t" command[i] ":*) " reply(operand_values(command[i])) " ;;"
	}
	print "\tesac\n}\ncomplete -F _rolldbg rolldbg"
}
