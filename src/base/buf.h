/* A growable byte buffer with a mandatory cap, so that a server cannot make us allocate without
   limit. Hitting the cap is sticky: an addition that does not fit is dropped as a whole, and
   `full` stays set until buf_clear(); check `full` before using the content. p[n] is NUL once
   anything was added.

   The caps also bound time: all processing of a peer's bytes is linear in their number, except
   sorting (tests/unit/test_scaling*.c count the work), so layers below net/ need no deadlines of
   their own. Deadlines and interrupts are checked where we wait, between messages. */
#pragma once

#include "base/base.h"
#include <stdarg.h>

struct buf {
	char *p;
	size_t n, cap, max;
	bool full;
};

#define BUF_MAX_MESSAGE ((size_t)64 << 20) /* a message or a line of a recording */
#define BUF_MAX_SMALL   ((size_t)64 << 10) /* header blocks, URLs, one option */

/* An empty buffer that never holds more than max bytes. */
#define BUF(max_bytes) ((struct buf){.max = (max_bytes)})

/* These functions all append. */
static inline void buf_add(struct buf *b, const void *bytes, size_t n);
static inline void buf_str(struct buf *b, struct str s); /* nothing if absent */
static inline void buf_text(struct buf *b, const char *terminated);
static inline void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* Reserves n bytes at the end and returns them; NULL, with `full` set, if the cap is exceeded.
   The caller writes up to n bytes and adds the number written to b->n. */
char *buf_room(struct buf *b, size_t n);

void buf_clear(struct buf *b);             /* keeps the memory */
void buf_set(struct buf *b, struct str s); /* replaces the content */
void buf_cut(struct buf *b, size_t n);     /* truncates to n bytes */
void buf_drop(struct buf *b, size_t n);    /* removes the first n bytes */
struct arena;
struct str buf_keep(struct buf *b, struct arena *a); /* a copy in the arena; b is released */
void buf_release(struct buf *b);                     /* a zeroed buf is fine; reusable afterwards */
/* Local ones, released where their scope ends: AUTO_BUF text = BUF(n), more = BUF(n); */
#define AUTO_BUF __attribute__((cleanup(buf_release))) struct buf
/* BUFS_RELEASE(&a, &b, ..) releases several. */
#define BUFS_RELEASE(...) bufs_release((struct buf *[]){__VA_ARGS__, NULL})
void bufs_release(struct buf **list);
struct str buf_view(const struct buf *b);  /* valid until the next change; never absent */
struct str buf_given(const struct buf *b); /* the same; absent if it is empty */
const char *buf_cstr(const struct buf *b); /* terminated; "" if nothing was added */

/* ---- inline, as lines of a recording are made of many small pieces ---- */

/* The slow path of buf_add: the buffer has to grow. */
void buf_add_growing(struct buf *b, const void *bytes, size_t n);

static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (UNLIKELY(b->full || n >= b->cap - b->n)) { /* cap is at most max + 1 */
		buf_add_growing(b, bytes, n);
		return;
	}
	if (n)
		memcpy(b->p + b->n, bytes, n);
	b->n += n;
	b->p[b->n] = '\0';
}

static inline void buf_str(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

static inline void buf_text(struct buf *b, const char *terminated)
{
	buf_add(b, terminated, strlen(terminated));
}

static inline void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}
