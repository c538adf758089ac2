/* Allocation that never fails: if memory runs out, the program ends with a message. That is safe
   because every size controlled by a peer passes through a capped struct buf. */
#pragma once

#include "base/base.h"

void *mem_new(size_t bytes) __attribute__((returns_nonnull)); /* zeroed; free() it */
void *mem_array(size_t count, size_t size) __attribute__((returns_nonnull));
void *mem_resize(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
/* Ends the program as these functions do, when a library had no memory for that many bytes. */
_Noreturn void mem_failed(size_t bytes);
/* memset to 0 in the C library. Where the size is known, gcc clears with `rep stos`, which takes as long
   to start as the library for a kilobyte: for what is cleared for each line of a recording. */
static inline void mem_clear(void *p, size_t n)
{
	__asm__("" : "+r"(n));
	memset(p, 0, n);
}
/* Frees each of these pointers, and their list. */
void mem_free_all(void *list, size_t count);
char *mem_text(struct str s) __attribute__((returns_nonnull)); /* a terminated copy */

/* Storage with fixed addresses that is released as a whole: for facts with the lifetime of one
   rollout, document or command. A zeroed arena is empty and ready for use. */
struct arena {
	struct arena_block *last;
	size_t bytes; /* allocated so far, to enforce caps */
};

void *arena_new(struct arena *a, size_t bytes) __attribute__((returns_nonnull)); /* zeroed */
/* Makes room for one more item after the first `count` of a list from here, and returns the list. */
void *mem_grow(void *items, size_t count, size_t size) __attribute__((returns_nonnull));
/* Makes room for one more item after the first `count` of a list and returns the list, which
   moves when count is a power of two. `items` may be NULL if count is 0. */
void *arena_grow(struct arena *a, void *items, size_t count, size_t size)
	__attribute__((returns_nonnull));
/* A terminated copy; an absent s stays absent. */
struct str arena_str(struct arena *a, struct str s);
void arena_reset(struct arena *a);   /* empties it; keeps one block for reuse */
void arena_release(struct arena *a); /* empties it; a zeroed arena is fine */
/* A local one, released where its scope ends. */
#define AUTO_ARENA __attribute__((cleanup(arena_release))) struct arena
