/* Replaces known texts in one pass over the bytes; in JSON, string by string. */
#include "recording/redact/replacer.h"

#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"

#include <stdlib.h>

#define FEW 4 /* up to this many texts are searched for one by one, which is faster then */

void replace_text(const struct text_replacer *r, struct str text, struct buf *out)
{
	size_t from = 0, end;
	const char *put;

	for (size_t at = 0; (put = r->find(r->ctx, text, &at, &end)); from = at = end) {
		buf_add(out, text.p + from, at - from);
		buf_text(out, put);
	}
	buf_str(out, str_skip(text, from));
}

/* The replacement for the first match; NULL: none. */
static const char *found(const struct text_replacer *r, struct str text)
{
	size_t at = 0, end;

	// cppcheck-suppress returnDanglingLifetime ; it is the replacement, no part of these
	return r->find(r->ctx, text, &at, &end);
}

/* ---- in JSON, token by token ---- */

/* The position after the closing quote of the string that begins at json[at]. */
static size_t string_end(struct str json, size_t at)
{
	for (at++; at < json.n && json.p[at] != '"'; at++)
		at += json.p[at] == '\\';
	return at < json.n ? at + 1 : json.n;
}

static size_t number_end(struct str json, size_t at)
{
	while (at < json.n && strchr("+-.0123456789eE", json.p[at]) && json.p[at])
		at++;
	return at;
}

/* A token to check, and the uncopied bytes before it. */
struct token {
	struct str before, text;
};

static bool replace_plain(const struct text_replacer *r, const struct token *t, struct buf *out)
{
	struct str inner = json_inner(t->text);

	if (!found(r, inner))
		return false;
	buf_str(out, t->before);
	buf_char(out, '"');
	replace_text(r, inner, out);
	buf_char(out, '"');
	return true;
}

/* A lone surrogate has no decoded form, so the whole string is replaced. */
static bool replace_escaped(const struct text_replacer *r, const struct token *t,
                            struct buf *scratch, struct buf *out)
{
	buf_clear(scratch);
	bool exact = json_decode(t->text, scratch);
	const char *put = found(r, buf_view(scratch));
	if (!put)
		return false;
	AUTO_BUF replaced = BUF(scratch->max);
	if (exact)
		replace_text(r, buf_view(scratch), &replaced);
	else
		buf_text(&replaced, put);
	buf_str(out, t->before);
	json_quote(out, buf_view(&replaced));
	return true;
}

static bool replace_number(const struct text_replacer *r, const struct token *t, struct buf *out)
{
	const char *put = found(r, t->text);

	if (!put)
		return false;
	buf_str(out, t->before);
	json_quote(out, str_from(put));
	return true;
}

bool replace_json(const struct text_replacer *r, struct str json, struct buf *scratch,
                  struct buf *out)
{
	size_t from = 0;

	for (size_t at = 0; at < json.n;) {
		char c = json.p[at];
		bool string = c == '"';
		bool number = r->numbers && (c == '-' || (c >= '0' && c <= '9'));

		if (!string && !number) {
			at++;
			continue;
		}
		size_t end = string ? string_end(json, at) : number_end(json, at);
		struct token t = {{json.p + from, at - from}, {json.p + at, end - at}};
		if (number                    ? replace_number(r, &t, out)
		    : json_has_escape(t.text) ? replace_escaped(r, &t, scratch, out)
		                              : replace_plain(r, &t, out)) {
			from = end;
		}
		at = end;
	}
	buf_str(out, str_skip(json, from));
	return from > 0;
}

static bool is_whole(const struct replacement *x)
{
	return x->n < REPLACER_INSIDE;
}

static struct str text_of(const struct replacement *x)
{
	return (struct str){x->text, x->n};
}

/* Texts shorter than four bytes are in one bucket. */
static size_t bucket_of(struct str text)
{
	uint32_t word = 0;

	if (text.n >= sizeof(word))
		memcpy(&word, text.p, sizeof(word));
	return word * UINT32_C(2654435761) >> 24;
}

