/* Reads a reply in one pass, from mark to mark: see reader.h. */
#include "policy/toolformats/reader.h"

#include "base/text.h"
#include "policy/toolformats/reader_internal.h"

#include <assert.h>

#define B "\xef\xbd\x9c"
#define S "\xe2\x96\x81"
#define D B "DSML" B
#define G B "GCML" B
#define M "]<]minimax[>["

const struct tool_format tool_formats[] = {
#define FORMAT(name_, help_, grammar_, ...)                                                        \
	{.name = name_, .help = help_, .grammar = grammar_, __VA_ARGS__},
#define FORMAT_TOO FORMAT
#include "policy/toolformats/toolformats.def"
#undef FORMAT
#undef FORMAT_TOO
};
const size_t tool_formats_count = ARRAY_LEN(tool_formats);

#undef B
#undef S
#undef D
#undef G
#undef M

#define FORMAT_TOO(name, ...)
const char *const tool_format_names[] = {
	"auto",
#define FORMAT(name, ...) name,
#include "policy/toolformats/toolformats.def"
#undef FORMAT
	NULL,
};
const char tool_format_choices[] = "auto"
#define FORMAT(name, ...) "|" name
#include "policy/toolformats/toolformats.def"
#undef FORMAT
	;
#undef FORMAT_TOO

/* Marks around reasoning. The opening one may be in the prompt's template. */
static const struct {
	const char *open, *close;
	bool shared; /* the end mark is also that of other messages */
} thoughts[] = {
	{"<think>", "</think>", false},
	{"<mm:think>", "</mm:think>", false},
	{"<seed:think>", "</seed:think>", false},
	{"<ifm|think>", "</ifm|think>", false},
	{"[THINK]", "[/THINK]", false},
	{"<|channel>", "<channel|>", false},
	{"<|START_THINKING|>", "<|END_THINKING|>", false},
	{"<|open|>think<|sep|>", "<|close|>think<|sep|>", false},
	{"<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", false},
	{"<|content_thinking|>", "<|end_message|>", true},
};

/* Special tokens that a server should have removed from the text. */
static const char *const end_tokens[] = {"</s>",          "<|eot_id|>",           "<|im_end|>",
                                         "<|eom_id|>",    "<|end_of_text|>",      "<|endoftext|>",
                                         "<end_of_turn>", "<|END_OF_TURN_TOKEN|>"};

/* ---- marks ---- */

enum mark_kind { MARK_OPEN, MARK_AROUND, MARK_REASONING, MARK_REASONING_END, MARK_END_TOKEN };

struct mark {
	const char *text;
	size_t n;
	enum mark_kind kind;
	size_t index; /* of the format, or of the reasoning marks */
	struct mark *next;
};

#define MARK_BYTES 3 /* minimum length of a mark */
#define SLOTS      1024

/* All marks, indexed by their first bytes: one lookup per byte of prose. */
struct marks {
	struct mark all[512];
	size_t count;
	bool first[256];
	struct mark *slot[SLOTS], **last[SLOTS];
};

struct mark_place {
	const struct mark *mark;
	size_t at;
};

static size_t slot_of(const char *s)
{
	size_t a = (unsigned char)s[0], b = (unsigned char)s[1], c = (unsigned char)s[2];

	return (a ^ b << 3 ^ c << 5) % SLOTS;
}

static void marks_add(struct marks *m, const char *text, enum mark_kind kind, size_t index)
{
	size_t n = strlen(text), slot;

	assert(n >= MARK_BYTES);
	assert(m->count < ARRAY_LEN(m->all));
	slot = slot_of(text);
	m->first[(unsigned char)text[0]] = true;
	struct mark *mark = &m->all[m->count++];
	*mark = (struct mark){.text = text, .n = n, .kind = kind, .index = index};
	if (!m->last[slot])
		m->last[slot] = &m->slot[slot];
	*m->last[slot] = mark;
	m->last[slot] = &mark->next;
}

