/* Lists of values in prose: see value_lists.h. */
#include "policy/value_lists.h"

#include "json/scan.h"

#define CUE_TOKENS    16 /* looked at before a list */
#define LABEL_TOKENS  8  /* of the "turn left" in "0: turn left" */
#define BRACKETS      4  /* and line ends before a list */
#define PHRASE_TOKENS 3  /* of one value: "living room" */

static const char *const cues[] = {
	"one",      "any",      "either",   "valid",   "allowed",  "available", "option",
	"options",  "choice",   "choices",  "choose",  "possible", "supported", "permitted",
	"accepted", "accepts",  "expected", "expects", "value",    "values",    "must",
	"should",   "can",      "may",      "use",     "try",      "known",     "legal",
	"select",   "pick",     "among",    "between", "range",    "e.g",       "such",
	"example",  "examples", "existing",
};
static const char *const introductions[] = {
	"of",      "are",     "is", "be",       "from", "either", "expected", "use", "accepts",
	"expects", "include", "in", "includes", "as",   "e.g",    "to",       "try",
};
/* Words of a sentence that says which values cannot be used. */
static const char *const exclusions[] = {
	"reserved", "except",  "excluding", "forbidden",  "cannot", "already",
	"taken",    "missing", "than",      "unexpected", "never",
};
/* Not values themselves. */
static const char *const connectives[] = {
	"or",   "and",  "but", "then", "which", "with", "that",     "if",
	"else", "the",  "to",  "not",  "for",   "etc",  "you",      "is",
	"are",  "this", "it",  "when", "where", "got",  "received",
};
/* Labels of lists that are prose: "Error: timed out, try again". */
static const char *const prose_labels[] = {
	"error", "errors", "reason", "message", "hint", "detail", "details", "note", "warning",
};
static const char *const text_units[] = {
	"characters", "chars", "character", "letters", "words", "symbols", "bytes", "lines", "long",
};

#define WORD_IN(t, i, table) word_in(t, i, table, ARRAY_LEN(table))

static bool word_in(const struct tokens *t, size_t i, const char *const *table, size_t count)
{
	for (size_t k = 0; tokens_is(t, i, TOKEN_WORD) && k < count; k++) {
		if (tokens_word(t, i, table[k])) {
			return true;
		}
	}
	return false;
}

static bool mark_in(const struct tokens *t, size_t i, const char *characters)
{
	return tokens_is(t, i, TOKEN_MARK) && t->item[i].text.n == 1 &&
	       strchr(characters, t->item[i].text.p[0]);
}

static bool is_conjunction(const struct tokens *t, size_t i)
{
	return tokens_word(t, i, "or") || tokens_word(t, i, "and");
}

static bool is_bullet(const struct tokens *t, size_t i)
{
	return mark_in(t, i, "-*") || tokens_mark(t, i, "\u2022");
}

static bool is_ellipsis(const struct tokens *t, size_t i)
{
	return tokens_mark(t, i, "...") || tokens_mark(t, i, "..") || tokens_mark(t, i, "\u2026");
}

/* Ends a sentence, a bracket or a line, or the text. */
static bool is_stop(const struct tokens *t, size_t i)
{
	return i >= t->count || tokens_is(t, i, TOKEN_LINE) || mark_in(t, i, ".;!?)]}");
}

static bool number_at(const struct tokens *t, size_t i, double *out)
{
	return tokens_is(t, i, TOKEN_NUMBER) && json_double_text(t->item[i].text, out);
}

static void add_item(struct value_list *l, struct str text, struct str number)
{
	if (l->count < VALUES_MAX) {
		l->item[l->count++] = (struct listed_value){text, number};
	}
}

static void add_token(struct value_list *l, const struct tokens *t, size_t i)
{
	double n;

	add_item(l, t->item[i].text,
	         json_double_text(t->item[i].text, &n) ? t->item[i].text : STR_NONE);
}

