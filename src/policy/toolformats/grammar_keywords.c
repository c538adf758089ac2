/* Calls in Python: f(a=1, b='x'), one or several, in a list or one per line. Values are Python
   literals. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"
#include "json/python.h"
#include "json/write.h"

#define KEYWORDS_MAX 256
#define STRINGS_MAX  ((size_t)16 << 10) /* bytes of calls whose strings contain marks */

/* ---- the end of a literal ---- */

/* After the call's bracket: nothing, the end of the list, or another call. */
static bool ends_call(struct str after)
{
	after = skip_whitespace(after);
	if (!after.n || after.p[0] == ']')
		return skip_whitespace(str_skip(after, 1)).n == 0;
	after = skip_whitespace(str_skip(after, after.p[0] == ',' || after.p[0] == ';'));
	struct str name = leading_name(after);
	return name.n && name.n < after.n && after.p[name.n] == '(';
}

/* After a literal: a comma and "key=", or the end of the call. */
static bool ends_literal(struct str after)
{
	after = skip_whitespace(after);
	if (after.n && after.p[0] == ')')
		return ends_call(str_skip(after, 1));
	if (!after.n || after.p[0] != ',')
		return false;
	after = skip_whitespace(str_skip(after, 1));
	if (after.n && after.p[0] == ')')
		return ends_call(str_skip(after, 1));
	struct str key = leading_name(after);
	after = skip_whitespace(str_skip(after, key.n));
	return key.n && after.n && after.p[0] == '=';
}

/* The length of the string at the start of s, in one quote or three; s.n: it has no end. */
static size_t string_length(struct str s)
{
	bool triple = s.n > 2 && s.p[1] == s.p[0] && s.p[2] == s.p[0];
	size_t quotes = triple ? 3 : 1;

	for (size_t i = quotes; i + quotes <= s.n; i++) {
		if (s.p[i] == '\\') {
			i++;
		} else if (s.p[i] == s.p[0] &&
		           (!triple || (s.p[i + 1] == s.p[0] && s.p[i + 2] == s.p[0]))) {
			return i + quotes;
		}
	}
	return s.n;
}

/* Length up to the first of `stops` outside quotes and brackets; s.n: none. */
static size_t literal_length(struct str s, const char *stops)
{
	int depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (depth == 0 && c && strchr(stops, c))
			return i;
		if (c == '\'' || c == '"') {
			i += string_length(str_skip(s, i)) - 1;
		} else {
			depth += (c == '(' || c == '[' || c == '{') -
			         (c == ')' || c == ']' || c == '}');
		}
	}
	return s.n;
}

/* ---- literals to JSON ---- */

/* Converts one value at the start of s: up to a comma or the end of the call. Not counted as a repair: Python is the
   format. */
static bool put_value(struct buf *out, struct str s, size_t *used)
{
	size_t start = out->n;

	if (!python_literal(s, used, out))
		return false;
	struct str after = skip_whitespace(str_skip(s, *used));
	if (after.n && (after.p[0] == ')' || ends_literal(after)))
		return true;
	buf_cut(out, start);
	return false;
}

/* Does the object have a key twice, or too many keys to check? */
static bool has_repeated(struct finder *f, struct str object)
{
	struct json_member m;
	size_t count = 0;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		struct str key = json_key_text(f->arena, m.key);

		if (++count > KEYWORDS_MAX || json_get(object, key).p != m.value.p)
			return true;
	}
	return false;
}

/* Converts a=1, b='x') to {"a":1,"b":"x"}; *s is moved past the bracket. */
static bool put_keywords(struct finder *f, struct buf *out, struct str *s)
{
	struct str key;
	size_t used;

	buf_char(out, '{');
	*s = skip_whitespace(*s);
	while (s->n && s->p[0] != ')') {
		key = leading_name(*s);
		*s = skip_whitespace(str_skip(*s, key.n));
		if (!key.n || !s->n || s->p[0] != '=')
			return false;
		*s = skip_whitespace(str_skip(*s, 1));
		buf_text(out, out->n > 1 ? "," : "");
		json_quote(out, key);
		buf_char(out, ':');
		if (!put_value(out, *s, &used))
			return false;
		*s = skip_whitespace(str_skip(*s, used));
		if (s->n && s->p[0] == ',')
			*s = skip_whitespace(str_skip(*s, 1));
	}
	buf_char(out, '}');
	bool ended = s->n > 0;
	*s = str_skip(*s, 1);
	return ended && !has_repeated(f, buf_view(out));
}

