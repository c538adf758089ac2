/* The rollouts of a recording, found by their first lines. */
#ifndef ROLLDBG_DEBUG_ROLLOUTS_H
#define ROLLDBG_DEBUG_ROLLOUTS_H

#include "trajectory/reader.h"

struct rollout_place {
	struct str id;
	int64_t instance; /* from 1: how many rollouts of that id came before it */
	uint64_t offset, line;
};

/* Asked while the file is read: true ends that with FAIL_INTERRUPTED. NULL: never. */
struct rollouts_interrupt {
	bool (*interrupted)(void *ctx);
	void *ctx;
};
/* -1 with err set ends the reading; 1 ends it as a success. */
typedef int rollout_place_fn(void *ctx, const struct rollout_place *p, struct error *err);

/* Every rollout, in the order in which they begin. Reads the whole file. */
MUST_USE int rollouts_each(const char *path, const struct rollouts_interrupt *interrupt,
                           rollout_place_fn *take, void *ctx, struct error *err);

#endif