/* ---- ranges ---- */

static bool set_range(struct value_list *l, size_t begin, size_t end, double low, double high)
{
	l->shape = LIST_RANGE;
	l->begin = begin;
	l->end = end;
	l->low = low;
	l->high = high;
	return low < high;
}

static bool is_dash(const struct tokens *t, size_t i)
{
	return mark_in(t, i, "-~") || tokens_mark(t, i, "..") || tokens_mark(t, i, "...") ||
	       tokens_mark(t, i, "\u2013") || tokens_mark(t, i, "\u2014") ||
	       tokens_mark(t, i, "\u2026") || tokens_word(t, i, "to") ||
	       tokens_word(t, i, "through");
}

/* Is token i a part of something longer: a date, a time, a path? */
static bool is_glued(const struct tokens *t, size_t i)
{
	return i < t->count && !t->item[i].spaced && mark_in(t, i, "-/:") && i + 1 < t->count &&
	       !t->item[i + 1].spaced && !tokens_is(t, i + 1, TOKEN_LINE);
}

/* 0-3, 0 to 3, between 0 and 3 */
static bool read_span(const struct tokens *t, size_t i, struct value_list *l)
{
	bool between = i && tokens_word(t, i - 1, "between") && tokens_word(t, i + 1, "and");
	double low, high;

	return (between || is_dash(t, i + 1)) && number_at(t, i, &low) &&
	       number_at(t, i + 2, &high) && !is_glued(t, i + 3) &&
	       !(i && !t->item[i].spaced && mark_in(t, i - 1, "-/:.")) &&
	       set_range(l, i, i + 3, low, high);
}

/* The '<' or '<=' at i; *strict: the former. */
static bool is_below(const struct tokens *t, size_t i, bool *strict)
{
	*strict = mark_in(t, i, "<");
	return *strict || tokens_mark(t, i, "<=") || tokens_mark(t, i, "\u2264");
}

/* 0 <= x < 4 */
static bool read_inequality(const struct tokens *t, size_t i, struct value_list *l)
{
	double low, high;
	bool above, below;

	return number_at(t, i, &low) && is_below(t, i + 1, &above) &&
	       tokens_is(t, i + 2, TOKEN_WORD) && is_below(t, i + 3, &below) &&
	       number_at(t, i + 4, &high) && set_range(l, i, i + 5, low + above, high - below);
}

/* "range [0, 3]", "range(0, 4)", "[0, 4)" */
static bool read_interval(const struct tokens *t, size_t i, struct value_list *l)
{
	bool after_range = i && tokens_word(t, i - 1, "range");
	bool python = after_range && tokens_mark(t, i, "(") && !t->item[i].spaced;
	bool half_open = tokens_mark(t, i, "[") && tokens_mark(t, i + 4, ")");
	double low, high;

	return (after_range || half_open) && mark_in(t, i, "[(") && number_at(t, i + 1, &low) &&
	       tokens_mark(t, i + 2, ",") && number_at(t, i + 3, &high) &&
	       mark_in(t, i + 4, "])") && set_range(l, i, i + 5, low, high - (python || half_open));
}

static bool read_range(const struct tokens *t, size_t i, struct value_list *l)
{
	if (!read_span(t, i, l) && !read_inequality(t, i, l) && !read_interval(t, i, l)) {
		return false;
	}
	l->counts_text = WORD_IN(t, l->end, text_units);
	return true;
}

/* ---- labeled values ---- */

/* The end of the words that explain a number. */
static size_t skip_label(const struct tokens *t, size_t i)
{
	size_t end = i;

	while (end < i + LABEL_TOKENS && !is_stop(t, end) && !mark_in(t, end, ",|") &&
	       !is_conjunction(t, end)) {
		end++;
	}
	return end;
}

