# Writes a manual page: standard input is `rolldbg __spec`, then the page's source (a .scd.in file) with lines to expand:
#   @options@  options before the command     @commands@  every command with its options
#   @topic KIND@  names and what they mean    @keys@      every line of the record format with its keys
#                                             @parts@     the members of the objects under these keys
#   @results@  every line that --json prints, with its members

BEGIN { FS = "\t" }
FILENAME == "-" && $1 == "command" { command[++commands] = $2; summary[$2] = $3; operands[$2] = $4 }
FILENAME == "-" && $1 == "description" { description[$2] = description[$2] plain($3) "\n\n" }
FILENAME == "-" && $1 == "option" { owner = $2 == "-" ? "" : $2; option[owner, ++options[owner]] = $0 }
FILENAME == "-" && $1 == "topic" { topic[$2, ++topics[$2]] = $0 }
FILENAME == "-" && $1 == "key" {
	if (!keys[$2]++) line[++lines] = $2
	key[$2, keys[$2]] = $0
}
FILENAME == "-" && $1 == "part" {
	if (!keys[$2]++) object[++objects] = $2
	key[$2, keys[$2]] = $0
}
FILENAME == "-" && $1 == "result" { result[++results] = $0 }
FILENAME == "-" && $1 == "member" { key[results, ++keys[results]] = $0 }
FILENAME == "-" { next }
/^@options@$/ { write_options(""); next }
/^@commands@$/ { write_commands(); next }
/^@topic [a-z-]+@$/ { write_topic(substr($0, 8, length($0) - 8)); next }
/^@keys@$/ { for (i = 1; i <= lines; i++) write_keys(line[i]); next }
/^@parts@$/ { for (i = 1; i <= objects; i++) write_keys(object[i]); next }
/^@results@$/ { for (i = 1; i <= results; i++) write_result(i); next }
/^@.*@$/ { print FILENAME ":" FNR ": cannot expand " $0 >"/dev/stderr"; failed = 1; exit }
{ print }
END { exit failed }

# Text that scdoc shall take as it is.
function plain(text) {
	gsub(/[\\*_`#|<>~]/, "\\\\&", text)
	return text
}

function given(field) {
	return field == "" || field == "-" ? "" : field
}

function definition(term, text) {
	print term "\n\t" (given(text) == "" ? "\\-" : plain(sentence(text))) "\n"
}

# A word that is no plain word (random:SEED, http://..) keeps its spelling.
function sentence(text) {
	return (text ~ /^[a-z-]+([ ,;.]|: |$)/ ? toupper(substr(text, 1, 1)) : substr(text, 1, 1)) substr(text, 2) (text ~ /[.!?]$/ ? "" : ".")
}

function write_options(owner,    i, f, term, text) {
	for (i = 1; i <= options[owner]; i++) {
		split(option[owner, i], f, "\t")
		term = (given(f[3]) == "" ? "" : "*-" f[3] "*, ") "*--" plain(f[4]) "*"
		if (given(f[5]) != "") term = term " _" plain(f[5]) "_"
		text = f[8]
		gsub(/[,|]/, ", ", f[7])
		if (given(f[7]) != "") text = sentence(text) " One of " f[7] "."
		definition(term, text)
	}
}

function write_commands(    i, name) {
	for (i = 1; i <= commands; i++) {
		name = command[i]
		print "## rolldbg " plain(name) (options[name] ? " [OPTIONS]" : "") (given(operands[name]) == "" ? "" : " " operands[name]) "\n"
		print plain(sentence(summary[name])) "\n"
		printf "%s", description[name]
		write_options(name)
	}
}

function write_topic(kind,    i, f) {
	for (i = 1; i <= topics[kind]; i++) {
		split(topic[kind, i], f, "\t")
		definition("*" plain(f[3]) "*", f[4])
	}
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
		definition("*" plain(f[3]) "* (" plain(f[4]) ")", sentence(f[6]) words(f[5]))
	}
}

function words(list) {
	if (given(list) == "") return ""
	if (list !~ /,/) return " Always " list "."
	gsub(/[,|]/, ", ", list)
	return " One of " list (list ~ /\.$/ ? "" : ".")
}
