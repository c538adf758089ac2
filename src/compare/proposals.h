/* Finds options with which two rollouts are equal, if they differ only in values that look as if
   they vary from run to run: times and ids are masked, noise of fractions is tolerated, the order of
   lists is ignored. All of them are tried on the rollouts, and there are none unless no difference
   is left. A plain number or word is never masked, because goldens exist to compare them. */
#pragma once

#include "base/names.h"
#include "compare/compare.h"

enum proposed_kind { PROPOSE_MASK, PROPOSE_TOLERANCE, PROPOSE_UNORDERED };

struct proposed {
	enum proposed_kind kind;
	const char *pattern;
	int exponent; /* the tolerance is 10 to the power of it */
};

/* Zeroed is empty. */
struct proposals {
	struct proposed *items; /* in the arena */
	size_t count;
	/* Values in which else the rollouts differ, if they are numbers, ids within texts, or texts
	   with the same words: facts, or not. There are no options then. */
	struct names unstable;
	struct arena arena;
};

/* Sets *p, which must be empty. `conf` is what the rollouts were compared with. */
void proposals_find(struct proposals *p, const struct rollout_copy *first,
                    const struct rollout_copy *second, const struct compare_conf *conf);
/* Adds what was found for another rollout. */
void proposals_add(struct proposals *p, const struct proposals *more);
void proposals_release(struct proposals *p); /* leaves it empty; may be called twice */
