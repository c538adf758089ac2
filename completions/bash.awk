# Writes completions/rolldbg.bash: the tables, then functions.sh.

function flags_of(owner,    i, out) {
	for (i = 1; i <= options[owner]; i++)
		out = out (out == "" ? "" : " ") "--" long[owner, i] (letter[owner, i] == "" ? "" : " -" letter[owner, i])
	return out
}

function reply(what) {
	if (what == "files") return "_rolldbg_files -f"
	if (what == "directories") return "_rolldbg_files -d"
	if (what ~ /^list /) return "_rolldbg_list " quoted(words_of(what))
	if (what ~ /^(mixed|either) /) return "_rolldbg_mixed " quoted(words_of(what))
	if (what == "target") return "_rolldbg_target " quoted(words_of(what)) " " quoted(settings())
	return (what == "policy" ? "_rolldbg_policy " : "_rolldbg_words ") quoted(words_of(what))
}

function value_rows(owner,    i, name) {
	for (i = 1; i <= options[owner]; i++) {
		if (values[owner, i] == "none") continue
		name = owner ":--" long[owner, i]
		if (letter[owner, i] != "") name = name " | " owner ":-" letter[owner, i]
		print "\t" name ") " reply(values[owner, i]) " ;;"
	}
}

function write_all(    i, names, row) {
	for (i = 1; i <= commands; i++) names = names (i > 1 ? " " : "") command[i]
	print "# bash completion for rolldbg, written by `make completions` from the program's own tables."
	print "\n_rolldbg_is_command()\n{\n\t[[ ' " names " ' == *\" $1 \"* ]]\n}"
	print "\n# The value of option $1 (\"COMMAND:OPTION\"); fails if it takes none."
	print "_rolldbg_value()\n{\n\tcase $1 in"
	value_rows("")
	for (i = 1; i <= commands; i++) value_rows(command[i])
	print "\t*) return 1 ;;\n\tesac\n}"
	print "\n# A word of $1 (\"COMMAND:WORD\") that is not a value.\n_rolldbg_word()\n{\n\tcase $1 in"
	print "\t:-*) _rolldbg_words " quoted(flags_of("")) " ;;"
	print "\t:*) _rolldbg_words " quoted(names) " ;;"
	for (i = 1; i <= commands; i++) {
		print "\t" command[i] ":-*) _rolldbg_words " quoted(flags_of(command[i]) " " flags_of("")) " ;;"
		if (operand_values(command[i]) != "none") print "\t" command[i] ":*) " reply(operand_values(command[i])) " ;;"
	}
	print "\tesac\n}\n"
	while ((getline row <functions) > 0) print row
}
