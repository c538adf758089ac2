/* Replaces known texts in one pass over the bytes; in JSON, string by string. */
#include "trajectory/replacer.h"

#include "base/find.h"
#include "base/mem.h"
#include "trajectory/replace_json.h"

#include <stdlib.h>

#define FEW 8 /* up to this many texts are searched for one by one */

static void refresh_first(struct replacer *n)
{
	memset(n->first, 0, sizeof(n->first));
	for (size_t i = 0; i < n->count; i++) {
		n->first[(unsigned char)n->items[i].text[0]] = true;
	}
}

static void remove_at(struct replacer *n, size_t at)
{
	free(n->items[at].text);
	n->count--;
	memmove(&n->items[at], &n->items[at + 1], (n->count - at) * sizeof(*n->items));
}

static void remove_oldest(struct replacer *n)
{
	size_t oldest = 0;

	for (size_t i = 1; i < n->count; i++) {
		if (n->items[i].age < n->items[oldest].age) {
			oldest = i;
		}
	}
	remove_at(n, oldest);
}

/* Is the text free of characters that JSON must escape, or that are often escaped? */
static bool is_plain(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c < 0x20 || c == '"' || c == '\\' || c == '/') {
			return false;
		}
	}
	return true;
}

void replacer_add(struct replacer *n, struct str text, const char *put, bool whole)
{
	size_t at = 0;

	if (text.n == 0) {
		return;
	}
	while (at < n->count && n->items[at].n >= text.n) {
		if (str_eq((struct str){n->items[at].text, n->items[at].n}, text)) {
			return;
		}
		at++;
	}
	n->items = mem_resize(n->items, n->count + 1, sizeof(*n->items));
	memmove(&n->items[at + 1], &n->items[at], (n->count - at) * sizeof(*n->items));
	n->items[at] = (struct replacement){.text = mem_text(text),
	                                    .n = text.n,
	                                    .put = put,
	                                    .whole = whole,
	                                    .plain = is_plain(text),
	                                    .age = n->added++};
	n->count++;
	if (n->max && n->count > n->max) {
		remove_oldest(n);
	}
	refresh_first(n);
}

void replacer_release(struct replacer *n)
{
	for (size_t i = 0; i < n->count; i++) {
		free(n->items[i].text);
	}
	free(n->items);
	*n = (struct replacer){.max = n->max};
}

/* The known text that begins at text[at], or NULL. */
static const struct replacement *match(const struct replacer *n, struct str text, size_t at)
{
	if (!n->first[(unsigned char)text.p[at]]) {
		return NULL;
	}
	for (size_t i = 0; i < n->count; i++) {
		const struct replacement *x = &n->items[i];
		bool fits = x->whole ? at == 0 && x->n == text.n : x->n <= text.n - at;

		if (fits && memcmp(text.p + at, x->text, x->n) == 0) {
			return x;
		}
	}
	return NULL;
}

static const struct replacement *first_match(const struct replacer *n, struct str text)
{
	for (size_t at = 0; n->count && at < text.n; at++) {
		const struct replacement *x = match(n, text, at);

		if (x) {
			return x;
		}
	}
	return NULL;
}

static void replace(const void *ctx, struct str text, struct buf *out)
{
	const struct replacer *n = ctx;
	size_t from = 0;

	for (size_t at = 0; at < text.n;) {
		const struct replacement *x = match(n, text, at);

		if (!x) {
			at++;
			continue;
		}
		buf_add(out, text.p + from, at - from);
		buf_text(out, x->put);
		at += x->n;
		from = at;
	}
	buf_str(out, str_skip(text, from));
}

static bool is_in(const struct replacement *x, struct str text)
{
	return find_in(text, (struct str){x->text, x->n});
}

static bool has_unicode_escape(struct str json)
{
	size_t at = 0;

	while (at < json.n) {
		const char *p = memchr(json.p + at, '\\', json.n - at);

		if (!p) {
			return false;
		}
		at = (size_t)(p - json.p) + 2;
		if (at > json.n || p[1] == 'u') {
			return true;
		}
	}
	return false;
}

/* Nearly all JSON contains none of the texts; a byte search is enough to show that, unless there
   are escapes. */
bool replacer_is_free(const struct replacer *n, struct str json)
{
	if (n->count == 0) {
		return true;
	}
	if (n->count > FEW) {
		return false;
	}
	for (size_t i = 0; i < n->count; i++) {
		if (!n->items[i].plain || is_in(&n->items[i], json)) {
			return false;
		}
	}
	return !has_unicode_escape(json);
}

bool replacer_is_free_canonical(const struct replacer *n, struct str json)
{
	for (size_t i = 0; i < n->count; i++) {
		if (i == FEW || !n->items[i].plain || is_in(&n->items[i], json)) {
			return false;
		}
	}
	return true;
}

static const char *found(const void *ctx, struct str text)
{
	const struct replacement *x = first_match(ctx, text);

	return x ? x->put : NULL;
}

bool replacer_replace_json(const struct replacer *n, struct str json, struct buf *scratch,
                           struct buf *out)
{
	struct text_replacer r = {.found = found, .replace = replace, .ctx = n};

	if (replacer_is_free(n, json)) {
		buf_str(out, json);
		return false;
	}
	return replace_json(&r, json, scratch, out);
}
