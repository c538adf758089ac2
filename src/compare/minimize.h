/* The smallest part of a list that still passes a test: delta debugging, the algorithm ddmin of
   A. Zeller and R. Hildebrandt, Simplifying and Isolating Failure-Inducing Input (IEEE TSE 28(2),
   2002, doi:10.1109/32.988498). Short results are also tried without any two of their elements. */
#ifndef ROLLDBG_COMPARE_MINIMIZE_H
#define ROLLDBG_COMPARE_MINIMIZE_H

#include "base/error.h"

/* Elements of the list by their indexes, ascending. */
struct sublist {
	const size_t *index;
	size_t count;
};

struct minimize_conf {
	size_t count;     /* elements of the list, which passes the test */
	size_t at_once;   /* tests asked for in one call, at least 1 */
	size_t max_tests; /* then the search ends */
	/* Sets passes[i] for each. A list that did not pass is not asked for again. -1: the search ends. */
	int (*test)(void *ctx, const struct sublist *lists, size_t count, bool *passes,
	            struct error *err);
	/* After each round: how many elements are left. NULL: not wanted. */
	void (*progress)(void *ctx, size_t left, size_t tests);
	void *ctx;
};

struct minimized {
	size_t *index; /* free() it */
	size_t count, tests;
	bool is_minimal; /* without any one of its elements it does not pass; false: max_tests ended it */
};

/* The result does not depend on at_once, but the number of tests does. -1: as test; *out is then the
   best so far, too. */
MUST_USE int minimize(const struct minimize_conf *conf, struct minimized *out, struct error *err);

#endif
