/* Draws from the values that a text lists. */
#ifndef ROLLDBG_POLICY_DRAW_LISTED_H
#define ROLLDBG_POLICY_DRAW_LISTED_H

#include "base/buf.h"
#include "base/rng.h"
#include "policy/value_lists.h"

/* What a schema accepts. */
struct listed_limits {
	bool text, number; /* at least one, or nothing fits */
	bool whole;        /* only integers */
	double low, high;  /* of numbers, both included */
	int64_t shortest, longest;
};

/* Is one of the listed values accepted? */
bool listed_fits(const struct value_list *l, const struct listed_limits *limits);
/* Appends one of them as JSON. False: none is accepted, and nothing was drawn. */
bool draw_listed(struct rng *r, const struct value_list *l, const struct listed_limits *limits,
                 struct buf *out);
/* The same for the first list of a parameter's own description that fits, with probability 7/8.
   False: nothing was appended. description: raw JSON string; absent: none. */
bool draw_described(struct rng *r, struct str description, const struct listed_limits *limits,
                    struct buf *out);

#endif
