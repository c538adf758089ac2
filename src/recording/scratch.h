/* Working memory for writing a line. Rollouts that wait for their servers hold none; those that
   write share a few blocks, the most recently used first, because it is still in the processor's
   cache. */
#ifndef ROLLDBG_RECORDING_SCRATCH_H
#define ROLLDBG_RECORDING_SCRATCH_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

struct scratch {
	struct scratch *next; /* next in the pool */
	struct arena arena;
	struct buf text, value, parsed, hash;
	struct hasher *hasher;
};

/* Thread-safe. */
struct scratch_pool;

struct scratch_pool *scratch_pool_new(void);
void scratch_pool_free(struct scratch_pool *p); /* all must have been returned; NULL is fine */

/* The content of its buffers is undefined. If p is NULL, it is allocated and freed each time. */
struct scratch *scratch_take(struct scratch_pool *p);
void scratch_give(struct scratch_pool *p, struct scratch *s);

#endif
