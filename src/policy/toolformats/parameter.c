/* A parameter between marks: its tag, its value, and where the value ends. A value is text and may
   contain anything, including marks; if its end is not certain, the call is refused. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

#define CDATA          "<![CDATA["
#define DOUBLED        "a parameter's mark is repeated"
#define TAG_MAX        4096 /* bytes of a parameter's tag within a value */
#define CANDIDATES_MAX 256  /* parameter marks within one value that do not start a parameter */

/* ---- tags ---- */

static const struct {
	const char *entity;
	char byte;
} entities[] = {{"&amp;", '&'}, {"&quot;", '"'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&#39;", '\''}};

static struct str decoded(struct finder *f, struct str s)
{
	struct buf out = BUF(FOUND_TEXT_MAX);

	while (s.n) {
		size_t i = 0, bytes = 1;

		while (i < ARRAY_LEN(entities) && !str_starts(s, str_from(entities[i].entity)))
			i++;
		bool found = i < ARRAY_LEN(entities);
		bytes = found ? strlen(entities[i].entity) : 1;
		buf_char(&out, found ? entities[i].byte : s.p[0]);
		s = str_skip(s, bytes);
	}
	return buf_keep(&out, f->arena);
}

/* What follows the attribute's name in a tag; absent: not found. An empty name: the mark ends with
   it. */
static struct str behind_attribute(struct str tag, const char *name)
{
	struct str before, after = tag;

	if (!name[0])
		return tag;
	while (cut_at(NULL, after, name, &before, &after)) {
		size_t at = (size_t)(before.p - tag.p) + before.n;
		bool begins = at == 0 || strchr(" \t\r\n", tag.p[at - 1]);

		if (begins && str_starts(skip_whitespace(after), STR("=")))
			return skip_whitespace(after);
	}
	return STR_NONE;
}

/* The value of NAME="VALUE", NAME='VALUE' or NAME=VALUE in a tag; absent: not found. */
static struct str attribute(struct str tag, const char *name)
{
	struct str value = name ? skip_whitespace(behind_attribute(tag, name)) : STR_NONE;

	if (!value.n || value.p[0] != '=')
		return STR_NONE;
	value = skip_whitespace(str_skip(value, 1));
	if (value.n && (value.p[0] == '"' || value.p[0] == '\'')) {
		const char quote[2] = {value.p[0], '\0'};

		value = str_skip(value, 1);
		value.n = mark_at(NULL, value, quote);
		return value;
	}
	return leading_name(value);
}

struct str tag_name(struct finder *f, const struct tool_format *row, const char *by, struct str tag)
{
	struct str name = by ? attribute(tag, by) : text_trim(tag);

	if (!by && name.n > 1 && strchr("\"'", name.p[0]) && name.p[name.n - 1] == name.p[0])
		name = (struct str){name.p + 1, name.n - 2};
	while (str_ends(name, STR("\\n")))
		name.n -= 2;
	return row->entities ? decoded(f, name) : name;
}

static enum hint hint_of(const struct tool_format *row, struct str tag)
{
	struct str type = attribute(tag, row->type_attribute);

	if (!type.p)
		return row->json_values ? HINT_JSON : HINT_NONE;
	/* string="true", type="string" */
	return str_is(type, "true") || str_is(type, "string") ? HINT_TEXT : HINT_JSON;
}

/* ---- values ---- */

/* Can this text follow a value's end mark? */
static bool ends_value(const struct tool_format *row, struct str after)
{
	after = skip_whitespace(after);
	return !after.n || mark_cut(after, row->parameter) || mark_cut(after, row->close) ||
	       mark_here(after, row->parameter) || mark_here(after, row->close) ||
	       mark_here(after, row->value_close) || /* doubled */
	       mark_here(after, row->open) || mark_here(after, row->around) ||
	       mark_here(after, row->section_end);
}

/* The end mark of the value s: the first one after which the format can continue. */
static size_t value_end(struct finder *f, const struct tool_format *row, struct str s,
                        size_t *bytes)
{
	size_t at = 0;

	for (;;) {
		at += nearest_mark(f, str_skip(s, at), row->value_close, bytes);
		if (!*bytes || ends_value(row, str_skip(s, at + *bytes)))
			return at;
		at += *bytes;
	}
}

/* The name in the parameter's tag after a mark; absent: the tag is not complete. */
static struct str opened_name(const struct tool_format *row, struct typed *t, struct str after)
{
	struct str tag, rest;

	if (!cut_at(t->f, after, row->key_end, &tag, &rest) || tag.n > TAG_MAX ||
	    mark_at(NULL, tag, "\n") < tag.n) {
		return STR_NONE;
	}
	if (row->value_open && !str_starts(skip_whitespace(rest), str_from(row->value_open)))
		return STR_NONE;
	return tag_name(t->f, row, row->key_attribute, tag);
}

/* Does a parameter really start here, or does a value only contain its mark? The tool must have
   the parameter, and it must not have been given yet. */
static bool is_parameter(const struct tool_format *row, struct typed *t, struct str key,
                         struct str after)
{
	struct str name = opened_name(row, t, after);

	return name.n && !str_eq(name, key) && typed_expects(t, name);
}

/* The next parameter of the call; s.n: none. A mark that does not start a parameter after one value
   does not after a later one either, so each is examined once. */
static size_t next_parameter(const struct tool_format *row, struct typed *t, struct str key,
                             struct str s)
{
	size_t at = t->searched && t->searched > s.p ? (size_t)(t->searched - s.p) : 0, bytes;

	for (int passed = 0; passed < CANDIDATES_MAX; passed++) {
		at += nearest_mark(t->f, str_skip(s, at), row->parameter, &bytes);
		if (!bytes || is_parameter(row, t, key, str_skip(s, at + bytes)))
			return at;
		at += bytes;
		t->searched = s.p + at;
	}
	return s.n;
}

/* Drops an end mark that is cut or misspelt at the end of a value without one: </parameter1>. */
static void drop_misspelt(const struct tool_format *row, struct typed *t, struct str *value)
{
	struct str s = text_trim(*value), tag;

	for (size_t i = 0; i < MARKS_MAX && row->value_close[i]; i++) {
		struct str mark = str_from(row->value_close[i]);
		size_t at = s.n;

		mark.n -= str_ends(mark, STR(">"));
		while (at > 0 && !str_starts(str_skip(s, at), mark))
			at = s.n - at < TAG_MAX ? at - 1 : 0;
		tag = str_skip(s, at + mark.n);
		if (str_starts(str_skip(s, at), mark) &&
		    leading_name(tag).n + str_ends(tag, STR(">")) == tag.n) {
			*value = (struct str){value->p, (size_t)(s.p - value->p) + at};
			typed_repaired(t, "misspelt-end-mark",
			               "a parameter's end mark is misspelt");
			return;
		}
	}
}

/* Reads a value and its end mark, if it has one. False: the text ends before it. */
static bool read_value(const struct tool_format *row, struct typed *t, struct str key,
                       struct str *s, struct str *value)
{
	size_t bytes, end_bytes, next = next_parameter(row, t, key, *s);
	bool next_bytes = next < s->n;
	struct str within = {s->p, next};
	size_t at = value_end(t->f, row, within, &bytes);

	if (bytes) {
		*value = (struct str){s->p, at};
		*s = str_skip(*s, at + bytes);
		while ((bytes = mark_here(skip_whitespace(*s), row->value_close)) > 0) {
			*s = str_skip(skip_whitespace(*s), bytes);
			typed_repaired(t, "doubled-mark", DOUBLED);
		}
		return true;
	}
	t->unclosed = true;
	size_t stray = nearest_mark(t->f, within, row->value_close, &bytes);
	size_t end = nearest_mark(t->f, within, row->close, &end_bytes);
	if (!end_bytes)
		end = nearest_mark(t->f, within, row->section_end, &end_bytes);
	if (end_bytes)
		t->why = "a parameter has no end mark";
	*value = (struct str){s->p, end_bytes ? end : next};
	if (bytes && stray < value->n)
		t->why = "unexpected text between its parameters";
	*s = str_skip(*s, value->n);
	drop_misspelt(row, t, value);
	return end_bytes > 0 || next_bytes;
}

static bool is_cdata(struct str s)
{
	return str_starts(s, STR(CDATA)) && str_ends(text_trim(s), STR("]]>"));
}

/* The value without the whitespace that the format adds. */
static struct str bare_value(const struct tool_format *row, bool compact, struct str s)
{
	bool keep =
		row->keep_feeds || (row->keep_if_compact && compact && str_starts(s, STR("\n")));

	if (is_cdata(s)) {
		s = str_skip(text_trim(s), strlen(CDATA));
		s.n -= strlen("]]>");
		return s;
	}
	if (!keep) {
		s = str_skip(s, str_starts(s, STR("\n")));
		s.n -= str_ends(s, STR("\n"));
	}
	return s;
}

/* ---- parameters ---- */

static bool is_text(struct typed *t, struct str key, struct str value)
{
	AUTO_BUF typed = BUF(FOUND_TEXT_MAX);

	typed_value(t->f, t->root, typed_property(t->root, t->root, key), value, HINT_NONE, &typed);
	return json_type(buf_view(&typed)) == JSON_STRING;
}

/* Is it text, where the tool's schema has another type? */
static bool is_mistyped(struct typed *t, struct str key, struct str value)
{
	unsigned types = schema_types(t->root, typed_property(t->root, t->root, key));

	return types && !(types & TYPE_STRING) && is_text(t, key, value);
}

/* Does the value contain the tag of a parameter that the tool has, or of this one again? */
static bool opens_declared(const struct tool_format *row, struct typed *t, struct str key,
                           struct str s)
{
	size_t bytes;

	for (int passed = 0; passed < CANDIDATES_MAX; passed++) {
		size_t at = nearest_mark(t->f, s, row->parameter, &bytes);

		if (!bytes)
			return false;
		s = str_skip(s, at + bytes);
		struct str name = opened_name(row, t, s);
		if (name.n && (row->declared_only || str_eq(name, key) ||
		               typed_property(t->root, t->root, name).p)) {
			return true;
		}
	}
	return false;
}

/* The parameters' marks in a value. */
struct inner_marks {
	size_t opens, closes;
	bool pairs; /* each end mark has an opening one before it */
};

static struct inner_marks marks_in(struct finder *f, const struct tool_format *row, struct str s)
{
	struct inner_marks in = {.pairs = true};
	size_t open_bytes, close_bytes;

	for (;;) {
		size_t open = nearest_mark(f, s, row->parameter, &open_bytes);
		size_t close = nearest_mark(f, s, row->value_close, &close_bytes);

		if (!open_bytes && !close_bytes)
			return in;
		if (open < close) {
			in.opens++;
			s = str_skip(s, open + open_bytes);
		} else {
			in.closes++;
			in.pairs = in.pairs && in.closes <= in.opens;
			s = str_skip(s, close + close_bytes);
		}
	}
}

/* Why a value's end mark is not where it seems to be; NULL: it is. A value that must not be text
   contains marks. In a string, marks may be meant: pairs, or those of parameters that the tool does
   not have; but not an end mark alone, since the tag before it may be missing, and not those of a
   whole call, whose first parameter's end mark would end the value. */
static const char *overrun_reason(struct typed *t, const struct tool_format *row, struct str key,
                                  struct str value)
{
	size_t parameters, opens, open = nearest_mark(t->f, value, row->open, &opens);
	struct str call = str_skip(value, open + opens);

	if (is_cdata(value))
		return NULL;
	nearest_mark(t->f, call, row->parameter, &parameters);
	if (opens && parameters)
		return "a value contains a call, so that its end is not certain";
	struct inner_marks in = marks_in(t->f, row, value);
	if ((!in.closes && !in.opens) || !is_text(t, key, value))
		return NULL;
	if (is_mistyped(t, key, value))
		return "unexpected text between its parameters";
	return !in.pairs || (in.closes < in.opens && opens_declared(row, t, key, value))
	               ? "a value contains a parameter's mark, so that its end is not certain"
	               : NULL;
}

/* Does a parameter's tag contain further marks? Its end is missing, and that of a later tag was
   found. */
static bool is_overrun(struct finder *f, const struct tool_format *row, struct str tag)
{
	size_t end = strlen(row->key_end);

	for (size_t i = 0; i < MARKS_MAX && row->value_close[i]; i++) {
		struct str close = str_from(row->value_close[i]);

		close.n -= str_ends(close, str_from(row->key_end)) ? end : 0;
		if (str_ends(tag, close))
			return true;
	}
	return has_mark(f, tag, row->parameter) ||
	       (row->value_open && mark_at(f, tag, row->value_open) < tag.n);
}

/* Skips the mark before a value if it is repeated. */
static void skip_doubled_open(const struct tool_format *row, struct typed *t, struct str *s)
{
	struct str mark = str_from(row->value_open ? row->value_open : row->key_end);

	while (mark.n > 1 && str_starts(*s, mark)) {
		*s = str_skip(*s, mark.n);
		typed_repaired(t, "doubled-mark", DOUBLED);
	}
}

bool read_parameter(struct finder *f, const struct tool_format *row, struct typed *t, struct str *s)
{
	struct str tag, value, key;
	enum hint hint;

	struct str start = *s;
	if (!cut_at(f, *s, row->key_end, &tag, s))
		return false;
	if (is_overrun(f, row, tag)) {
		t->why = "the end of a parameter's name is missing";
		*s = str_skip(start, call_end(f, row, start));
		return true;
	}
	hint = hint_of(row, tag);
	if (row->value_open) {
		struct str between;
		size_t end = call_end(f, row, *s);

		if (end < mark_at(f, *s, row->value_open)) {
			t->why = "a parameter has no value";
			*s = str_skip(*s, end);
			return true;
		}
		if (!cut_at(f, *s, row->value_open, &between, s))
			return false;
		between = text_trim(between);
		if (between.n && !str_is(between, "\\n"))
			t->why = "unexpected text between its parameters";
	}
	skip_doubled_open(row, t, s);
	key = tag_name(f, row, row->key_attribute, tag);
	bool doubtful = t->unclosed; /* does the value before it only contain its mark? */
	if (!read_value(row, t, key, s, &value))
		return false;
	if (!s->n && str_starts(value, STR(CDATA)) && !str_ends(text_trim(value), STR("]]>")))
		return false; /* the end mark may be part of the value */
	if (row->key_attribute && str_ends(key, STR("="))) {
		t->why =
			"the end of a parameter's name is missing"; /* the next attribute's quote */
	}
	const char *why = overrun_reason(t, row, key, value);
	t->why = why ? why : t->why;
	if (doubtful && is_mistyped(t, key, value))
		t->why = "a parameter has no end mark";
	typed_add(t, key, bare_value(row, t->compact, value), hint);
	return true;
}