/* "0=left", "0: left", "0 - left", "0 (left)": returns the end, or i. */
static size_t read_explained(const struct tokens *t, size_t i, struct value_list *l)
{
	bool bracket = tokens_mark(t, i + 1, "(");
	bool dash = mark_in(t, i + 1, "-") && t->item[i + 1].spaced;

	if (!tokens_is(t, i, TOKEN_NUMBER) || !(bracket || dash || mark_in(t, i + 1, "=:")) ||
	    !(tokens_is(t, i + 2, TOKEN_WORD) || tokens_is(t, i + 2, TOKEN_QUOTED))) {
		return i;
	}
	size_t end = skip_label(t, i + 2);
	if (bracket && !tokens_mark(t, end++, ")")) {
		return i;
	}
	add_token(l, t, i);
	return end;
}

/* "left=0", "LEFT(0)": returns the end, or i. */
static size_t read_numbered(const struct tokens *t, size_t i, struct value_list *l)
{
	bool bracket = tokens_mark(t, i + 1, "(");

	if (!(tokens_is(t, i, TOKEN_WORD) || tokens_is(t, i, TOKEN_QUOTED)) ||
	    !(bracket || tokens_mark(t, i + 1, "=")) || !tokens_is(t, i + 2, TOKEN_NUMBER) ||
	    (bracket && !tokens_mark(t, i + 3, ")"))) {
		return i;
	}
	add_item(l, t->item[i].text, t->item[i + 2].text);
	return i + 3 + bracket;
}

/* The index after a separator of labeled values; i if there is none. */
static size_t skip_labeled_separator(const struct tokens *t, size_t i)
{
	size_t at = i;

	at += mark_in(t, at, ",;|");
	at += tokens_is(t, at, TOKEN_LINE);
	at += at > i && is_bullet(t, at);
	at += is_conjunction(t, at);
	return at;
}

static bool read_labeled(const struct tokens *t, size_t i, struct value_list *l)
{
	size_t at = i, next = i;

	do {
		size_t end = read_explained(t, next, l);

		end = end > next ? end : read_numbered(t, next, l);
		if (end == next) {
			break;
		}
		at = end;
		next = skip_labeled_separator(t, at);
	} while (next > at);
	l->shape = LIST_LABELED;
	l->begin = i;
	l->end = at;
	return l->count > 1;
}

/* ---- plain values ---- */

static bool is_in_capitals(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] >= 'a' && s.p[i] <= 'z') {
			return false;
		}
	}
	return s.n > 1;
}

static bool is_item(const struct tokens *t, size_t i)
{
	return tokens_is(t, i, TOKEN_NUMBER) || tokens_is(t, i, TOKEN_QUOTED) ||
	       (tokens_is(t, i, TOKEN_WORD) && !WORD_IN(t, i, connectives));
}

/* May i follow the first value of its list, at `first`? */
static bool is_alike(const struct tokens *t, size_t first, size_t i)
{
	enum token_kind a = t->item[first].kind, b = t->item[i].kind;

	if (a == TOKEN_WORD) {
		return true;
	}
	return a == b || (a == TOKEN_QUOTED && is_in_capitals(t->item[i].text));
}

struct separator {
	size_t next; /* index after it */
	bool comma, conjunction, pipe, slash, ellipsis;
};

/* The separator at i, if any: next > i. */
static struct separator read_separator(const struct tokens *t, size_t i)
{
	struct separator s = {.next = i};

	s.slash = mark_in(t, i, "/") && !t->item[i].spaced && i + 1 < t->count &&
	          !t->item[i + 1].spaced;
	s.pipe = mark_in(t, i, "|");
	s.comma = mark_in(t, i, ",");
	s.next += s.slash || s.pipe || s.comma;
	s.next += s.comma && tokens_is(t, s.next, TOKEN_LINE);
	if (s.comma && is_ellipsis(t, s.next) && mark_in(t, s.next + 1, ",")) {
		s.ellipsis = true;
		s.next += 2;
	}
	if (!s.slash && is_conjunction(t, s.next)) {
		s.conjunction = true;
		s.next++;
	}
	return s;
}

