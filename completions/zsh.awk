# Writes completions/_rolldbg.

# Inside the [help] and the ':' fields of _arguments and _describe.
function plain(text) {
	gsub(/\[|\]|:|\\/, "\\\\&", text)
	return text
}

function action(what) {
	if (what == "files") return "_files"
	if (what == "directories") return "_files -/"
	if (what ~ /^list /) return "_sequence compadd - " words_of(what)
	if (what == "policy") return "{compadd -- " plain(words_of(what)) " ${(f)\"$(rolldbg __spec policies 2>/dev/null)\"}; _files}"
	if (what ~ /^(mixed|either) /) return "{compadd -- " plain(words_of(what)) "; _files}"
	if (what == "target") return "{compadd -S \"\" -- " plain(words_of(what)) "}"
	return words_of(what) == "" ? " " : "(" plain(words_of(what)) ")"
}

function option_row(owner, i, indent,    end) {
	end = "[" plain(help[owner, i]) "]"
	if (values[owner, i] != "none") end = end ":" plain(arg[owner, i]) ":" action(values[owner, i])
	if (letter[owner, i] != "") print indent quoted("*-" letter[owner, i] end) " \\"
	print indent quoted("*--" long[owner, i] (values[owner, i] == "none" ? "" : "=") end) " \\"
}

function write_all(    i, j, name) {
	print "#compdef rolldbg"
	print "# zsh completion for rolldbg, written by `make completions` from the program's own tables."
	print "\n_rolldbg()\n{\n\tlocal curcontext=$curcontext state line\n\tlocal -a commands\n\tcommands=("
	for (i = 1; i <= commands; i++) print "\t\t" quoted(command[i] ":" plain(summary[command[i]]))
	print "\t)\n\t_arguments -C \\"
	for (i = 1; i <= options[""]; i++) option_row("", i, "\t\t")
	print "\t\t'1: :->command' '*:: :->words'"
	print "\tcase $state in\n\tcommand) _describe command commands ;;\n\twords)\n\t\tcase $words[1] in"
	for (i = 1; i <= commands; i++) {
		name = command[i]
		print "\t\t" name ")\n\t\t\t_arguments \\"
		for (j = 1; j <= options[name]; j++) option_row(name, j, "\t\t\t\t")
		for (j = 1; j <= options[""]; j++) option_row("", j, "\t\t\t\t")
		print "\t\t\t\t" quoted(operand_values(name) == "none" ? "*: : " : "*: :" action(operand_values(name))) "\n\t\t\t;;"
	}
	print "\t\tesac\n\t\t;;\n\tesac\n}\n\n_rolldbg \"$@\""
}
