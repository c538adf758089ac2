/* Memory that is always there: allocation failure ends the program with one message.
   That is safe because every size a peer controls passes through a capped struct buf. */
#ifndef ROLLDBG_BASE_MEM_H
#define ROLLDBG_BASE_MEM_H

#include "base/base.h"

void *mem_new(size_t bytes) __attribute__((returns_nonnull)); /* zeroed; free() it */
void *mem_array(size_t count, size_t size) __attribute__((returns_nonnull));
void *mem_resize(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
char *mem_text(struct str s) __attribute__((returns_nonnull)); /* a terminated copy */

/* Fixed-address storage that is released at once: for facts that live as long as one
   rollout, one document or one command. A zeroed arena is empty and ready. */
struct arena {
	struct arena_block *last;
	size_t bytes; /* handed out so far, for caps */
};

void *arena_new(struct arena *a, size_t bytes)
	__attribute__((returns_nonnull)); /* zeroed */
struct str arena_str(struct arena *a,
                     struct str s);  /* a copy, terminated; absent stays absent */
void arena_reset(struct arena *a);   /* empty again; keeps a block for the next use */
void arena_release(struct arena *a); /* empty again; zeroed is fine */

#endif
