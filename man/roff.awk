# roff.awk: a manual page in man(7) from the part of scdoc's language that our pages use, so that installing needs no scdoc.
#   NAME(SECTION) first; # and ## before a heading; *bold*, _underlined_ (an underscore inside a word is one), \ before a
#   character meant as it is; a tab before what belongs to the line above; ``` around lines shown as they are, but for \;
#   "; " before a comment.
# awk -v date=YYYY-MM-DD -f roff.awk PAGE.scd

BEGIN {
	# What roff would typeset: a hyphen, curly quotes, accents.
	typed["\\"] = "\\e"
	typed["-"] = "\\-"
	typed["'"] = "\\(aq"
	typed["`"] = "\\(ga"
	typed["^"] = "\\(ha"
	typed["~"] = "\\(ti"
}

function refuse(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what >"/dev/stderr"
	failed = 1
	exit 1
}

function as_it_is(letter) {
	return letter in typed ? typed[letter] : letter
}

# A dot in front would begin a request.
function put(line) {
	print (line ~ /^\./ ? "\\&" : "") line
}

function toggle(letter) {
	if (font && font != letter)
		refuse("bold inside underlined text, or the reverse")
	font = font ? "" : letter
	return "\\f" (font ? font : "R")
}

function text(line,    i, letter, before, out) {
	before = " "
	for (i = 1; i <= length(line); i++) {
		letter = substr(line, i, 1)
		if (letter == "\\")
			out = out as_it_is(substr(line, ++i, 1))
		else if (letter == "*")
			out = out toggle("B")
		else if (letter == "_" && (before !~ /[A-Za-z0-9]/ || font == "I" && substr(line, i + 1, 1) !~ /[A-Za-z0-9]/))
			out = out toggle("I")
		else
			out = out as_it_is(letter)
		before = letter
	}
	# no double space behind a sentence
	return out (out ~ /[.!?]$/ ? "\\&" : "")
}

function literal(line,    i, letter, out) {
	for (i = 1; i <= length(line); i++) {
		letter = substr(line, i, 1)
		out = out as_it_is(letter == "\\" ? substr(line, ++i, 1) : letter)
	}
	return out
}

function indent(wanted) {
	for (; depth < wanted; depth++)
		print ".RS 4"
	for (; depth > wanted; depth--)
		print ".RE"
}

# Bold and underlined text may go on in the next line, not in the next paragraph.
function closed() {
	if (font)
		refuse("bold or underlined text is not closed above this line")
}

# What a blank line above asks for.
function paragraph() {
	if (blank)
		print ".P"
	blank = 0
}

NR == 1 {
	if ($0 !~ /^[a-z-]+\([1-9]\)$/)
		refuse("the first line is no NAME(SECTION)")
	split($0, title, /[()]/)
	printf ".TH \"%s\" \"%s\" \"%s\"\n.nh\n.ad l\n", title[1], title[2], date
	next
}

!shown && /^; / {
	next
}

/^```$/ {
	paragraph()
	shown = !shown
	print shown ? ".nf\n.RS 4" : ".fi\n.RE"
	next
}

shown {
	put(literal($0))
	next
}

/^$/ {
	closed()
	blank = 1
	next
}

/^##? / {
	indent(0)
	print (/^## / ? ".SS " : ".SH ") text(substr($0, index($0, " ") + 1))
	blank = 0
	next
}

{
	match($0, /^\t*/)
	paragraph()
	if (RLENGTH != depth)
		closed()
	indent(RLENGTH)
	put(text(substr($0, RLENGTH + 1)))
}

END {
	if (failed)
		exit 1
	closed()
	if (shown)
		refuse("the last ``` is not closed")
}
