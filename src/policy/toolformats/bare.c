/* Replies without marks: JSON, possibly in a code fence; Python; a name
   on one line and its arguments on the next. Only an unambiguous call of an offered tool counts;
   anything else is prose. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

static const struct tool_format plain = {.name = "json"};

/* Reads objects and arrays, one after the other, and nothing else. */
static bool read_objects(struct finder *f, struct str text, bool *lines)
{
	struct str value, s = text;
	size_t used = 0;

	*lines = false;
	while (s.n) {
		enum found_how how = json_at(f, &plain, s, &value, &used);

		if (how == FOUND_CUT && f->conf->asked_for_json &&
		    mark_at(f, s, "\"name\"") < s.n) {
			found_cut(f, STR_NONE, s);
			return true;
		}
		if (how != FOUND_WHOLE || !found_objects(f, &plain, value))
			return false;
		s = skip_whitespace(str_skip(s, used));
		if (s.n && (s.p[0] == ';' || s.p[0] == ',')) {
			*lines = s.p[0] == ';';
			s = skip_whitespace(str_skip(s, 1));
		}
	}
	return f->count > 0;
}

static bool read_json(struct finder *f, struct str text)
{
	bool lines;

	if (!begins_json(text) || !read_objects(f, text, &lines))
		return false;
	f->format = lines ? "llama" : "json";
	return true;
}

/* The end of the JSON values at the start of s, whose strings may contain fences. */
static size_t values_end(struct str s)
{
	struct str rest = s;
	struct json_fault fault;
	size_t used;

	while (begins_json(rest) && json_validate_first(rest, &used, &fault) == 0) {
		rest = skip_whitespace(str_skip(rest, used));
		rest = skip_whitespace(str_skip(rest, rest.n && strchr(",;", rest.p[0])));
	}
	return s.n - rest.n;
}

/* The contents of the code fence at the start of *s. False: no fence, or it has no end. */
static bool read_fence(struct finder *f, struct str *s, struct str *inside)
{
	struct str rest = *s, left;

	if (!skip_fence(&rest))
		return false;
	*inside = rest;
	if (!cut_at(f, str_skip(rest, values_end(rest)), "```", &left, &rest))
		return false;
	*inside = text_trim((struct str){inside->p, (size_t)(left.p - inside->p) + left.n});
	*s = skip_whitespace(rest);
	return true;
}

/* Text followed by one or more fences with calls. Not a call if text follows, or a question
   precedes it. */
static bool read_fences(struct finder *f, struct str text)
{
	size_t at = mark_at(f, text, "```");
	struct str before = text_trim((struct str){text.p, at}), s = str_skip(text, at), inside;
	bool lines;

	if (at == text.n || str_ends(before, STR("?")))
		return false;
	while (s.n) {
		if (!read_fence(f, &s, &inside) || !begins_json(inside) ||
		    !read_objects(f, inside, &lines)) {
			return false;
		}
	}
	call_note(f->notes, "code-fence");
	buf_str(&f->rest, before);
	f->format = "json";
	return true;
}

/* [f(a=1), g()], or f(a=1) alone. */
static bool read_python(struct finder *f, struct str text)
{
	bool list = text.n && text.p[0] == '[';
	struct str inside = skip_whitespace(str_skip(text, list)), name = leading_name(inside),
		   s = text;
	struct str after = str_skip(inside, name.n);

	if (!name.n || !after.n || after.p[0] != '(')
		return false;
	grammar_keywords(f, &plain, &s);
	f->format = "pythonic";
	return !text_trim(s).n;
}

typedef bool form_fn(struct finder *f, struct str text);

static bool are_offered(const struct finder *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (!is_offered(f, f->calls[i].name) &&
		    !(f->calls[i].how == FOUND_CUT && f->conf->asked_for_json))
			return false;
	return f->count > 0;
}

bool read_bare(struct finder *f, struct str text, bool whole)
{
	static form_fn *const forms[] = {read_json, read_fences, read_python};
	struct call_notes notes = *f->notes, repairs = *f->repairs;
	struct str all = f->text;

	text = text_trim(text);
	if (whole && !begins_json(text) && !str_starts(text, STR("```")))
		return false;
	memset(f->slots, 0, sizeof(f->slots));
	f->text = text;
	f->bare = true;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (forms[i](f, text) && are_offered(f) && is_wanted(f->conf, f->format) &&
		    (!whole || f->calls[f->count - 1].how == FOUND_WHOLE)) {
			return true;
		}
		f->count = 0;
		f->format = NULL;
		buf_clear(&f->rest);
		*f->notes = notes;
		*f->repairs = repairs;
	}
	memset(f->slots, 0, sizeof(f->slots));
	f->text = all;
	f->bare = false;
	return false;
}
