/* Calls with marks around each parameter, such as <invoke name="NAME"><parameter
   name="K">value</parameter></invoke>. Values are text, typed by the tool's schema, and may
   contain anything, including marks. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

#define NO_NAME_END "the end of its name is missing"
/* Does the text end after a parameter, and can no other one follow? The end mark is missing, but
   nothing of the call is: a server removes the mark if it is a stop sequence. The mark of a message is always one. */
static bool is_full(const struct finder *f, const struct tool_format *row, const struct typed *t,
                    struct str s)
{
	return !text_trim(s).n && !t->why && !f->conf->limited &&
	       (typed_full(t) || (row->grammar == grammar_messages && typed_required(t)));
}

/* Is this the end of a call or of its section, not another call? */
static bool ends_call(const struct tool_format *row, struct str s)
{
	return mark_here(s, row->close) || mark_here(s, row->section_end);
}

/* Reads all parameters; *s is then at the end of the call. False: the text ends before it. */
static bool read_parameter_list(struct finder *f, const struct tool_format *row, struct typed *t,
                                struct str *s)
{
	for (;;) {
		size_t bytes, at = nearest_mark(f, *s, row->parameter, &bytes);
		size_t end = call_end(f, row, *s);
		struct str between = text_trim((struct str){s->p, at < end ? at : end});
		bool cut = at == s->n && end == s->n &&
		           (mark_cut(between, row->parameter) || mark_cut(between, row->close));

		if (between.n && !cut && !str_is(between, "\\n"))
			t->why = "unexpected text between its parameters";
		if (!bytes || end < at) {
			bool ended = end < s->n || is_full(f, row, t, *s);

			if (!t->count && end < s->n && !ends_call(row, str_skip(*s, end)) &&
			    json_count(JSON_GET(t->root, "properties"))) {
				t->why = "its end mark is missing, and it has no parameters";
			}
			*s = str_skip(*s, end);
			return ended;
		}
		*s = str_skip(*s, at + bytes);
		if (!read_parameter(f, row, t, s))
			return false;
	}
}

/* Reads the name, up to the end of its tag or the first parameter. False: cut off. */
static bool read_name(struct finder *f, const struct tool_format *row, struct str *s,
                      struct str *name)
{
	size_t bytes, at = nearest_mark(f, *s, row->name_end, &bytes);
	size_t end = call_end(f, row, *s), more,
	       parameter = nearest_mark(f, *s, row->parameter, &more);
	bool whole;

	if (row->name_end[0] && (row->starts != STARTS_WORD || (bytes && at < end))) {
		whole = bytes && at <= end;
	} else {
		at = parameter < end ? parameter : end;
		bytes = 0;
		whole = at < s->n;
	}
	*name = tag_name(f, row, row->name_attribute, (struct str){s->p, whole ? at : end});
	if (!whole) /* a truncated name */
		*name = leading_name(*name);
	*s = str_skip(*s, whole ? at + bytes : end);
	return whole;
}

/* <function=NAME>{"k":1}</function> */
static bool is_json_body(const struct tool_format *row, struct str s)
{
	s = skip_whitespace(s);
	return s.n && s.p[0] == '{' && !mark_here(s, row->parameter);
}

static void read_json_body(struct finder *f, const struct tool_format *row, struct str name,
                           struct str *s)
{
	struct found_call call = {.name = name};
	size_t end = call_end(f, row, *s), used = json_arguments(f, row, *s, &call);
	struct str left = {s->p + used, end > used ? end - used : 0};

	if (call.how == FOUND_WHOLE &&
	    (has_mark(f, left, row->parameter) || has_mark(f, left, row->value_close))) {
		call.how = FOUND_BAD;
		call.arguments = (struct str){s->p, end};
		call.why = "it has parameters after its JSON";
		used = end;
	}
	*s = str_skip(*s, used);
	found_add(f, call);
}

static bool has_letter(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("-.:_/\\!?*", s.p[i]))
			return true;
	return false;
}

/* Does a sentence only mention the mark? Then no name follows, or nothing of a call follows the
   name. */
static bool is_prose(struct finder *f, const struct tool_format *row, struct str head,
                     struct str name, bool whole)
{
	bool plain = row->starts == STARTS_WORD; /* a name outside a tag */

	if (!has_letter(name) || (!row->name_attribute && leading_name(name).n < name.n))
		return true;
	return !whole && ((plain && !is_offered(f, name)) ||
	                  (!row->name_attribute && text_trim(head).n > name.n));
}

bool read_parameters(struct finder *f, const struct tool_format *row, struct str name,
                     struct str source, struct str *s)
{
	bool begun = text_trim(*s).n > 0;
	struct typed t;

	typed_begin(f, name, &t);
	t.declared_only = row->declared_only;
	t.compact = mark_here(*s, row->parameter) > 0;
	bool good = read_parameter_list(f, row, &t, s);

	source.n -= s->n;
	if (good) {
		typed_end(&t, name, source);
		return true;
	}
	buf_release(&t.object);
	if (!t.count && (t.why || !t.root.p))
		return false;
	found_add(f, (struct found_call){.how = FOUND_CUT,
	                                 .name = name,
	                                 .arguments = t.count || s->n ? source : STR_NONE,
	                                 .begun = begun});
	*s = str_skip(*s, s->n);
	return true;
}

void grammar_parameters(struct finder *f, const struct tool_format *row, struct str *rest)
{
	struct str s = *rest, name, head = *rest;
	size_t first = f->count;
	bool whole = read_name(f, row, &s, &name);

	head.n -= s.n;
	if (is_prose(f, row, head, name, whole))
		return;
	if (whole && is_json_body(row, s)) {
		read_json_body(f, row, name, &s);
	} else if (whole) {
		if (!read_parameters(f, row, name, *rest, &s))
			return;
	} else if (s.n) {
		found_bad(f, name, head, NO_NAME_END);
	} else {
		found_add(f, (struct found_call){.how = FOUND_CUT,
		                                 .name = name,
		                                 .arguments = row->starts == STARTS_WORD ? STR_NONE
		                                                                         : head});
	}
	leave_call(f, row, first, &s);
	*rest = s;
}
