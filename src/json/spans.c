/* Finds the ends of all containers of a value: see spans.h. */
#include "json/spans.h"

#include "json/lex.h"

#include <stdlib.h>

#define SHORT 4096 /* bytes; scanning shorter values again costs next to nothing */

/* ---- one pass over the value ---- */

struct pass {
	struct json_spans *x;
	size_t room;
	uint32_t open[JSON_DEPTH_MAX + JSON_DEPTH_AROUND]; /* indices into x->items */
	size_t depth;
};

static void open_span(struct pass *s, size_t at)
{
	struct json_spans *x = s->x;

	if (x->count == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		x->items = mem_resize(x->items, s->room, sizeof(*x->items));
	}
	s->open[s->depth++] = (uint32_t)x->count;
	x->items[x->count++] = (struct json_span){.at = (uint32_t)at};
}

static void close_span(struct pass *s, size_t at, bool empty)
{
	struct json_span *span = &s->x->items[s->open[--s->depth]];

	span->end = (uint32_t)at + 1;
	span->count += !empty; /* one more than the commas */
}

void json_spans_begin(struct json_spans *x, struct str value)
{
	const unsigned char *begin = lex_begin(value), *end = lex_end(value), *p = begin;
	struct pass s = {.x = x};
	bool empty = false; /* nothing was read since the last opening bracket */

	*x = (struct json_spans){.value = value};
	if (value.n < SHORT || value.n >= UINT32_MAX) {
		return;
	}
	while (p < end) {
		bool opens = *p == '[' || *p == '{';

		if (*p == '"') {
			p = lex_string(p, end);
			empty = false;
			continue;
		}
		if (opens) {
			if (s.depth == ARRAY_LEN(s.open)) {
				json_spans_release(x);
				return;
			}
			open_span(&s, (size_t)(p - begin));
		} else if (*p == ']' || *p == '}') {
			close_span(&s, (size_t)(p - begin), empty);
		} else if (*p == ',') {
			x->items[s.open[s.depth - 1]].count++;
		}
		empty = opens || (empty && lex_is_blank(*p));
		p++;
	}
}

void json_spans_release(struct json_spans *x)
{
	free(x->items);
	*x = (struct json_spans){.items = NULL};
}

/* ---- look-up ---- */

static const struct json_span *find(const struct json_spans *x, const unsigned char *p)
{
	size_t at = (size_t)(p - lex_begin(x->value)), low = 0, high = x->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->items[middle].at < at) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return &x->items[low];
}

static const unsigned char *after(const struct json_spans *x, const unsigned char *p,
                                  const unsigned char *end)
{
	return *p == '[' || *p == '{' ? lex_begin(x->value) + find(x, p)->end : lex_value(p, end);
}

bool json_spans_next(const struct json_spans *x, struct str array, size_t *cursor,
                     struct str *element)
{
	if (!x->items) {
		return json_next(array, cursor, element);
	}
	const unsigned char *p = lex_next_child(array, *cursor, '[');
	if (!p) {
		return false;
	}
	*element = lex_slice(p, after(x, p, lex_end(array)));
	*cursor = (size_t)(lex_end(*element) - lex_begin(array));
	return true;
}

bool json_spans_next_member(const struct json_spans *x, struct str object, size_t *cursor,
                            struct json_member *member)
{
	if (!x->items) {
		return json_next_member(object, cursor, member);
	}
	const unsigned char *p = lex_next_child(object, *cursor, '{'), *end = lex_end(object);
	if (!p) {
		return false;
	}
	const unsigned char *key_end = lex_string(p, end);
	member->key = lex_slice(p + 1, key_end - 1);
	p = lex_blanks(lex_blanks(key_end, end) + 1, end);
	member->value = lex_slice(p, after(x, p, end));
	member->type = json_type(member->value);
	*cursor = (size_t)(lex_end(member->value) - lex_begin(object));
	return true;
}

size_t json_spans_count(const struct json_spans *x, struct str container)
{
	return x->items && container.n ? find(x, lex_begin(container))->count
	                               : json_count(container);
}
