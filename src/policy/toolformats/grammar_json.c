/* Calls that are JSON: {"name":..,"arguments":{..}} as an object, an array, or one after the
   other; and NAME {..}, with the name before the object. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

/* The tool of a call that is cut off later; absent: unknown. */
static struct str cut_name(struct finder *f, struct str s)
{
	struct call_notes ignored = {.count = 0};
	AUTO_BUF whole = BUF(FOUND_TEXT_MAX);
	struct str each, name = STR_NONE;
	size_t used;

	if (json_repair(s, &whole, &used, &ignored)) {
		struct str value = buf_view(&whole);

		name = json_type(value) == JSON_OBJECT ? call_name(f, value) : STR_NONE;
		for (size_t cursor = 0;
		     json_type(value) == JSON_ARRAY && json_next(value, &cursor, &each);) {
			name = call_name(f, each);
		}
	}
	return is_offered(f, name) ? name : STR_NONE;
}

/* Reads one value: a call or an array of calls. False: the rest cannot be read. */
static bool read_value(struct finder *f, const struct tool_format *row, struct str *s)
{
	struct str value;
	size_t used = 0;
	enum found_how how = json_at(f, row, *s, &value, &used);
	struct str body = {s->p, call_end(f, row, *s)};

	if (how == FOUND_CUT) {
		found_cut(f, cut_name(f, *s), text_trim(*s));
		*s = str_skip(*s, s->n);
		return false;
	}
	if (how == FOUND_BAD) {
		found_bad(f, STR_NONE, body, "it is not valid JSON");
		*s = str_skip(*s, body.n);
		return false;
	}
	if (!found_objects(f, row, value))
		found_bad(f, STR_NONE, value, "it has no tool name");
	*s = str_skip(*s, used);
	return true;
}

/* Skips whitespace, commas and semicolons between calls. */
static struct str skip_separators(struct str s)
{
	s = skip_whitespace(s);
	while (s.n && (s.p[0] == ',' || s.p[0] == ';'))
		s = skip_whitespace(str_skip(s, 1));
	return s;
}

void grammar_calls(struct finder *f, const struct tool_format *row, struct str *rest)
{
	struct str s = skip_whitespace(*rest), next;
	size_t first = f->count;
	bool fenced = skip_fence(&s), more = true;

	while (more && begins_json(s)) {
		more = read_value(f, row, &s);
		next = skip_separators(s);
		more = more && !mark_here(next, row->open); /* which may begin with a bracket */
		s = begins_json(next) ? next : s;
	}
	if (f->count == first)
		return; /* no call: the mark is ordinary text */
	if (fenced && str_starts(skip_whitespace(s), STR("```")))
		s = str_skip(skip_whitespace(s), 3);
	leave_call(f, row, first, &s);
	*rest = s;
}

struct head {
	struct str id, name;
	bool whole; /* it is complete */
};

/* Removes an incomplete mark at the end of the text. */
static struct str without_cut_mark(struct str s, const char *const marks[MARKS_MAX])
{
	for (size_t i = 0; i < s.n; i++)
		if (mark_cut(str_skip(s, i), marks))
			return (struct str){s.p, i};
	return s;
}

/* "functions.NAME:0" is also the call's id. */
static void settle_head(struct finder *f, struct head *h)
{
	struct str call_id, name = text_trim(h->name);

	if (cut_at(f, name, "[CALL_ID]", &name, &call_id))
		h->id = text_trim(call_id);
	size_t colon = mark_at(f, name, ":");
	struct str number = str_skip(name, colon + 1);
	if (number.n && strspn(number.p, "0123456789") >= number.n) {
		h->id = name;
		name.n = colon;
	}
	if (h->id.p && str_starts(name, STR("functions.")))
		name = str_skip(name, strlen("functions."));
	h->name = text_trim(name);
}

