/* The smallest part of a list that still passes a test: delta debugging, the algorithm ddmin of
   A. Zeller and R. Hildebrandt, Simplifying and Isolating Failure-Inducing Input (IEEE TSE
   28(2), 2002, doi:10.1109/32.988498). Short results are also tried without any two of their
   elements. */
#pragma once

#include "base/error.h"

/* A sublist, as ascending indexes of its elements. */
struct sublist {
	const size_t *index;
	size_t count;
};

struct minimize_conf {
	size_t count;     /* number of elements in the list, which itself passes the test */
	size_t at_once;   /* maximum number of lists tested in one call, at least 1 */
	size_t max_tests; /* limit on the number of tests */
	/* Sets passes[i] for each list. Lists that failed before are not tested again. -1 stops
	   the search. */
	int (*test)(void *ctx, const struct sublist *lists, size_t count, bool *passes,
	            struct error *err);
	/* Called after each round with the number of remaining elements. May be NULL. */
	void (*progress)(void *ctx, size_t left, size_t tests);
	void *ctx;
};

struct minimized {
	size_t *index; /* to be freed by the caller */
	size_t count, tests;
	/* removing any one element makes the test fail; false: stopped by max_tests */
	bool is_minimal;
};

/* The result does not depend on at_once, but the number of tests does. Returns -1 if `test` did;
   *out is then the best result so far. */
MUST_USE int minimize(const struct minimize_conf *conf, struct minimized *out, struct error *err);