/* format: the only one to read; NULL: all. */
static void marks_fill(struct marks *m, const char *format)
{
	for (size_t i = 0; i < tool_formats_count; i++) {
		const struct tool_format *row = &tool_formats[i];
		bool wanted = !format || strcmp(format, row->name) == 0;

		for (size_t k = 0; wanted && k < MARKS_MAX && row->open[k]; k++)
			marks_add(m, row->open[k], MARK_OPEN, i);
	}
	for (size_t i = 0; i < ARRAY_LEN(thoughts); i++) {
		marks_add(m, thoughts[i].open, MARK_REASONING, i);
		if (!thoughts[i].shared)
			marks_add(m, thoughts[i].close, MARK_REASONING_END, i);
	}
	for (size_t i = 0; i < tool_formats_count; i++) {
		const struct tool_format *row = &tool_formats[i];

		for (size_t k = 0; k < MARKS_MAX && row->around[k]; k++)
			marks_add(m, row->around[k], MARK_AROUND, i);
		for (size_t k = 0; k < MARKS_MAX && row->section_end[k]; k++)
			marks_add(m, row->section_end[k], MARK_AROUND, i);
	}
	for (size_t i = 0; i < ARRAY_LEN(end_tokens); i++)
		marks_add(m, end_tokens[i], MARK_END_TOKEN, i);
}

static bool starts_call(enum starts starts, struct str s)
{
	char first;

	s = skip_whitespace(s);
	first = s.n ? s.p[0] : '\0';
	switch (starts) {
	case STARTS_ANYTHING:
		return true;
	case STARTS_JSON:
		return first == '{' || first == '[' || str_starts(s, STR("```"));
	case STARTS_LIST:
		return first == '[';
	case STARTS_FENCE:
		return str_starts(s, STR("```"));
	case STARTS_WORD:
		return leading_name(s).n > 0;
	case STARTS_PAIRS:
		return str_starts(s, STR("call:")) || first == ':';
	case STARTS_TAG:
		return first == '<';
	}
	return false;
}

static bool mark_fits(const struct mark *m, struct str s)
{
	return s.n >= m->n && memcmp(s.p, m->text, m->n) == 0 &&
	       (m->kind != MARK_OPEN ||
	        starts_call(tool_formats[m->index].starts, str_skip(s, m->n)));
}

/* The next mark at or after `from`. False: none. */
static bool next_mark(const struct marks *m, struct str text, size_t from, struct mark_place *e)
{
	for (size_t i = from; i + MARK_BYTES <= text.n; i++) {
		if (!m->first[(unsigned char)text.p[i]])
			continue;
		const struct mark *mark = m->slot[slot_of(text.p + i)];

		for (; mark; mark = mark->next) {
			if (mark_fits(mark, str_skip(text, i))) {
				*e = (struct mark_place){mark, i};
				return true;
			}
		}
	}
	return false;
}

/* ---- the pass ---- */

struct text_walk {
	struct finder f;
	const struct marks *marks;
	struct str text;
	size_t from;               /* everything before it was processed */
	struct buf reasoning, raw; /* raw: the text without reasoning, marks and all */
	bool opened;               /* reasoning was opened or closed */
	bool marked, dropped, end_token;
	size_t asked; /* position of the last question whether to stop */
	bool stopped;
};

static void add_reasoning(struct text_walk *w, struct str thought)
{
	thought = text_trim(thought);
	buf_text(&w->reasoning, w->reasoning.n && thought.n ? "\n\n" : "");
	buf_str(&w->reasoning, thought);
}

/* Adds the text before `at` to the content. */
static void flush(struct text_walk *w, size_t at)
{
	struct str s = {w->text.p + w->from, at - w->from};

	buf_str(&w->f.rest, s);
	buf_str(&w->raw, s);
	w->from = at;
}

static void read_reasoning(struct text_walk *w, const struct mark_place *e)
{
	struct str thought, rest, inside = str_skip(w->text, e->at + e->mark->n);

	flush(w, e->at);
	cut_at(&w->f, inside, thoughts[e->mark->index].close, &thought, &rest);
	add_reasoning(w, thought);
	w->from = w->text.n - rest.n;
	w->opened = true;
}

/* The end of reasoning that the prompt's template opened: everything before it, including calls,
   was reasoning. */
