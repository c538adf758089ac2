# awk -f tests/lint/source.awk tests/lint/rules src/...: checks layers, library headers, calls and tables by the rules file.
# Prints "FILE:LINE: ERROR" lines and exits with 1 if there are any.

function wrong(text) {
	print FILENAME ":" FNR ": " text
	bad = 1
}

# Returns the line without comments and with empty strings. Sets `said`, the text of comments and strings. `inside` keeps the state of a comment between lines.
function code(s,    out, c, i, two) {
	out = said = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		two = substr(s, i, 2)
		if (inside == "*") {
			if (two == "*/") { inside = ""; i++ }
			else said = said c
		} else if (inside != "") {
			if (c == "\\") i++
			else if (c == inside) { inside = ""; out = out c }
			else said = said c
		} else if (two == "/*") { inside = "*"; i++ }
		else if (two == "//") break
		else {
			if (c == "\"" || c == "'") inside = c
			out = out c
		}
	}
	if (inside != "*") inside = ""
	return out
}

function layer_of(path,    part) {
	split(path, part, "/")
	return part[2] == "main.c" ? "main" : part[2]
}

# Follows the table from the including layer; the table is small and has no cycle.
function may_include(from, to,    n, below, i) {
	if (from == to) return 1
	n = split(lower[from], below, " ")
	for (i = 1; i <= n; i++)
		if (below[i] != "-" && may_include(below[i], to)) return 1
	return 0
}