static bool separates(const struct tokens *t, size_t i)
{
	return read_separator(t, i).next > i;
}

/* The end of the value at i: one token, or the words of a phrase where those are allowed and
   end with the value. */
static size_t item_end(const struct tokens *t, size_t i, bool phrases)
{
	size_t end = i + 1;

	if (!phrases || !tokens_is(t, i, TOKEN_WORD)) {
		return end;
	}
	while (end < i + PHRASE_TOKENS && !separates(t, end) &&
	       (tokens_is(t, end, TOKEN_WORD) || tokens_is(t, end, TOKEN_NUMBER))) {
		end++;
	}
	return separates(t, end) || is_stop(t, end) ? end : i + 1;
}

/* A bare word after a comma is only a value if the sentence does not continue after it. */
static bool continues(const struct tokens *t, size_t i, const struct separator *s)
{
	return s->conjunction || !tokens_is(t, i, TOKEN_WORD) || separates(t, i + 1) ||
	       is_stop(t, i + 1) || mark_in(t, i + 1, "(");
}

static void add_phrase(struct value_list *l, const struct tokens *t, size_t i, size_t end)
{
	struct str first = t->item[i].text, last = t->item[end - 1].text;
	double n;

	first.n = (size_t)(last.p + last.n - first.p);
	add_item(l, first, end == i + 1 && json_double_text(first, &n) ? first : STR_NONE);
}

static enum list_shape shape_of(const struct tokens *t, const struct value_list *l, bool piped)
{
	bool numbers = true, capitals = true;

	for (size_t i = 0; i < l->count; i++) {
		numbers &= l->item[i].number.p != NULL;
		capitals &= is_in_capitals(l->item[i].text);
	}
	if (piped || tokens_is(t, l->begin, TOKEN_QUOTED)) {
		return LIST_MARKED;
	}
	return numbers ? LIST_NUMBERS : capitals ? LIST_MARKED : LIST_WORDS;
}

/* "0, 1, .., 8" is a range. */
static bool close_gap(struct value_list *l)
{
	double low, high;

	return json_double_text(l->item[0].number, &low) &&
	       json_double_text(l->item[l->count - 1].number, &high) &&
	       set_range(l, l->begin, l->end, low, high);
}

static bool read_plain(const struct tokens *t, size_t i, bool phrases, struct value_list *l)
{
	struct separator s = {.next = i};
	size_t at = i, slashes = 0, commas = 0;
	bool pipes = false, gap = false;

	l->begin = i;
	while (is_item(t, s.next) && is_alike(t, i, s.next)) {
		size_t end = item_end(t, s.next, phrases);

		if (l->count && end == s.next + 1 && !continues(t, s.next, &s)) {
			break;
		}
		add_phrase(l, t, s.next, end);
		slashes += s.slash;
		commas += s.comma;
		pipes |= s.pipe;
		gap |= s.ellipsis;
		l->joined |= s.pipe || (s.conjunction && tokens_word(t, s.next - 1, "or"));
		at = end;
		s = read_separator(t, at);
		if (s.next == at) {
			break;
		}
	}
	l->end = at;
	if (l->count < 2 || (gap && close_gap(l))) {
		return l->count > 1;
	}
	l->shape = shape_of(t, l, pipes || slashes > 1);
	/* "rows 3 and 4" is a list only if something says so */
	l->joined |= commas > 0 && l->shape == LIST_NUMBERS;
	return l->shape != LIST_NUMBERS || !slashes;
}

/* One value a line: "- red: stop" */
static bool read_bullets(const struct tokens *t, size_t i, struct value_list *l)
{
	size_t at = i;

	l->begin = i;
	while (l->count < VALUES_MAX && tokens_is(t, at, TOKEN_LINE) && is_bullet(t, at + 1) &&
	       is_item(t, at + 2)) {
		add_token(l, t, at + 2);
		for (at += 3; at < t->count && !tokens_is(t, at, TOKEN_LINE); at++) {
		}
	}
	l->end = at;
	l->shape = shape_of(t, l, false);
	l->joined = true;
	return l->count > 1;
}