static void end_reasoning(struct text_walk *w, const struct mark_place *e)
{
	bool last = !skip_whitespace(str_skip(w->text, e->at + e->mark->n)).n;

	if (w->opened || last) {
		flush(w, e->at);
	} else {
		if (w->f.count)
			call_note(w->f.notes, "call-in-reasoning");
		add_reasoning(w, (struct str){w->text.p, e->at});
		w->f.count = 0;
		w->f.format = NULL;
		buf_clear(&w->f.rest);
		buf_clear(&w->raw);
	}
	w->opened = true;
	w->from = e->at + e->mark->n;
}

static void drop_mark(struct text_walk *w, const struct mark_place *e)
{
	flush(w, e->at);
	buf_text(&w->raw, e->mark->text);
	w->from = e->at + e->mark->n;
	w->dropped = true;
	if (e->mark->kind == MARK_AROUND)
		w->marked = true;
	else
		w->end_token = true;
}

static bool all_offered(const struct finder *f, size_t first)
{
	for (size_t i = first; i < f->count; i++)
		if (!is_offered(f, f->calls[i].name))
			return false;
	return true;
}

/* Skips a directly repeated mark. */
static struct str skip_doubled(const struct mark *mark, struct str rest)
{
	while (str_starts(skip_whitespace(rest), str_from(mark->text)))
		rest = str_skip(skip_whitespace(rest), mark->n);
	return rest;
}

/* "I could use <function=look> first.</think>": is no call whole, and is the end of thoughts that the prompt's template
   opened in their text? Then the model only thinks of calls, also in what it drafted before. */
static bool is_thought(struct text_walk *w, size_t first, struct str text)
{
	bool ends = false;

	for (size_t i = first; i < w->f.count; i++)
		if (w->f.calls[i].how == FOUND_WHOLE)
			return false;
	for (size_t i = 0; i < ARRAY_LEN(thoughts); i++)
		ends |= !thoughts[i].shared && mark_at(&w->f, text, thoughts[i].close) < text.n;
	return ends && !w->opened;
}

/* Reads the calls after a mark. False: the text up to *at is ordinary text. */
static bool read_call_list(struct text_walk *w, const struct mark_place *e, size_t *at)
{
	const struct tool_format *row = &tool_formats[e->mark->index];
	struct str after = str_skip(w->text, e->at + e->mark->n);
	struct str rest = skip_doubled(e->mark, after), start = rest;
	size_t first = w->f.count;

	*at = w->text.n - start.n;
	w->marked |= !row->weak && row->grammar != grammar_messages;
	if (first == FOUND_CALLS_MAX) {
		call_note(w->f.notes, "too-many-calls");
		return false;
	}
	w->f.before = (struct str){w->text.p + w->from, e->at - w->from};
	row->grammar(&w->f, row, &rest);
	if ((w->f.count == first && rest.n == start.n && row->grammar != grammar_messages) ||
	    (row->weak && !all_offered(&w->f, first)) ||
	    is_thought(w, first, (struct str){start.p, start.n - rest.n})) {
		w->f.count = first;
		return false;
	}
	if (after.n != start.n)
		found_repaired(&w->f, first, "doubled-mark", "its mark is repeated");
	buf_str(&w->f.rest, w->f.before);
	buf_str(&w->raw, w->f.before);
	if (!w->f.format && w->f.count > first)
		w->f.format = row->name;
	w->from = w->text.n - rest.n;
	return true;
}

/* Is the mark in a string of JSON that begins a code fence? *at: the end of the JSON. */
static bool is_in_fence(struct text_walk *w, const struct mark_place *e, size_t *at)
{
	struct str s = {w->text.p + w->from, w->text.n - w->from};
	struct str fence = str_skip(s, mark_at(&w->f, s, "```"));
	struct json_fault fault;
	size_t used;

	if (fence.p >= w->text.p + e->at || !skip_fence(&fence) || !fence.n ||
	    !strchr("{[", fence.p[0]) || json_validate_first(fence, &used, &fault)) {
		return false;
	}
	*at = (size_t)(fence.p - w->text.p) + used;
	return e->at < *at;
}

