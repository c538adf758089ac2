/* Values named in a server's texts: see named_values.h. */
#include "policy/named_values.h"

#include "json/scan.h"
#include "policy/tools.h"

#define TEXT_MAX       ((size_t)16 << 10) /* the rest of a longer text is not read */
#define QUOTED_MAX     64                 /* bytes between quotes */
#define PARAMETERS_MAX 64                 /* of one tool; further ones are not looked for */

enum word_kind { WORD_NONE, WORD_BARE, WORD_NUMBER, WORD_QUOTED };

struct prose_word {
	enum word_kind kind;
	struct str text;   /* without quotes */
	size_t begin, end; /* in the text that is read */
};

static bool char_in(struct str s, size_t i, const char *set)
{
	return i < s.n && s.p[i] && strchr(set, s.p[i]);
}

static bool is_inside(struct str s, size_t i)
{
	return i < s.n &&
	       ((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
	        (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_' || (unsigned char)s.p[i] >= 0x80);
}

static size_t skip_blanks(struct str s, size_t i)
{
	while (char_in(s, i, " \t\r\n"))
		i++;
	return i;
}

/* 'a' or \"a\" at i. */
static bool read_quoted(struct str s, size_t i, struct prose_word *w)
{
	size_t escape = char_in(s, i, "\\"), start = i + escape + 1, end = start;

	if (!char_in(s, start - 1, "'\"`"))
		return false;
	while (end < s.n && end < start + QUOTED_MAX && !char_in(s, end, "'\"`\\\n"))
		end++;
	size_t close = end + escape;
	if (end == start || close >= s.n || s.p[close] != s.p[start - 1])
		return false;
	*w = (struct prose_word){WORD_QUOTED, {s.p + start, end - start}, i, close + 1};
	return true;
}

/* The word, number or quoted text that begins at i; WORD_NONE: there is none. */
static struct prose_word word_at(struct str s, size_t i)
{
	struct prose_word w = {.begin = i};
	size_t end = i + (char_in(s, i, "-") && char_in(s, i + 1, "0123456789"));
	double number;

	if (read_quoted(s, i, &w))
		return w;
	while (is_inside(s, end) || (end > i && char_in(s, end, "-.'") && is_inside(s, end + 1)))
		end++;
	w.text = (struct str){s.p + i, end - i};
	w.end = end;
	w.kind = end == i ? WORD_NONE : json_double_text(w.text, &number) ? WORD_NUMBER : WORD_BARE;
	return w;
}

static bool is_word(const struct prose_word *w, const char *const *list)
{
	while (*list && !str_is(w->text, *list))
		list++;
	return w->kind == WORD_BARE && *list;
}
#define IS_WORD(w, ...) is_word(w, (const char *const[]){__VA_ARGS__, NULL})

/* The end of ",", "|", "or", ", and" at i; i: there is none. */
static size_t skip_separator(struct str s, size_t i, bool *joined)
{
	size_t at = skip_blanks(s, i), mark = char_in(s, at, ",|");

	at = skip_blanks(s, at + mark);
	struct prose_word w = word_at(s, at);
	*joined = IS_WORD(&w, "or", "and");
	return *joined ? skip_blanks(s, w.end) : mark ? at : i;
}

/* Is the word after a separator a value? After a comma the sentence may go on: "a or b, which". */
static bool continues(struct str s, const struct prose_word *w, bool joined)
{
	size_t at = skip_blanks(s, w->end);
	bool more;

	return !char_in(s, at, ":=") &&
	       (w->kind != WORD_BARE || joined || skip_separator(s, w->end, &more) > w->end ||
	        at == s.n || char_in(s, at, ".;!?)]}(") || memchr(s.p + w->end, '\n', at - w->end));
}

/* Reads the values from the word on; returns the end of the last one. */
static size_t read_list(struct str s, struct prose_word w, struct value_list *out)
{
	enum word_kind kind = w.kind;
	bool joined = true;
	size_t end = w.begin, next;

	*out = (struct value_list){.numbers = kind == WORD_NUMBER};
	while (w.kind == kind && continues(s, &w, joined)) {
		if (out->count < VALUES_MAX)
			out->item[out->count++] = w.text;
		end = w.end;
		next = skip_separator(s, end, &joined);
		w = next > end ? word_at(s, next) : (struct prose_word){.kind = WORD_NONE};
	}
	return end;
}

struct prose {
	struct str text;
	bool own; /* the description of one parameter: it may begin with its values */
	size_t at;
	struct prose_word last, second_last;
};

/* Does the text before the word say that values follow? Quotes say it themselves. */
static bool is_introduced(const struct prose *r, const struct prose_word *w)
{
	const struct prose_word *last = &r->last, *second = &r->second_last;
	size_t gap = w->begin - last->end;
	const char *between = r->text.p + last->end;

	return !(IS_WORD(last, "be") && IS_WORD(second, "not")) &&
	       (w->kind == WORD_QUOTED || (r->own && !last->kind) ||
	        (last->kind != WORD_QUOTED && memchr(between, ':', gap)) ||
	        (w->kind == WORD_BARE && memchr(between, '(', gap)) ||
	        IS_WORD(last, "be", "either", "from", "expected", "are") ||
	        (IS_WORD(last, "of") && IS_WORD(second, "one", "One", "any", "Any")));
}

/* The next word, or in `list` the values that begin with it (count 0: none); false: the end. */
static bool next_word(struct prose *r, struct prose_word *w, struct value_list *list)
{
	*w = (struct prose_word){.kind = WORD_NONE};
	list->count = 0;
	while (!w->kind && r->at < r->text.n && r->at < TEXT_MAX) {
		*w = word_at(r->text, r->at);
		r->at += !w->kind;
	}
	if (!w->kind)
		return false;
	r->at = is_introduced(r, w) ? read_list(r->text, *w, list) : w->end;
	if (list->count < 2) {
		list->count = 0;
		r->at = w->end;
	}
	r->second_last = r->last;
	r->last = *w;
	r->last.end = r->at;
	return true;
}

bool named_values_list(struct str text, struct value_list *out)
{
	struct prose r = {.text = text, .own = true};
	struct prose_word w;

	while (next_word(&r, &w, out) && !out->count) {
	}
	return out->count;
}

/* The parameter that the word names, or whose value it repeats; "a" may be an article. */
static struct named_parameter *parameter_of(struct named_values *v, const struct prose_word *w)
{
	for (struct named_parameter *p = v->item; p < v->item + v->count; p++) {
		bool article = w->kind == WORD_BARE && p->sent.n == 1;

		if (str_eq(w->text, p->key) || (!article && str_eq(w->text, p->sent)))
			return p;
	}
	return NULL;
}

static void read_text(struct named_values *v, struct str text, bool is_error)
{
	struct named_parameter *about = v->count == 1 ? v->item : NULL, *named;
	struct prose r = {.text = text};
	struct value_list list;
	struct prose_word w;

	while (next_word(&r, &w, &list)) {
		/* "missing arguments: 'light' and 'mode'" is not a list of values */
		named = parameter_of(v, &w);
		if (!list.count) {
			about = named ? named : about;
		} else if (about && !about->listed && !named) {
			struct str found = {text.p + w.begin, r.at - w.begin};

			about->listed = true;
			about->from_error = is_error;
			if (!str_eq(about->text, found))
				about->text = arena_str(v->arena, found);
		}
	}
}

void named_values_begin(struct named_values *v, struct arena *arena, struct str tool)
{
	struct str properties = JSON_GET(tool_schema(tool), "properties");
	struct json_member m;
	size_t cursor = 0;

	*v = (struct named_values){.arena = arena};
	while (v->count < PARAMETERS_MAX && json_next_member(properties, &cursor, &m)) {
		v->item = arena_grow(arena, v->item, v->count, sizeof(*v->item));
		v->item[v->count++] = (struct named_parameter){.key = m.key};
	}
	read_text(v, json_text(arena, JSON_GET(tool, "description")), false);
}

void named_values_learn(struct named_values *v, struct str arguments, struct str error)
{
	for (struct named_parameter *p = v->item; p < v->item + v->count; p++) {
		struct str sent = json_get(arguments, p->key);

		p->sent = json_type(sent) == JSON_STRING ? json_inner(sent) : sent;
		p->listed = false;
	}
	read_text(v, error, true);
}

const struct named_parameter *named_values_find(const struct named_values *v, struct str key)
{
	for (const struct named_parameter *p = v->item; p < v->item + v->count; p++)
		if (p->text.p && str_eq(p->key, key))
			return p;
	return NULL;
}
