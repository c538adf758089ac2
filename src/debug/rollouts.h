/* The rollouts of a recording, found by their first lines. */
#ifndef ROLLDBG_DEBUG_ROLLOUTS_H
#define ROLLDBG_DEBUG_ROLLOUTS_H

#include "recording/reader.h"

struct rollout_place {
	struct str id;
	int64_t instance; /* from 1: counts rollouts with the same id */
	uint64_t offset, line;
};

/* Polled while the file is read: true aborts with FAIL_INTERRUPTED. May be NULL. */
struct rollouts_interrupt {
	bool (*interrupted)(void *ctx);
	void *ctx;
};
/* Returns -1 with err set to abort, 1 to stop successfully, 0 to continue. */
typedef int rollout_place_fn(void *ctx, const struct rollout_place *p, struct error *err);

/* Calls back for every rollout, in order of their first lines. Reads the whole file. */
MUST_USE int rollouts_each(const char *path, const struct rollouts_interrupt *interrupt,
                           rollout_place_fn *take, void *ctx, struct error *err);

#endif