/* ---- calls ---- */

/* Reads f(..). False: not a call, or cut off. closed: an end mark follows s. */
static bool read_call(struct finder *f, bool closed, struct str *s)
{
	struct str name = leading_name(*s), after = str_skip(*s, name.n), start = *s;
	AUTO_BUF object = BUF(FOUND_TEXT_MAX);

	if (!name.n || !after.n || after.p[0] != '(')
		return false;
	if (str_ends(name, STR(".call")) && !is_offered(f, name))
		name.n -= strlen(".call"); /* Llama's form for its built-in tools */
	struct str inside = str_skip(after, 1), rest = inside;
	bool good = put_keywords(f, &object, &rest);
	if (good) {
		found_add(f,
		          (struct found_call){.name = name,
		                              .arguments = arena_str(f->arena, buf_view(&object))});
		*s = rest;
	} else if (literal_length(inside, ")") == inside.n && !closed) {
		found_cut(f, name, start);
		*s = str_skip(*s, s->n);
	} else {
		size_t n = literal_length(inside, ")");

		inside.n = n;
		found_bad(f, name, inside, "its arguments are not Python keyword arguments");
		*s = str_skip(after, n + 2);
	}
	return good;
}

static void read_call_list(struct finder *f, struct str *body, bool closed)
{
	/* the text from the last call on; absent: a separator follows it */
	struct str last = STR_NONE;
	size_t first = f->count;

	while (body->n && body->p[0] != ']') {
		struct str at = *body;

		read_call(f, closed, body);
		if (body->p == at.p) {
			/* f(text='a')') is not f(text='a') */
			f->count -= closed && f->count > first && last.p;
			if (closed && (f->count > first || last.p))
				found_bad(f, leading_name(last), last.p ? last : *body,
				          "it is not a call");
			return;
		}
		*body = skip_whitespace(*body);
		last = at;
		if (body->n && (body->p[0] == ',' || body->p[0] == ';')) {
			*body = skip_whitespace(str_skip(*body, 1));
			last = STR_NONE;
		}
	}
	*body = str_skip(*body, 1);
}

static bool all_whole(const struct finder *f, size_t first)
{
	for (size_t i = first; i < f->count; i++)
		if (f->calls[i].how != FOUND_WHOLE)
			return false;
	return true;
}

/* The first end mark that is not in a string; s.n: none. */
static size_t mark_outside_strings(const struct tool_format *row, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\'' || s.p[i] == '"')
			i += string_length(str_skip(s, i)) - 1;
		else if (s.p[i] == '<' && mark_here(str_skip(s, i), row->close))
			return i;
	return s.n;
}

/* Reads the calls again, now with strings that contain marks, and keeps them in place of those
   from `first` on if all are whole. *after: their end mark. */
static void read_again(struct finder *f, const struct tool_format *row, struct str s, bool list,
                       size_t first, struct str *after)
{
	struct str near = {s.p, s.n < STRINGS_MAX ? s.n : STRINGS_MAX};
	size_t end = mark_outside_strings(row, near), count = f->count;
	struct str body = skip_whitespace(str_skip((struct str){s.p, end}, list));

	if (end == near.n)
		return;
	read_call_list(f, &body, true);
	bool good = f->count > count && !text_trim(body).n && all_whole(f, count);
	size_t more = good ? f->count - count : 0;
	memmove(f->calls + first, f->calls + count, more * sizeof(*f->calls));
	f->count = good ? first + more : count;
	*after = good ? str_skip(s, end) : *after;
}

void grammar_keywords(struct finder *f, const struct tool_format *row, struct str *rest)
{
	struct str s = skip_whitespace(*rest), body = {s.p, call_end(f, row, s)}, after;
	size_t first = f->count;
	bool closed = body.n < s.n, list = str_starts(body, STR("["));

	if (str_starts(skip_whitespace(str_skip(body, list)), STR("{"))) {
		grammar_calls(f, row, rest);
		return;
	}
	after = str_skip(s, body.n);
	body = skip_whitespace(str_skip(body, list));
	read_call_list(f, &body, closed);
	if (closed && !all_whole(f, first))
		read_again(f, row, s, list, first, &after);
	if (f->count == first)
		return; /* no call: the mark is ordinary text */
	s = closed ? after : body;
	leave_call(f, row, first, &s);
	*rest = s;
}
