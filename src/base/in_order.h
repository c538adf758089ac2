/* Work on the items of a list in several threads, with the results taken in the order of the list,
   as if there were one. */
#ifndef ROLLDBG_BASE_IN_ORDER_H
#define ROLLDBG_BASE_IN_ORDER_H

#include "base/error.h"

#define IN_ORDER_AHEAD 4 /* items a thread that may be done before their turn */

struct in_order {
	size_t count, jobs; /* jobs: at least 1 */
	/* In any thread, for several items at once. The result may be NULL. */
	void *(*work)(void *ctx, size_t index);
	/* In the calling thread, item by item. It owns the result. -1 with err set ends it all. */
	int (*take)(void *ctx, size_t index, void *result, struct error *err);
	/* Frees a result that nobody takes. */
	void (*drop)(void *ctx, void *result);
	void *ctx;
};

/* Returns when all threads have ended: 0, or -1 as `take` did. At most jobs * IN_ORDER_AHEAD
   results wait. Where no thread can be had the calling one does the work. */
MUST_USE int in_order_run(const struct in_order *conf, struct error *err);

#endif
