/* Repairs JSON written by models: see repair.h. One pass with a stack of open containers; only the
   listed faults are repaired. */
#include "policy/toolformats/repair.h"

#include "json/python.h"
#include "json/scan.h"

#include <string.h>

bool call_noted(const struct call_notes *n, const char *word)
{
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->words[i], word) == 0)
			return true;
	return false;
}

void call_note(struct call_notes *n, const char *word)
{
	if (!call_noted(n, word) && n->count < CALL_NOTES_MAX)
		n->words[n->count++] = word;
}

void call_notes_add(struct call_notes *n, const struct call_notes *more)
{
	for (size_t i = 0; i < more->count; i++)
		call_note(n, more->words[i]);
}

struct repairer {
	struct str in;
	size_t at;
	struct buf *out;
	struct call_notes *repaired;
	char open[REPAIR_DEPTH_MAX]; /* closing brackets of the open containers */
	size_t depth;
	bool value; /* a complete value was written at depth 0 */
};

static const struct {
	const char *bytes;
	char ascii;
} smart_quotes[] = {
	{"\xe2\x80\x9c", '"'},
	{"\xe2\x80\x9d", '"'},
	{"\xe2\x80\x98", '\''},
	{"\xe2\x80\x99", '\''},
};

/* The quote character at the current position ('"' or '\'') and its length; 0: none. */
static char quote_at(const struct repairer *m, size_t *bytes)
{
	struct str rest = str_skip(m->in, m->at);

	*bytes = 1;
	if (rest.n && (rest.p[0] == '"' || rest.p[0] == '\''))
		return rest.p[0];
	for (size_t i = 0; i < ARRAY_LEN(smart_quotes); i++) {
		if (str_starts(rest, str_from(smart_quotes[i].bytes))) {
			*bytes = 3;
			return smart_quotes[i].ascii;
		}
	}
	return 0;
}

static void put_escape(struct repairer *m, char c)
{
	if (strchr("\"\\/bfnrtu", c)) {
		buf_char(m->out, '\\');
		buf_char(m->out, c);
	} else if (c == '\'') {
		buf_char(m->out, c); /* valid in Python */
	} else {
		call_note(m->repaired, "bad-escape");
		buf_text(m->out, "\\\\");
		buf_char(m->out, c);
	}
}

static void put_plain(struct repairer *m, char c)
{
	if (c == '"') {
		buf_text(m->out, "\\\"");
	} else if ((unsigned char)c < ' ') {
		call_note(m->repaired, "raw-control");
		buf_printf(m->out, "\\u%04x", (unsigned)(unsigned char)c);
	} else {
		buf_char(m->out, c);
	}
}

/* False: the text ends inside the string. */
static bool string(struct repairer *m)
{
	size_t bytes, other;
	char quote = quote_at(m, &bytes);

	if (quote == '\'' || bytes > 1)
		call_note(m->repaired, bytes > 1 ? "smart-quotes" : "single-quotes");
	size_t used, start = m->out->n;
	if (quote == '\'' && bytes == 1) {
		if (python_literal(str_skip(m->in, m->at), &used, m->out)) {
			m->at += used;
			return true;
		}
		buf_cut(m->out, start);
	}
	m->at += bytes;
	buf_char(m->out, '"');
	while (m->at < m->in.n) {
		char c = m->in.p[m->at];

		if (quote_at(m, &other) == quote && other == bytes) {
			m->at += other;
			buf_char(m->out, '"');
			return true;
		}
		m->at++;
		if (c == '\\' && m->at < m->in.n)
			put_escape(m, m->in.p[m->at++]);
		else
			put_plain(m, c);
	}
	return false;
}

static const struct {
	const char *word, *json;
} words[] = {
	{"true", "true"}, {"false", "false"}, {"null", "null"},
	{"True", "true"}, {"False", "false"}, {"None", "null"},
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '+' || c == '-' || c == '.';
}

static bool word(struct repairer *m)
{
	struct str s = str_skip(m->in, m->at);
	size_t n = 0;

	while (n < s.n && is_word_char(s.p[n]))
		n++;
	if (m->out->n && is_word_char(m->out->p[m->out->n - 1]))
		return false; /* two words without a comma: they must not become one */
	s.n = n;
	m->at += n;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!str_is(s, words[i].word))
			continue;
		if (strcmp(words[i].word, words[i].json) != 0)
			call_note(m->repaired, "python-literal");
		buf_text(m->out, words[i].json);
		return true;
	}
	buf_str(m->out, s);
	return n && json_is_valid(s);
}

/* Removes a comma before a closing bracket. */
static void drop_comma(struct repairer *m)
{
	if (m->out->n && m->out->p[m->out->n - 1] == ',') {
		buf_cut(m->out, m->out->n - 1);
		call_note(m->repaired, "trailing-comma");
	}
}

static bool close_bracket(struct repairer *m, char c)
{
	if (!m->depth || m->open[m->depth - 1] != c)
		return false;
	drop_comma(m);
	buf_char(m->out, c);
	m->depth--;
	m->at++;
	m->value = m->depth == 0;
	return true;
}

static bool open_bracket(struct repairer *m, char c)
{
	if (m->depth == REPAIR_DEPTH_MAX)
		return false;
	m->open[m->depth++] = c == '{' ? '}' : ']';
	buf_char(m->out, c);
	m->at++;
	return true;
}

static bool one_token(struct repairer *m, bool *cut)
{
	char c = m->in.p[m->at];
	size_t bytes;

	if (c == '{' || c == '[')
		return open_bracket(m, c);
	if (c == '}' || c == ']')
		return close_bracket(m, c);
	if (quote_at(m, &bytes)) {
		*cut = !string(m);
		m->value = m->depth == 0;
		return true;
	}
	if (c == ',' || c == ':') {
		buf_char(m->out, c);
		m->at++;
		return m->depth > 0;
	}
	m->value = m->depth == 0;
	return word(m);
}

bool json_repair(struct str text, struct buf *out, size_t *used, struct call_notes *repaired)
{
	struct repairer m = {.in = text, .out = out, .repaired = repaired};
	bool cut = false;

	while (m.at < text.n && !m.value && !cut)
		if (strchr(" \t\r\n", text.p[m.at]))
			m.at++;
		else if (!one_token(&m, &cut))
			return false;
	if (cut) {
		call_note(repaired, "missing-quote");
		buf_char(out, '"');
	}
	if (cut || m.depth) {
		call_note(repaired, "missing-end");
		drop_comma(&m);
	}
	while (m.depth)
		buf_char(out, m.open[--m.depth]);
	*used = m.at;
	return !out->full && json_is_valid(buf_view(out));
}
