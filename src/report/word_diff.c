/* Word diff of two texts: see word_diff.h. */
#include "report/word_diff.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "compare/align.h"

#include <stdlib.h>

#define CONTEXT     ((size_t)8)       /* words and spaces of context around a change */
#define WORDS_MAX   ((size_t)1 << 17) /* per text */
#define CELLS_MAX   ((size_t)2000)    /* of the whole output, approximately */
#define SHARE_LEAST 4                 /* at least 1 of this many words must be in both texts */

struct word_list {
	struct str *words;
	uint64_t *hashes;
	size_t count;
};

enum letter { LETTER_WORD, LETTER_BLANK, LETTER_OTHER };

static enum letter letter_of(char c)
{
	unsigned char u = (unsigned char)c;

	if (u >= 0x80 || u == '_' || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') ||
	    (u >= 'a' && u <= 'z')) {
		return LETTER_WORD;
	}
	return u == ' ' || u == '\t' ? LETTER_BLANK : LETTER_OTHER;
}

/* The length of a run of letters, a run of whitespace, or one other character. */
static size_t word_length(struct str text)
{
	enum letter kind = letter_of(text.p[0]);
	size_t n = 1;

	while (kind != LETTER_OTHER && n < text.n && letter_of(text.p[n]) == kind)
		n++;
	return n;
}

static bool split(struct str text, struct word_list *out)
{
	size_t room = text.n < WORDS_MAX ? text.n : WORDS_MAX;

	*out = (struct word_list){.words = mem_array(room + 1, sizeof(*out->words)),
	                          .hashes = mem_array(room + 1, sizeof(*out->hashes))};
	while (text.n && out->count < WORDS_MAX) {
		struct str word = {text.p, word_length(text)};

		out->words[out->count] = word;
		out->hashes[out->count++] = map_hash(word);
		text = str_skip(text, word.n);
	}
	return text.n == 0;
}

static void release(struct word_list *l)
{
	free(l->words);
	free(l->hashes);
}

/* The aligned texts and the output. */
struct printing {
	const struct word_list *before, *after;
	const struct aligned *pairs;
	size_t count;
	struct word_diff_style style;
	struct buf *out;
};

static void put_word_range(const struct printing *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct aligned *a = &p->pairs[i];

		text_escape(p->out, a->kind == ALIGN_FIRST ? p->before->words[a->first]
		                                           : p->after->words[a->second]);
	}
}

static void put_changed(const struct printing *p, size_t from, size_t to)
{
	bool old = p->pairs[from].kind == ALIGN_FIRST;

	if (p->style.color)
		buf_text(p->out, old ? "\x1b[31m" : "\x1b[32m");
	if (p->style.marks)
		buf_text(p->out, old ? "[-" : "{+");
	put_word_range(p, from, to);
	if (p->style.marks)
		buf_text(p->out, old ? "-]" : "+}");
	buf_text(p->out, p->style.color ? "\x1b[0m" : "");
}

/* Prints equal words; of a long run only the start, if a change precedes it, and the end, if one
   follows. */
static void put_equal(const struct printing *p, size_t from, size_t to)
{
	size_t head = from == 0 ? 0 : CONTEXT, tail = to == p->count ? 0 : CONTEXT;

	if (to - from <= head + tail + 1) {
		put_word_range(p, from, to);
		return;
	}
	put_word_range(p, from, from + head);
	buf_text(p->out, "…");
	put_word_range(p, to - tail, to);
}

static void print(const struct printing *p)
{
	size_t began = p->out->n;

	for (size_t i = 0; i < p->count;) {
		size_t end = i; /* of the pairs of the same kind */

		while (end < p->count && p->pairs[end].kind == p->pairs[i].kind)
			end++;
		if (p->pairs[i].kind == ALIGN_BOTH)
			put_equal(p, i, end);
		else
			put_changed(p, i, end);
		i = end;
		if (p->out->n - began > CELLS_MAX && i < p->count) {
			buf_text(p->out, "…");
			return;
		}
	}
}

/* Whitespace and punctuation do not count: any two texts have them in common. */
static bool have_words_in_common(const struct printing *p)
{
	size_t common = 0, words = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct aligned *a = &p->pairs[i];
		struct str word = a->kind == ALIGN_FIRST ? p->before->words[a->first]
		                                         : p->after->words[a->second];
		bool is_word = letter_of(word.p[0]) == LETTER_WORD;

		words += is_word;
		common += is_word && a->kind == ALIGN_BOTH;
	}
	return common * SHARE_LEAST >= words && common > 0;
}

bool word_diff(struct str before, struct str after, struct word_diff_style style, struct buf *out)
{
	struct word_list a, b;
	bool whole = split(before, &a), readable = split(after, &b) && whole;

	if (readable) {
		struct aligned *pairs = mem_array(a.count + b.count + 1, sizeof(*pairs));
		struct printing p = {
			.before = &a, .after = &b, .pairs = pairs, .style = style, .out = out};

		p.count = align(a.hashes, a.count, b.hashes, b.count, pairs);
		readable = have_words_in_common(&p);
		if (readable)
			print(&p);
		free(pairs);
	}
	release(&a);
	release(&b);
	return readable;
}
