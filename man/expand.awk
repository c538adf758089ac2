# Writes a manual page: standard input is `rolldbg __spec`, then the page's source (a .scd.in file) with lines to expand:
#   @command NAME@  name, synopsis and description    @options NAME@  its options, by group; without NAME: those of all
#   @commands@      all commands, a line each         @exit 0 2@      these exit codes; without numbers: all
#   @topic KIND@    names and what they mean          @keys@          every line of the record format with its keys
#   @names KIND@    names in one line
#   @results@       every line that --json prints,    @parts@         the members of the objects under these keys
#                   with its members                  @class NAME@    the settings of that class

BEGIN { FS = "\t" }
FILENAME == "-" && $1 == "command" { command[++commands] = $2; summary[$2] = $3; operands[$2] = $4 }
FILENAME == "-" && $1 == "description" { description[$2] = description[$2] $3 "\n\n" }
FILENAME == "-" && $1 == "option" { owner = $2 == "-" ? "" : $2; option[owner, ++options[owner]] = $0 }
FILENAME == "-" && $1 == "option" && $2 != "trust" && !index(classes[$4], $10) { classes[$4] = classes[$4] $10; setting[++settings] = $4 }
FILENAME == "-" && $1 == "option" && $2 != "trust" { class[$4, $10] = class[$4, $10] " " $2 }
FILENAME == "-" && $1 == "topic" { topic[$2, ++topics[$2]] = $0 }
FILENAME == "-" && $1 == "key" {
	if (!keys[$2]++) line[++lines] = $2
	key[$2, keys[$2]] = $0
}
FILENAME == "-" && $1 == "part" {
	if (!keys[$2]++) object[++objects] = $2
	key[$2, keys[$2]] = $0
}
FILENAME == "-" && $1 == "name" { names[$2] = names[$2] (names[$2] ? ", " : "") $3 }
FILENAME == "-" && $1 == "result" { result[++results] = $0 }
FILENAME == "-" && $1 == "member" { key[results, ++keys[results]] = $0 }
FILENAME == "-" { next }
FNR == 1 {
	own_page = " in " substr($0, 1, index($0, "(") - 1) "\\([1-9]\\)"
	source = FILENAME
	sub(/.*\//, "", source)
	print
	print "; Written by make man from man/" source " and the tables of the program: edit those."
	next
}
/^@command [a-z]+@$/ { write_command(argument()); next }
/^@commands@$/ { write_commands(); next }
/^@options( [a-z]+)?@$/ { write_options(argument()); next }
/^@exit[ 0-9]*@$/ { write_exit(" " argument() " "); next }
/^@topic [a-z-]+@$/ { write_topic(argument()); next }
/^\t?@names [a-z]+@$/ { print (/^\t/ ? "\t" : "") plain(names[argument()]); next }
/^@class [a-z]+@$/ { write_class(argument()); next }
/^@keys@$/ { for (i = 1; i <= lines; i++) write_keys(line[i]); next }
/^@parts@$/ { for (i = 1; i <= objects; i++) write_keys(object[i]); next }
/^@results@$/ { for (i = 1; i <= results; i++) write_result(i); next }
/^@.*@$/ { print FILENAME ":" FNR ": cannot expand " $0 >"/dev/stderr"; failed = 1; exit }
{ print }
END { exit failed }

function argument() {
	return $0 ~ / / ? substr($0, index($0, " ") + 1, length($0) - index($0, " ") - 1) : ""
}

# Text that scdoc shall take as it is.
function plain(text) {
	gsub(/[\\*_`#|<>~]/, "\\\\&", text)
	return text
}

# The same, with options and names of manual pages in bold; a section of this page is named without the page.
function styled(text,    out, word) {
	text = plain(text)
	gsub(own_page, "", text)
	while (match(text, /--[a-z][a-z-]*|rolldbg(-[a-z]+)?\([1-9]\)/)) {
		word = substr(text, RSTART, RLENGTH)
		out = out substr(text, 1, RSTART - 1) (word ~ /^--/ ? "*" word "*" : "*" substr(word, 1, RLENGTH - 3) "*" substr(word, RLENGTH - 2))
		text = substr(text, RSTART + RLENGTH)
	}
	return out text
}

function given(field) {
	return field == "" || field == "-" ? "" : field
}

function definition(term, text) {
	print term "\n\t" (given(text) == "" ? "\\-" : styled(sentence(text, "."))) "\n"
}

# A word that is no plain word (random:SEED, http://..) keeps its spelling.
function sentence(text, stop) {
	return (text ~ /^[a-z-]+([ ,;.]|: |$)/ ? toupper(substr(text, 1, 1)) : substr(text, 1, 1)) substr(text, 2) (text ~ /[.!?]$/ ? "" : stop)
}

function write_options(owner,    i, f, term, text, title) {
	print "# OPTIONS\n"
	for (i = 1; i <= options[owner]; i++) {
		split(option[owner, i], f, "\t")
		if (f[9] != title) print "## " sentence(f[9], "") "\n"
		title = f[9]
		term = (given(f[3]) == "" ? "" : "*-" f[3] "*, ") "*--" plain(f[4]) "*"
		if (given(f[5]) != "") term = term " " operand(f[5])
		text = f[8]
		gsub(/[,|]/, ", ", f[7])
		if (given(f[7]) != "") text = sentence(text, ".") " One of " f[7] "."
		definition(term, text)
	}
	if (owner != "") print "Options of all commands, such as *--verbose*, are described in *rolldbg*(1).\n"
}

# Placeholders are underlined, words to be typed are bold.
function operand(text,    out) {
	text = plain(text)
	gsub(/\\\|/, "|", text)
	while (match(text, /[A-Z][A-Z,]*|[a-z][a-z-]*/)) {
		out = out substr(text, 1, RSTART - 1) (substr(text, RSTART) ~ /^[A-Z]/ ? "_" : "*") substr(text, RSTART, RLENGTH) (substr(text, RSTART) ~ /^[A-Z]/ ? "_" : "*")
		text = substr(text, RSTART + RLENGTH)
	}
	return out text
}

function write_command(name) {
	if (!(name in summary)) {
		print source ": no such command: " name >"/dev/stderr"
		failed = 1
		exit
	}
	print "# NAME\n\nrolldbg-" name " - " plain(summary[name]) "\n"
	print "# SYNOPSIS\n\n*rolldbg " plain(name) "*" (options[name] ? " [OPTIONS]" : "") (given(operands[name]) == "" ? "" : " " operand(operands[name])) "\n"
	printf "# DESCRIPTION\n\n%s", given(description[name]) == "" ? styled(sentence(summary[name], ".")) "\n\n" : styled(description[name])
}

function write_commands(    i) {
	for (i = 1; i <= commands; i++) definition("*rolldbg-" plain(command[i]) "*(1)", summary[command[i]])
}

function write_exit(wanted,    i, f) {
	for (i = 1; i <= topics["exit"]; i++) {
		split(topic["exit", i], f, "\t")
		if (wanted == "  " || index(wanted, " " f[3] " ")) definition("*" f[3] "*", f[4])
	}
}

function write_topic(kind,    i, f) {
	for (i = 1; i <= topics[kind]; i++) {
		split(topic[kind, i], f, "\t")
		definition(f[3] ~ / / ? operand(f[3]) : "*" plain(f[3]) "*", f[4])
	}
}

# Keys of a project file; with the commands where another has an option of that name in another class.
function write_class(name,    i, key, out, owners) {
	for (i = 1; i <= settings; i++) {
		if (!((setting[i], name) in class) || done[setting[i], name]++) continue
		key = setting[i]
		gsub(/-/, "_", key)
		owners = class[setting[i], name]
		gsub(/ /, ", ", owners)
		out = out (out == "" ? "" : ", ") "*" plain(key) "*" (classes[setting[i]] == name ? "" : " (of " substr(owners, 3) ")")
	}
	print "\t" out "."
}

function write_keys(owner) {
	print "## " plain(owner) "\n"
	write_members(owner)
}

function write_result(number,    f) {
	split(result[number], f, "\t")
	gsub(/,/, ", ", f[2])
	print "## " plain(f[3]) (f[2] == "-" ? " (object)" : " (" plain(f[2]) ")") "\n"
	print plain(f[4]) "\n"
	write_members(number)
}

function write_members(owner,    i, f) {
	for (i = 1; i <= keys[owner]; i++) {
		split(key[owner, i], f, "\t")
		gsub(/,/, " or ", f[4])
		definition("*" plain(f[3]) "* (" plain(f[4]) ")", sentence(f[6], ".") words(f[5]))
	}
}

function words(list) {
	if (given(list) == "") return ""
	if (list !~ /,/) return " Always " list "."
	gsub(/[,|]/, ", ", list)
	return " One of " list (list ~ /\.$/ ? "" : ".")
}
