/* Runs work on the items of a list in several threads and takes the results in the order of the
   list, as a sequential loop would. */
#pragma once

#include "base/error.h"

#define THREADS_MAX    64 /* threads are CPU-bound: more than processors do not help */
#define IN_ORDER_AHEAD 4  /* items per thread that may run ahead of the next one to be taken */

struct in_order {
	size_t count, jobs; /* jobs: at least 1 */
	/* Called in any thread, for several items at a time. The result may be NULL. */
	void *(*work)(void *ctx, size_t index);
	/* Called in the calling thread, in the order of the items. Takes ownership of the
	   result. -1 with err set stops the run. */
	int (*take)(void *ctx, size_t index, void *result, struct error *err);
	/* Frees a result that was not taken. */
	void (*drop)(void *ctx, void *result);
	void *ctx;
};

/* Returns when all threads have ended: 0, or -1 if `take` failed. At most jobs * IN_ORDER_AHEAD
   results are pending. If no thread can be created, the calling one does the work. */
MUST_USE int in_order_run(const struct in_order *conf, struct error *err);