#define STOP_BYTES ((size_t)64 << 10) /* of text between two questions whether to stop */

static bool is_stopped(struct text_walk *w, size_t at)
{
	const struct reading_conf *conf = w->f.conf;

	if (conf->stopped && at - w->asked >= STOP_BYTES) {
		w->asked = at;
		w->stopped = conf->stopped(conf->ctx);
	}
	return w->stopped;
}

static void walk_text(struct text_walk *w)
{
	struct mark_place e;
	size_t at = 0;

	while (next_mark(w->marks, w->text, at, &e) && !is_stopped(w, e.at)) {
		switch (e.mark->kind) {
		case MARK_OPEN:
			if (!read_call_list(w, &e, &at))
				continue;
			break;
		case MARK_REASONING:
			if (is_in_fence(w, &e, &at))
				continue;
			read_reasoning(w, &e);
			break;
		case MARK_REASONING_END:
			if (is_in_fence(w, &e, &at))
				continue;
			end_reasoning(w, &e);
			break;
		case MARK_AROUND:
		case MARK_END_TOKEN:
			drop_mark(w, &e);
			break;
		}
		at = w->from;
	}
	flush(w, w->text.n);
}

/* ---- the result ---- */

bool is_wanted(const struct reading_conf *conf, const char *format)
{
	return !conf->format || strcmp(conf->format, format) == 0 ||
	       (strcmp(conf->format, "llama") == 0 && strcmp(format, "json") == 0);
}

static void read_unmarked(struct text_walk *w, struct reading *out)
{
	/* without special tokens */
	struct str text = arena_str(w->f.arena, buf_view(&w->f.rest));

	buf_clear(&w->f.rest);
	if (read_bare(&w->f, text, false))
		out->content = arena_str(w->f.arena, text_trim(buf_view(&w->f.rest)));
}

void reading_text(const struct reading_conf *conf, struct str text, struct arena *arena,
                  struct reading *out)
{
	struct marks *marks = arena_new(arena, sizeof(*marks));

	text = text.p ? text : STR("");
	struct text_walk w = {
		.f = {.text = text,
	              .conf = conf,
	              .arena = arena,
	              .rest = BUF(FOUND_TEXT_MAX),
	              .notes = &out->notes,
	              .repairs = &out->repairs},
		.marks = marks,
		.text = text,
		.reasoning = BUF(FOUND_TEXT_MAX),
		.raw = BUF(FOUND_TEXT_MAX),
	};

	*out = (struct reading){.calls = NULL};
	w.f.calls = arena_new(arena, FOUND_CALLS_MAX * sizeof(*w.f.calls));
	w.f.reasoning = &w.reasoning;
	if (!read_bare(&w.f, text, true)) {
		marks_fill(marks, conf->format);
		walk_text(&w);
	}
	bool plain = !w.f.count && w.dropped;
	out->content = arena_str(arena, text_trim(buf_view(plain ? &w.raw : &w.f.rest)));
	out->reasoning = arena_str(arena, buf_view(&w.reasoning));
	out->marked = w.marked;
	out->stopped = w.stopped;
	if (w.stopped) {
		w.f.count = 0;
		w.f.format = NULL;
	} else if (!w.f.count) {
		read_unmarked(&w, out);
	}
	if (w.end_token && w.f.count) {
		found_repaired(&w.f, w.f.count - 1, "stray-end-token",
		               "an end-of-reply token is part of its text");
	}
	out->calls = w.f.calls;
	out->count = w.f.count;
	out->format = w.f.format;
	BUFS_RELEASE(&w.f.rest, &w.raw, &w.reasoning);
}

bool reading_marked(struct str text)
{
	AUTO_ARENA arena = {0};
	struct marks *marks = arena_new(&arena, sizeof(*marks));
	struct mark_place e;
	bool found = false;

	marks_fill(marks, NULL);
	for (size_t at = 0; !found && next_mark(marks, text, at, &e); at = e.at + e.mark->n) {
		found = e.mark->kind == MARK_AROUND ||
		        (e.mark->kind == MARK_OPEN && !tool_formats[e.mark->index].weak);
	}
	return found;
}
