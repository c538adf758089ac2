/* Allocation that cannot fail, and arenas: see mem.h. */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc keeps freed blocks up to this size in a per-thread cache that calloc() does not use:
   with a thousand threads this adds up. */
#define CACHED_BYTES ((size_t)1032)

_Noreturn void mem_failed(size_t bytes)
{
	fprintf(stderr, "rolldbg: out of memory (%zu bytes requested)\n", bytes);
	abort();
}

static size_t product(size_t count, size_t size)
{
	size_t bytes = 0;

	if (__builtin_mul_overflow(count, size, &bytes))
		mem_failed(SIZE_MAX);
	return bytes ? bytes : 1;
}

void *mem_new(size_t bytes)
{
	return mem_array(1, bytes);
}

void *mem_array(size_t count, size_t size)
{
	size_t bytes = product(count, size);
	void *p = bytes > CACHED_BYTES ? calloc(1, bytes) : malloc(bytes);

	if (!p)
		mem_failed(bytes);
	return bytes > CACHED_BYTES ? p : memset(p, 0, bytes);
}

void *mem_resize(void *p, size_t count, size_t size)
{
	void *bigger = realloc(p, product(count, size));

	if (!bigger)
		mem_failed(count * size);
	return bigger;
}

void mem_free_all(void *list, size_t count)
{
	void **items = list;

	for (size_t i = 0; items && i < count; i++)
		free(items[i]);
	free(items);
}

char *mem_text(struct str s)
{
	char *p = mem_array(1, s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	return p;
}

/* Most arenas stay small, and a thousand rollouts have many of them: blocks start small, and each
   has half the size of all before it, so that at most a third of an arena is unused. */
#define ARENA_FIRST ((size_t)512)
#define ARENA_BLOCK ((size_t)4096)

struct arena_block {
	struct arena_block *before;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

static size_t next_size(const struct arena *a, size_t need)
{
	size_t size = a->bytes / 2 > ARENA_FIRST ? a->bytes / 2 : ARENA_FIRST;

	size = size < ARENA_BLOCK ? size : ARENA_BLOCK;
	return need > size ? need : size;
}

static void add_block(struct arena *a, size_t size)
{
	struct arena_block *b = mem_new(sizeof(*b) + size);

	b->size = size;
	b->before = a->last;
	a->last = b;
}

void *arena_new(struct arena *a, size_t bytes)
{
	const size_t align = _Alignof(max_align_t);
	struct arena_block *b = a->last;
	size_t need = bytes ? (bytes + align - 1) / align * align : align;

	if (need < bytes)
		mem_failed(bytes);
	if (!b || b->size - b->used < need) {
		add_block(a, next_size(a, need));
		b = a->last;
	}
	void *p = b->bytes + b->used;
	b->used += need;
	a->bytes += need;
	return p;
}

void *mem_grow(void *items, size_t count, size_t size)
{
	return count & (count - 1) ? items : mem_resize(items, count ? 2 * count : 1, size);
}

void *arena_grow(struct arena *a, void *items, size_t count, size_t size)
{
	if (count & (count - 1))
		return items;
	void *more = arena_new(a, (count ? 2 * count : 1) * size);
	if (count)
		memcpy(more, items, count * size);
	return more;
}

struct str arena_str(struct arena *a, struct str s)
{
	if (!s.p)
		return s;
	char *p = arena_new(a, s.n + 1);
	memcpy(p, s.p, s.n);
	return (struct str){p, s.n};
}

/* The block that is kept has room for everything allocated so far, so that an arena reused for each
   line stops allocating. */
void arena_reset(struct arena *a)
{
	struct arena_block *last = a->last;
	size_t room = a->bytes < ARENA_BLOCK ? a->bytes : ARENA_BLOCK;

	if (!last)
		return;
	if (last->before && last->size < room) {
		arena_release(a);
		add_block(a, room);
		return;
	}
	struct arena older = {.last = last->before};
	arena_release(&older);
	memset(last->bytes, 0, last->used);
	last->before = NULL;
	last->used = 0;
	a->bytes = 0;
}

void arena_release(struct arena *a)
{
	while (a->last) {
		struct arena_block *before = a->last->before;

		free(a->last);
		a->last = before;
	}
	a->bytes = 0;
}
