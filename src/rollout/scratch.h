/* Working memory of a line while it is made. Rollouts that wait for their servers hold
   none: those that write share a few, the one used last first, which is still in a
   processor's cache. */
#ifndef ROLLDBG_ROLLOUT_SCRATCH_H
#define ROLLDBG_ROLLOUT_SCRATCH_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

struct scratch {
	struct scratch *next; /* of those at rest */
	struct arena arena;
	struct buf text, value, parsed, hash;
	struct hasher *hasher;
};

/* Safe to use from many threads. */
struct scratch_pool;

struct scratch_pool *scratch_pool_new(void);
void scratch_pool_free(struct scratch_pool *p); /* all were given back; NULL is fine */

/* What is in its buffers is of no meaning. p NULL: it is made and freed each time. */
struct scratch *scratch_take(struct scratch_pool *p);
void scratch_give(struct scratch_pool *p, struct scratch *s);

#endif