/* Reads up to an end mark of the name, or to the object. */
static struct head read_head(struct finder *f, const struct tool_format *row, struct str *s)
{
	struct str within = {s->p, call_end(f, row, *s)};
	size_t bytes, end = nearest_mark(f, within, row->name_end, &bytes);
	size_t brace = mark_at(f, within, "{");
	struct head h = {.whole = bytes > 0};

	if (bytes && end < brace) {
		h.name = (struct str){s->p, end};
		*s = str_skip(*s, end + bytes);
	} else if (brace < within.n) {
		h.name = (struct str){s->p, brace};
		*s = str_skip(*s, brace);
		h.whole = true;
	} else {
		bool open_end = within.n == s->n;

		h.name = open_end ? without_cut_mark(within, row->name_end) : within;
		h.whole = !open_end;
		*s = str_skip(*s, within.n);
	}
	/* DeepSeek V3: "function" is the call's type, the name follows the mark */
	if (str_is(text_trim(h.name), "function")) {
		struct str line = skip_whitespace(*s);
		size_t n = 0;

		end = call_end(f, row, line);
		while (n < end && !strchr("\n{`", line.p[n]))
			n++;
		h.name = (struct str){line.p, n};
		*s = str_skip(line, n);
	}
	settle_head(f, &h);
	return h;
}

static struct str skip_before_json(const struct tool_format *row, struct str s)
{
	size_t bytes;

	s = skip_whitespace(s);
	while ((bytes = mark_here(s, row->before_json)) > 0)
		s = skip_whitespace(str_skip(s, bytes));
	return s;
}

static void read_arguments(struct finder *f, const struct tool_format *row, struct head *h,
                           struct str *s)
{
	struct found_call call = {.id = h->id, .name = h->name};

	*s = str_skip(*s, json_arguments(f, row, *s, &call));
	found_add(f, call);
	if (call.how == FOUND_WHOLE && !row->close[0] &&
	    str_starts(skip_whitespace(*s), STR("{"))) {
		found_repaired(f, f->count - 1, "concatenated",
		               "its arguments are followed by others");
	}
}

/* [TOOL_CALLS] junk [{..}]: the array is used. */
static bool is_list_after(struct finder *f, struct str s)
{
	struct str list = skip_whitespace(str_skip(s, mark_at(f, s, "[")));

	return mark_at(f, s, "[") < mark_at(f, s, "{") &&
	       str_starts(skip_whitespace(str_skip(list, 1)), STR("{"));
}

void grammar_named(struct finder *f, const struct tool_format *row, struct str *rest)
{
	struct str s = skip_whitespace(*rest);
	size_t first = f->count;

	if (row->starts == STARTS_ANYTHING && (begins_json(s) || is_list_after(f, s))) {
		if (!begins_json(s))
			call_note(f->notes, "text-before-call");
		*rest = str_skip(s, begins_json(s) ? 0 : mark_at(f, s, "["));
		grammar_calls(f, row, rest);
		return;
	}
	struct head h = read_head(f, row, &s);
	if (!h.name.n || (leading_name(h.name).n < h.name.n && !is_offered(f, h.name)))
		return; /* a sentence that mentions the mark */
	struct str body = skip_before_json(row, s);
	bool fenced = skip_fence(&body);
	if (begins_json(body)) {
		s = body;
		read_arguments(f, row, &h, &s);
	} else if (!body.n || mark_cut(body, row->before_json) || mark_cut(body, row->close)) {
		s = str_skip(s, s.n);
		found_cut(f, h.name, STR_NONE);
	} else if (!h.whole || call_end(f, row, body) > 0) {
		struct str text = {body.p, call_end(f, row, body)};

		found_bad(f, h.name, text, "its arguments are not valid JSON");
		s = str_skip(body, text.n);
	} else {
		found_add(f, (struct found_call){.id = h.id, .name = h.name});
		s = body;
	}
	if (fenced && str_starts(skip_whitespace(s), STR("```")))
		s = str_skip(skip_whitespace(s), 3);
	leave_call(f, row, first, &s);
	*rest = s;
}
