# awk -f tests/lint/source.awk tests/lint/rules src/...: layers, library headers, calls and tables as the rules file says.
# Prints "FILE:LINE: what is wrong" and ends with 1 when there is anything.

function wrong(text) {
	print FILENAME ":" FNR ": " text
	bad = 1
}

# The line without comments and with empty strings; a comment's state lives in `inside` from line to line.
function code(s,    out, c, i, two) {
	out = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		two = substr(s, i, 2)
		if (inside == "*") {
			if (two == "*/") { inside = ""; i++ }
		} else if (inside != "") {
			if (c == "\\") i++
			else if (c == inside) { inside = ""; out = out c }
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

# Walks the rows' arrows from the including layer; the table is small and has no cycle.
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
		if (name !~ /\//) wrong("\"" name "\" is not written from src/ on, as \"folder/" name "\"")
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

function check_row(text,    id, file) {
	if (index(text, row[FILENAME] "(") != 1) return
	id = text
	sub(/^[^(]*\([ \t]*/, "", id)
	sub(/[ \t]*[,)].*/, "", id)
	file = wanted[FILENAME]
	sub(/%/, id, file)
	if ((getline ignored < file) < 0) wrong(row[FILENAME] "(" id ") has no " file)
	close(file)
}

FNR == 1 { inside = "" }
FILENAME ~ /lint\/rules$/ {
	if ($1 == "layer") { lower[$2] = $0; sub(/^layer +[^ ]+ +/, "", lower[$2]) }
	if ($1 == "header") { header[$2] = $0; sub(/^header +[^ ]+ +/, "", header[$2]) }
	if ($1 == "call") call[$2] = $3
	if ($1 == "table") { row[$2] = $3; wanted[$2] = $4 }
	next
}
FNR == 1 && !/^\/\*/ { wrong("the first line is not a comment that says what the file is for") }
FNR == 1 && !(layer_of(FILENAME) in lower) { wrong("folder " layer_of(FILENAME) " is no layer of tests/lint/rules") }
/^[ \t]*#[ \t]*include/ { check_include($0); next }
{ check_calls(code($0)) }
FILENAME in row { check_row($0) }
END { exit bad }
