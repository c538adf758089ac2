/* Searching for marks: see reader_internal.h. */
#define _GNU_SOURCE /* memmem */
#include "base/text.h"
#include "json/write.h"
#include "policy/toolformats/reader_internal.h"

#define MARK_PROBES 16

struct str skip_whitespace(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
		s = str_skip(s, 1);
	return s;
}

static const char *find(const char *from, const char *end, const char *mark)
{
	const char *at = from < end ? memmem(from, (size_t)(end - from), mark, strlen(mark)) : NULL;

	return at ? at : end;
}

/* The slot of the mark, or a free one; if all are in use, an old one is replaced. */
static struct mark_slot *slot_of(struct finder *f, const char *mark)
{
	size_t home = (uintptr_t)mark ^ (uintptr_t)mark >> 9;

	for (size_t i = 0; i < MARK_PROBES; i++) {
		struct mark_slot *slot = &f->slots[(home + i) % MARK_SLOTS];

		if (slot->mark == mark || !slot->mark)
			return slot;
	}
	return &f->slots[home % MARK_SLOTS];
}

/* Like find, but uses the results of earlier searches. */
static const char *find_known(struct finder *f, const char *from, const char *mark)
{
	struct mark_slot *slot = slot_of(f, mark);
	const char *end = f->text.p + f->text.n;

	if (slot->mark != mark || from > slot->at) {
		*slot = (struct mark_slot){mark, from, find(from, end, mark)};
	} else if (from < slot->from) {
		size_t n = strlen(mark), overlap = (size_t)(end - slot->from);
		const char *until = slot->from + (n - 1 < overlap ? n - 1 : overlap);
		const char *at = find(from, until, mark);

		slot->from = from;
		slot->at = at < until ? at : slot->at;
	}
	return slot->at;
}

static bool is_in_text(const struct finder *f, struct str s)
{
	uintptr_t p = (uintptr_t)s.p, text = (uintptr_t)f->text.p;

	return p >= text && p + s.n <= text + f->text.n;
}

size_t mark_at(struct finder *f, struct str s, const char *mark)
{
	const char *end = s.p + s.n;

	if (!s.n)
		return 0;
	const char *at = f && is_in_text(f, s) ? find_known(f, s.p, mark) : find(s.p, end, mark);

	return at < end && (size_t)(end - at) >= strlen(mark) ? (size_t)(at - s.p) : s.n;
}

size_t nearest_mark(struct finder *f, struct str s, const char *const marks[MARKS_MAX],
                    size_t *bytes)
{
	struct str within = s;

	*bytes = 0;
	for (size_t i = 0; i < MARKS_MAX && marks[i]; i++) {
		size_t at = mark_at(f, within, marks[i]);

		if (at < within.n) {
			*bytes = strlen(marks[i]);
			within.n = at;
		}
	}
	return *bytes ? within.n : s.n;
}

bool cut_at(struct finder *f, struct str s, const char *mark, struct str *before, struct str *rest)
{
	size_t at = mark_at(f, s, mark);

	*before = (struct str){s.p, at};
	*rest = str_skip(s, at == s.n ? s.n : at + strlen(mark));
	return at < s.n;
}

size_t mark_here(struct str s, const char *const marks[MARKS_MAX])
{
	for (size_t i = 0; i < MARKS_MAX && marks[i]; i++)
		if (str_starts(s, str_from(marks[i])))
			return strlen(marks[i]);
	return 0;
}

bool has_mark(struct finder *f, struct str s, const char *const marks[MARKS_MAX])
{
	size_t bytes;

	nearest_mark(f, s, marks, &bytes);
	return bytes > 0;
}

bool mark_cut(struct str s, const char *const marks[MARKS_MAX])
{
	for (size_t i = 0; i < MARKS_MAX && marks[i]; i++)
		if (s.n && s.n < strlen(marks[i]) && str_starts(str_from(marks[i]), s))
			return true;
	return false;
}

/* ---- names ---- */

struct str leading_name(struct str s)
{
	size_t n = 0;

	while (n < s.n && (unsigned char)s.p[n] > ' ' && !strchr("<>[](){}\"'`,;=|", s.p[n]))
		n++;
	return (struct str){s.p, n};
}

size_t call_end(struct finder *f, const struct tool_format *row, struct str s)
{
	size_t bytes, end = nearest_mark(f, s, row->close, &bytes);

	s.n = end;
	end = nearest_mark(f, s, row->open, &bytes);
	s.n = end;
	end = nearest_mark(f, s, row->section_end, &bytes);
	s.n = end;
	return nearest_mark(f, s, row->around, &bytes);
}

/* ---- the end of a call ---- */

/* Skips all end marks here and returns their number; a pair such as </parameter></invoke> counts
   as one. */
static size_t skip_close(const struct tool_format *row, struct str *s, bool *doubled)
{
	struct str mark, last = STR_NONE;
	size_t count = 0;

	*doubled = false;
	for (;;) {
		mark = skip_whitespace(*s);
		mark.n = mark_here(mark, row->close);
		if (!mark.n)
			return count;
		*doubled |= count && str_eq(mark, last);
		last = mark;
		*s = str_skip(skip_whitespace(*s), mark.n);
		count++;
	}
}

/* Unexpected text between the calls and their end mark. */
static void report_junk(struct finder *f, size_t first, struct str text)
{
	bool brackets = text.n <= 2 && strspn(text.p, "\"}])") >= text.n;

	found_repaired(f, first, brackets ? "stray-end" : "trailing-text",
	               "unexpected text before its end mark");
}

void leave_call(struct finder *f, const struct tool_format *row, size_t first, struct str *rest)
{
	struct str s = skip_whitespace(*rest);
	size_t bytes, closes, close = nearest_mark(f, s, row->close, &bytes);
	bool doubled;

	if (!row->close[0])
		return;
	if (bytes && close == call_end(f, row, s) && close > 0) {
		report_junk(f, first, text_trim((struct str){s.p, close}));
		*rest = str_skip(s, close);
	}
	closes = skip_close(row, rest, &doubled);
	if (doubled)
		found_repaired(f, first, "doubled-end-mark", "its end mark is repeated");
	s = skip_whitespace(*rest);
	bool cut = f->count > first && f->calls[f->count - 1].how == FOUND_CUT;
	if (!closes && !cut && (!s.n || mark_cut(s, row->close))) {
		call_note(f->notes, "end-mark-missing");
		*rest = str_skip(s, s.n);
	}
}

/* ---- results ---- */

bool tool_format_has_role(const char *format)
{
	for (size_t i = 0; format && i < tool_formats_count; i++)
		if (strcmp(tool_formats[i].name, format) == 0 && tool_formats[i].result.role)
			return true;
	return false;
}

void tool_format_result(const char *format, struct str id, struct str name, struct str text,
                        struct buf *out)
{
	const struct tool_format *row = NULL;

	for (size_t i = 0; format && !row && i < tool_formats_count; i++)
		if (strcmp(tool_formats[i].name, format) == 0 && tool_formats[i].result.open)
			row = &tool_formats[i];
	buf_text(out, row ? row->result.open : "<tool_response>\n");
	if (row && row->result.named) {
		buf_str(out, row->result.by_id ? id : name);
		buf_text(out, row->result.named);
	}
	if (row && row->result.quoted)
		json_quote(out, text);
	else
		buf_str(out, text);
	buf_text(out, row ? row->result.close : "\n</tool_response>");
}
