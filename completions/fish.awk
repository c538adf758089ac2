# Writes completions/rolldbg.fish.

function fish_quoted(text) {
	gsub(/\\/, "\\\\", text)
	gsub(/'/, "\\'", text)
	return "'" text "'"
}

function argument(what) {
	if (what == "none") return ""
	if (what == "files") return " -r -F"
	if (what == "directories") return " -x -a '(__fish_complete_directories)'"
	if (what ~ /^list /) return " -x -a " fish_quoted("(__fish_append , " words_of(what) ")")
	if (what ~ /^either /) return " -r -F -a " fish_quoted(words_of(what))
	if (what == "policy") return " -r -F -a " fish_quoted(words_of(what) " (rolldbg __spec policies 2>/dev/null)")
	return " -x" (words_of(what) == "" ? "" : " -a " fish_quoted(words_of(what)))
}

function option_row(owner, i, condition) {
	print "complete -c rolldbg" (condition == "" ? "" : " -n " condition) (letter[owner, i] == "" ? "" : " -s " letter[owner, i]) \
		" -l " long[owner, i] argument(values[owner, i]) " -d " fish_quoted(help[owner, i])
}

function write_all(    i, j, name, seen, what) {
	print "# fish completion for rolldbg, written by `make completions` from the program's own tables."
	print "complete -c rolldbg -f"
	for (i = 1; i <= options[""]; i++) option_row("", i, "")
	for (i = 1; i <= commands; i++)
		print "complete -c rolldbg -n __fish_use_subcommand -a " command[i] " -d " fish_quoted(summary[command[i]])
	for (i = 1; i <= commands; i++) {
		name = command[i]
		seen = "'__fish_seen_subcommand_from " name "'"
		for (j = 1; j <= options[name]; j++) option_row(name, j, seen)
		what = operand_values(name)
		if (what == "files" || what == "directories") print "complete -c rolldbg -n " seen " -F"
		else if (what ~ /^mixed /) print "complete -c rolldbg -n " seen " -F -a " fish_quoted(words_of(what))
		else if (what != "none") print "complete -c rolldbg -n " seen " -a " fish_quoted(words_of(what))
	}
}