/* Within a bucket the longest is first. */
static void fill_buckets(struct replacer *n)
{
	memset(n->buckets, 0, sizeof(n->buckets));
	n->whole = n->escaped = 0;
	for (size_t i = n->count; i > 0; i--) {
		struct replacement *x = &n->items[i - 1];
		uint32_t *first = &n->buckets[bucket_of(text_of(x))];

		x->next = *first;
		*first = (uint32_t)i;
		n->whole += is_whole(x);
		n->escaped += !x->plain;
	}
}

/* The item with that text, or NULL. */
static const struct replacement *item_of(const struct replacer *n, struct str text)
{
	for (uint32_t i = n->buckets[bucket_of(text)]; i; i = n->items[i - 1].next)
		if (str_eq(text_of(&n->items[i - 1]), text))
			return &n->items[i - 1];
	return NULL;
}

static void remove_oldest(struct replacer *n)
{
	size_t oldest = 0;

	for (size_t i = 1; i < n->count; i++)
		if (n->items[i].age < n->items[oldest].age)
			oldest = i;
	free(n->items[oldest].text);
	n->count--;
	memmove(&n->items[oldest], &n->items[oldest + 1], (n->count - oldest) * sizeof(*n->items));
}

/* Is the text free of characters that JSON must escape, or that are often escaped? */
static bool is_plain(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c < 0x20 || c == '"' || c == '\\' || c == '/')
			return false;
	}
	return true;
}

void replacer_add(struct replacer *n, struct str text, const char *put)
{
	size_t at = 0;

	if (text.n == 0 || item_of(n, text))
		return;
	while (at < n->count && n->items[at].n >= text.n)
		at++;
	n->items = mem_resize(n->items, n->count + 1, sizeof(*n->items));
	memmove(&n->items[at + 1], &n->items[at], (n->count - at) * sizeof(*n->items));
	n->items[at] = (struct replacement){.text = mem_text(text),
	                                    .n = text.n,
	                                    .put = put,
	                                    .plain = is_plain(text),
	                                    .age = n->added++};
	n->count++;
	if (n->max && n->count > n->max)
		remove_oldest(n);
	fill_buckets(n);
}

void replacer_release(struct replacer *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i].text);
	free(n->items);
	*n = (struct replacer){.max = n->max};
}

/* The known text that begins at text[at], or NULL. */
static const struct replacement *match(const struct replacer *n, struct str text, size_t at)
{
	const struct str rest = str_skip(text, at);

	if (rest.n < REPLACER_INSIDE)
		return at == 0 && n->whole ? item_of(n, text) : NULL;
	for (uint32_t i = n->buckets[bucket_of(rest)]; i; i = n->items[i - 1].next) {
		const struct replacement *x = &n->items[i - 1];

		if (!is_whole(x) && str_starts(rest, text_of(x)))
			return x;
	}
	return NULL;
}

static const char *find_id(const void *ctx, struct str text, size_t *at, size_t *end)
{
	const struct replacer *n = ctx;

	for (; n->count && *at < text.n; ++*at) {
		const struct replacement *x = match(n, text, *at);

		if (x) {
			*end = *at + x->n;
			return x->put;
		}
	}
	return NULL;
}

/* Is it in the JSON as a string of its own? */
static bool is_string(const struct replacement *x, struct str json)
{
	char string[REPLACER_INSIDE + 2] = "\"";

	memcpy(string + 1, x->text, x->n);
	string[x->n + 1] = '"';
	return find_in(json, (struct str){string, x->n + 2});
}

/* Are the bytes of one of the texts in the JSON? */
static bool has_bytes(const struct replacer *n, struct str json)
{
	size_t inside = n->count - n->whole;

	for (size_t i = inside; i < n->count; i++)
		if (is_string(&n->items[i], json))
			return true;
	if (inside > FEW)
		return found(&(struct text_replacer){.find = find_id, .ctx = n}, json);
	for (size_t i = 0; i < inside; i++)
		if (find_in(json, text_of(&n->items[i])))
			return true;
	return false;
}

bool replacer_is_free_canonical(const struct replacer *n, struct str json)
{
	return !n->escaped && !has_bytes(n, json);
}

bool replacer_replace_json(const struct replacer *n, struct str json, struct buf *scratch,
                           struct buf *out)
{
	const struct text_replacer r = {.find = find_id, .ctx = n};

	return replace_json(&r, json, scratch, out);
}