function check_include(text,    name, h) {
	name = text
	sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", name)
	sub(/[">].*/, "", name)
	if (text ~ /include[ \t]*"/) {
		if (name !~ /\//) wrong("\"" name "\" is not written from src/ on, as \"directory/" name "\"")
		else if (!may_include(layer_of(FILENAME), substr(name, 1, index(name, "/") - 1)))
			wrong("layer " layer_of(FILENAME) " may not include " name)
	}
	for (h in header)
		if (index(name, h) == 1 && !may_use(h))
			wrong("only " header[h] " may include " h)
}

function may_use(library,    n, place, i) {
	n = split(header[library], place, " ")
	for (i = 1; i <= n; i++)
		if (index(FILENAME, place[i]) == 1) return 1
	return 0
}

function check_calls(text,    name) {
	while (match(text, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
		name = substr(text, RSTART, RLENGTH - 1)
		sub(/[ \t]+$/, "", name)
		if (name in call && index(FILENAME, call[name]) != 1)
			wrong(name "() " (call[name] == "-" ? "is banned" : "belongs in " call[name] " alone"))
		text = substr(text, RSTART + RLENGTH)
	}
}

function begins_with_one_of(path, places,    n, place, i) {
	n = split(places, place, " ")
	for (i = 1; i <= n; i++)
		if (index(path, place[i]) == 1) return 1
	return 0
}

function check_members(text,    m) {
	for (m in member)
		if (index(text, m "(") && FILENAME != member[m]) wrong(m "() is called in " member[m] " alone")
}

# Kinds of error that are created (not compared) where a peer's bytes are read.
function check_kinds(text,    k) {
	for (k in peers)
		if (text ~ "[(,=] *" k && text !~ "[=!]= *" k && begins_with_one_of(FILENAME, peers[k]) && !(FILENAME in options))
			wrong(k " is no kind of error that a peer can cause")
}

function check_row(text,    id, file, files) {
	if (index(text, row[FILENAME] "(") != 1) return
	id = text
	sub(/^[^(]*\([ \t]*/, "", id)
	sub(/[ \t]*[,)].*/, "", id)
	files = wanted[FILENAME]
	gsub(/%/, id, files)
	if (system("test -n \"$(ls " files " 2>/dev/null)\"")) wrong(row[FILENAME] "(" id ") has no " files)
}

# Pointers are tested as `p` and `!p`; `!= NULL` only where a pointer becomes a bool value.
function check_null(text) {
	if (text ~ /== NULL/ || text ~ /^[ \t}]*(else )?(if|while) \(.*!= NULL/) wrong("test a pointer as `p` or `!p`")
}

# A struct tag must be unique in the whole tree.
function check_tag(text,    tag) {
	if (text !~ /^struct [a-z_0-9]+ \{/) return
	tag = text
	sub(/^struct /, "", tag)
	sub(/ .*/, "", tag)
	if (tag in tagged && tagged[tag] != FILENAME) wrong("struct " tag " names something else in " tagged[tag])
	tagged[tag] = FILENAME
}

# Only src/cmd names options: elsewhere messages name a setting (base/settings.h), and comments describe the thing itself.
# The rules list options of other programs.
function check_options(text,    rest, name) {
	if (text ~ /(^|[^A-Za-z0-9_])opt_[a-z]/) wrong("option types belong in src/cmd")
	rest = said
	while (match(rest, /--[a-z][a-z-]*/)) {
		name = substr(rest, RSTART, RLENGTH)
		if (!(name in foreign)) wrong("the option " name " is spelled outside src/cmd: name the setting (base/settings.h)")
		rest = substr(rest, RSTART + RLENGTH)
	}
}

# A blank line must follow the declarations at the beginning of a function.
function check_declarations(line) {
	if (line ~ /^\{/) { top = 1; declared = 0 }
	if (!top || line ~ /^\{/ || line ~ /^\t[\t ]/ || line ~ /^[\t ]*(\/\*|\*|   )/ || inside != "") return
	if (line ~ /^\t(static|const|struct|enum|union|unsigned|long|void) / ||
	    (line ~ /^\t[A-Za-z_][A-Za-z0-9_]* \**[a-z_][A-Za-z0-9_]*( =|;|,|\[|:)/ && line !~ /^\t(return|goto) /)) declared = 1
	else {
		if (declared && line !~ /^$/ && line !~ /^}/ && line !~ /^\t}/) wrong("a blank line belongs behind the declarations")
		top = 0
	}
}

# A declaration or macro that is broken only because of the comment behind it.
function check_comment(line, text) {
	if (line ~ /\/\*/ && (text ~ /^[ \t]+[a-z_0-9]+; *$/ && last ~ /^[ \t]*[a-z_0-9 ]+[a-z_0-9*]$/ ||
	    last ~ /^#define [A-Z_0-9]+[ \t]*\\$/))
		wrong("a comment that does not fit belongs above its line")
	last = text
}

FNR == 1 { inside = last = ""; top = 0 }
FILENAME ~ /lint\/rules$/ {
	if ($1 == "layer") { lower[$2] = $0; sub(/^layer +[^ ]+ +/, "", lower[$2]) }
	if ($1 == "header") { header[$2] = $0; sub(/^header +[^ ]+ +/, "", header[$2]) }
	if ($1 == "call") call[$2] = $3
	if ($1 == "member") member[$2] = $3
	if ($1 == "peers") { k = $2; $1 = $2 = ""; peers[k] = $0 }
	if ($1 == "options") for (i = 2; i <= NF; i++) options[$i]
	if ($1 == "foreign") foreign[$2]
	if ($1 == "table") { row[$2] = $3; wanted[$2] = $0; sub(/^table +[^ ]+ +[^ ]+ +/, "", wanted[$2]) }
	next
}
FNR == 1 && !/^\/\*/ { wrong("the first line is not a comment that says what the file is for") }
FNR == 1 && !(layer_of(FILENAME) in lower) { wrong("directory " layer_of(FILENAME) " is no layer of tests/lint/rules") }
/^[ \t]*#[ \t]*include/ { check_include($0); next }
{
	before = inside
	text = code($0)
	check_calls(text)
	check_members(text)
	check_kinds(text)
	check_null(text)
	check_tag(text)
	if (FILENAME !~ /^src\/cmd\//) check_options(text)
	if (FILENAME ~ /\.c$/ && before == "") check_declarations($0)
	check_comment($0, text)
}
FILENAME in row { check_row($0) }
END { exit bad }