/* ---- what precedes a list ---- */

/* The token before the list and its brackets and line ends. */
static size_t before(const struct tokens *t, size_t i, bool *bracket)
{
	*bracket = false;
	for (int n = 0; n < BRACKETS && i; n++, i--) {
		if (mark_in(t, i - 1, "[({")) {
			*bracket = true;
		} else if (!tokens_is(t, i - 1, TOKEN_LINE)) {
			break;
		}
	}
	return i;
}

static bool ends_sentence(const struct tokens *t, size_t i)
{
	return tokens_is(t, i, TOKEN_LINE) || mark_in(t, i, ";!?") ||
	       (mark_in(t, i, ".") &&
	        (i + 1 >= t->count || t->item[i + 1].spaced || tokens_is(t, i + 1, TOKEN_LINE)));
}

/* Notes what the sentence says before the list; false: it excludes these values. */
static bool look_before(const struct tokens *t, struct value_list *l)
{
	bool bracket;
	size_t end = before(t, l->begin, &bracket), i = end;
	bool excluded = false;

	if (end) {
		l->colon =
			mark_in(t, end - 1, ":=") && end > 1 && !WORD_IN(t, end - 2, prose_labels);
		l->introduced = l->colon || bracket || WORD_IN(t, end - 1, introductions);
	}
	for (size_t n = 0; i && n < CUE_TOKENS && !ends_sentence(t, i - 1); n++) {
		i--;
		l->cued |= WORD_IN(t, i, cues);
		excluded |= WORD_IN(t, i, exclusions) ||
		            (tokens_word(t, i, "not") && tokens_word(t, i + 1, "be"));
	}
	return !excluded;
}

/* Reads the list that begins at i; its end is at least i + 1 in any case. */
static bool read_list(const struct tokens *t, size_t i, struct value_list *l)
{
	bool bracket;
	size_t start = before(t, i, &bracket);
	/* "expected red" is not a phrase */
	bool phrases = (bracket || (start && tokens_mark(t, start - 1, ":"))) &&
	               !WORD_IN(t, i, cues) && !WORD_IN(t, i, introductions);
	const struct value_list none = {.end = i + 1};

	*l = none;
	if (read_range(t, i, l)) {
		return true;
	}
	*l = none;
	if (read_labeled(t, i, l)) {
		return true;
	}
	*l = none;
	if (tokens_is(t, i, TOKEN_LINE)) {
		return read_bullets(t, i, l);
	}
	if (!read_plain(t, i, phrases, l)) {
		l->end = l->end > i ? l->end : i + 1;
		return false;
	}
	return true;
}

size_t value_lists_read(const struct tokens *t, struct arena *arena, struct value_list **out)
{
	struct value_list l;
	size_t count = 0;

	*out = NULL;
	for (size_t i = 0; i < t->count && count < VALUE_LISTS_MAX;) {
		bool found = read_list(t, i, &l);

		if (found && look_before(t, &l)) {
			*out = arena_grow(arena, *out, count, sizeof(**out));
			(*out)[count++] = l;
		}
		/* the lines of bullets may have lists of their own */
		i = l.end > i && !tokens_is(t, i, TOKEN_LINE) ? l.end : i + 1;
	}
	return count;
}

bool value_list_is_clear(const struct value_list *l)
{
	switch (l->shape) {
	case LIST_RANGE:
	case LIST_LABELED:
	case LIST_MARKED:
		return true;
	case LIST_NUMBERS:
		return l->joined || l->cued;
	case LIST_WORDS:
		break;
	}
	return l->introduced && (l->cued || (l->colon && (l->joined || l->count > 2)));
}
