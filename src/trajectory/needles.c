/* Replaces known texts in one pass over the bytes; in JSON, string by string. */
#include "trajectory/needles.h"

#include "base/mem.h"
#include "json/scan.h"
#include "json/write.h"

#include <stdlib.h>

static void refresh_first(struct needles *n)
{
	memset(n->first, 0, sizeof(n->first));
	for (size_t i = 0; i < n->count; i++)
		n->first[(unsigned char)n->items[i].text[0]] = true;
}

static void remove_at(struct needles *n, size_t at)
{
	free(n->items[at].text);
	n->count--;
	memmove(&n->items[at], &n->items[at + 1], (n->count - at) * sizeof(*n->items));
}

static void remove_oldest(struct needles *n)
{
	size_t oldest = 0;
	for (size_t i = 1; i < n->count; i++) {
		if (n->items[i].age < n->items[oldest].age)
			oldest = i;
	}
	remove_at(n, oldest);
}

void needles_add(struct needles *n, struct str text, const char *put, bool whole)
{
	size_t at = 0;
	if (text.n == 0)
		return;
	while (at < n->count && n->items[at].n >= text.n) {
		if (str_eq((struct str){n->items[at].text, n->items[at].n}, text))
			return;
		at++;
	}
	n->items = mem_resize(n->items, n->count + 1, sizeof(*n->items));
	memmove(&n->items[at + 1], &n->items[at], (n->count - at) * sizeof(*n->items));
	n->items[at] = (struct needle){mem_text(text), text.n, put, whole, n->added++};
	n->count++;
	if (n->max && n->count > n->max)
		remove_oldest(n);
	refresh_first(n);
}

void needles_release(struct needles *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i].text);
	free(n->items);
	*n = (struct needles){.max = n->max};
}

/* The needle that begins at text[at]. */
static const struct needle *match(const struct needles *n, struct str text, size_t at)
{
	if (!n->first[(unsigned char)text.p[at]])
		return NULL;
	for (size_t i = 0; i < n->count; i++) {
		const struct needle *x = &n->items[i];
		bool fits = x->whole ? at == 0 && x->n == text.n : x->n <= text.n - at;
		if (fits && memcmp(text.p + at, x->text, x->n) == 0)
			return x;
	}
	return NULL;
}

static const struct needle *first_match(const struct needles *n, struct str text)
{
	for (size_t at = 0; n->count && at < text.n; at++) {
		const struct needle *x = match(n, text, at);
		if (x)
			return x;
	}
	return NULL;
}

bool needles_found(const struct needles *n, struct str text)
{
	return first_match(n, text) != NULL;
}

bool needles_replace(const struct needles *n, struct str text, struct buf *out)
{
	size_t from = 0;
	bool found = false;
	for (size_t at = 0; n->count && at < text.n;) {
		const struct needle *x = match(n, text, at);
		if (!x) {
			at++;
			continue;
		}
		buf_add(out, text.p + from, at - from);
		buf_text(out, x->put);
		at += x->n;
		from = at;
		found = true;
	}
	buf_str(out, str_skip(text, from));
	return found;
}

/* Behind the closing quote of the string that begins at json[at]. */
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

/* One token that may have to give way, and what stands before it and is not yet copied.
 */
struct token {
	struct str before, text;
};

static bool replace_plain(const struct needles *n, const struct token *t, struct buf *out)
{
	struct str inner = json_inner(t->text);
	if (!first_match(n, inner))
		return false;
	buf_str(out, t->before);
	buf_char(out, '"');
	needles_replace(n, inner, out);
	buf_char(out, '"');
	return true;
}

/* A lone surrogate has no decoded form: the whole string gives way. */
static bool replace_escaped(const struct needles *n, const struct token *t,
                            struct buf *scratch, struct buf *out)
{
	buf_clear(scratch);
	bool exact = json_decode(t->text, scratch);
	const struct needle *x = first_match(n, buf_view(scratch));
	if (!x)
		return false;
	struct buf replaced = BUF(scratch->max);
	if (exact)
		needles_replace(n, buf_view(scratch), &replaced);
	else
		buf_text(&replaced, x->put);
	buf_str(out, t->before);
	json_quote(out, buf_view(&replaced));
	buf_release(&replaced);
	return true;
}

static bool replace_number(const struct needles *n, const struct token *t,
                           struct buf *out)
{
	const struct needle *x = first_match(n, t->text);
	if (!x)
		return false;
	buf_str(out, t->before);
	json_quote(out, str_from(x->put));
	return true;
}

bool needles_replace_json(const struct needles *n, struct str json, bool numbers,
                          struct buf *scratch, struct buf *out)
{
	size_t from = 0;
	for (size_t at = 0; n->count && at < json.n;) {
		char c = json.p[at];
		bool string = c == '"';
		bool number = numbers && (c == '-' || (c >= '0' && c <= '9'));
		if (!string && !number) {
			at++;
			continue;
		}
		size_t end = string ? string_end(json, at) : number_end(json, at);
		struct token t = {{json.p + from, at - from}, {json.p + at, end - at}};
		if (number                    ? replace_number(n, &t, out)
		    : json_has_escape(t.text) ? replace_escaped(n, &t, scratch, out)
		                              : replace_plain(n, &t, out))
			from = end;
		at = end;
	}
	buf_str(out, str_skip(json, from));
	return from > 0;
}
