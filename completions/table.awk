# Reads `rolldbg __spec` (tab-separated) for the three generators next to it, each of which defines write_all().
#   command NAME SUMMARY OPERANDS · option COMMAND LETTER LONG ARG TYPE CHOICES HELP (command empty or "-": before any command)
#   topic KIND NAME HELP · other lines are for the manual

BEGIN { FS = "\t" }
$1 == "command" {
	command[++commands] = $2
	summary[$2] = $3
	operands[$2] = $4
	topic["command"] = topic["command"] (commands > 1 ? " " : "") $2
}
$1 == "option" {
	owner = $2 == "-" ? "" : $2
	i = ++options[owner]
	letter[owner, i] = $3 == "-" ? "" : $3
	long[owner, i] = $4
	arg[owner, i] = $5 == "-" ? "" : $5
	help[owner, i] = $8
	values[owner, i] = values_of($6, $7, $5, $4)
}
$1 == "topic" { topic[$2] = topic[$2] (topic[$2] == "" ? "" : " ") $3 }
END { write_all() }

# What may follow an option: "none", "files", "directories", "topic KIND", "words A B C", "list KIND" (a comma list of a topic),
# "target" (an environment and its settings), "policy" (a kind, a ready-made policy, or a file), "either KIND" (a topic's
# word, or a file) or "any".
function values_of(type, choices, arg, name) {
	gsub(/[,|]/, " ", choices)
	if (type == "flag" || type == "count") return "none"
	if (choices != "" && choices != "-") return "words " choices
	if (arg ~ /^FORMAT/) return name == "from" ? "either input" : "topic output"
	return values_named(arg)
}

# By the word that stands for it in the help: FILE, DIR, or the name of a topic (RULE, FAULT).
function values_named(word) {
	if (word == "TARGET") return "target"
	if (word ~ /KIND/) return "policy"
	if (word == "RULES") return "list rule"
	if (word ~ /FILE|PATH|RECORDING/) return "files"
	if (word ~ /DIR/) return "directories"
	return word ~ /^[A-Z]+$/ ? "topic " tolower(word) : "any"
}

# The words of "words", "mixed", "topic", "list", "either", "target" or "policy"; empty for the rest. Topics are complete
# only at the end of the input.
function words_of(what) {
	if (what ~ /^(words|mixed) /) return substr(what, 7)
	if (what ~ /^(topic|list|either) /) return topic[substr(what, index(what, " ") + 1)]
	if (what == "policy") return topic["policy-value"]
	return what == "target" ? topic[what] : ""
}

# The settings after the ? or & of a built-in target: the options of `serve` that apply to built-in environments.
function settings(    i, j, n, word, out) {
	for (i = 1; i <= options["serve"]; i++) {
		if (long["serve", i] ~ /^(port|bind|as|match|loop)$/) continue
		word = long["serve", i]
		gsub(/-/, "_", word)
		if (values["serve", i] == "none") out = out " " word "=1"
		else if (words_of(values["serve", i]) == "") out = out " " word "="
		n = split(words_of(values["serve", i]), choice, " ")
		for (j = 1; j <= n; j++) out = out " " word "=" choice[j]
	}
	return substr(out, 2)
}

# The completions of a command's operands: the words of the first known topic, and literal words; with files as well,
# "mixed A B C".
function operand_values(name,    n, part, i, what, words, files) {
	n = split(operands[name], part, /[^A-Za-z_]+/)
	for (i = 1; i <= n; i++) {
		what = name == "schema" && part[i] == "COMMAND" ? "topic schema" : values_named(part[i])
		if (what == "directories" || (what == "files" && words == "")) return what
		files = files || what == "files"
		if (words == "" || what == "topic schema") words = words (words == "" ? "" : " ") words_of(what)
		if (part[i] ~ /^[a-z]+$/) words = words (words == "" ? "" : " ") part[i]
	}
	return words == "" ? "none" : (files ? "mixed " : "words ") words
}

# Inside single quotes of a shell.
function quoted(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}
