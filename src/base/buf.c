/* The capped, growable buffer: see buf.h. */
#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

char *buf_room(struct buf *b, size_t n)
{
	if (b->full || n > b->max || b->n > b->max - n) {
		b->full = true;
		return NULL;
	}
	size_t need = b->n + n + 1;
	if (need > b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 64;

		cap = cap > b->max ? b->max + 1 : cap;
		b->cap = cap > need ? cap : need;
		b->p = mem_resize(b->p, b->cap, 1);
	}
	return b->p + b->n;
}

void buf_add_growing(struct buf *b, const void *bytes, size_t n)
{
	char *room = buf_room(b, n);

	if (!room)
		return;
	if (n)
		memcpy(room, bytes, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
	size_t left = b->p ? b->cap - b->n : 0; /* usually fits at the first attempt */
	va_list again;

	va_copy(again, args);
	int n = vsnprintf(left ? b->p + b->n : NULL, left, fmt, again);
	va_end(again);
	char *room = n < 0 ? NULL : buf_room(b, (size_t)n);
	if (!room) {
		if (b->p)
			b->p[b->n] = '\0';
		b->full = true;
		return;
	}
	if ((size_t)n >= left)
		vsnprintf(room, (size_t)n + 1, fmt, args);
	b->n += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	buf_vprintf(b, fmt, args);
	va_end(args);
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->full = false;
	if (b->p)
		b->p[0] = '\0';
}

void buf_set(struct buf *b, struct str s)
{
	buf_clear(b);
	buf_str(b, s);
}

void buf_cut(struct buf *b, size_t n)
{
	if (n < b->n) {
		b->n = n;
		b->p[n] = '\0';
	}
}

void buf_drop(struct buf *b, size_t n)
{
	n = n < b->n ? n : b->n;
	if (n) {
		memmove(b->p, b->p + n, b->n - n);
		b->n -= n;
		b->p[b->n] = '\0';
	}
}

void buf_release(struct buf *b)
{
	free(b->p);
	b->p = NULL;
	b->n = b->cap = 0;
	b->full = false;
}

struct str buf_keep(struct buf *b, struct arena *a)
{
	struct str copy = arena_str(a, buf_view(b));

	buf_release(b);
	return copy;
}

void bufs_release(struct buf **list)
{
	while (*list)
		buf_release(*list++);
}

struct str buf_view(const struct buf *b)
{
	return (struct str){b->p ? b->p : "", b->n};
}

struct str buf_given(const struct buf *b)
{
	return b->n ? buf_view(b) : STR_NONE;
}

const char *buf_cstr(const struct buf *b)
{
	return b->p ? b->p : "";
}
