/* A state whose keys at the top are new at each reading, such as generated ids, is ignored as a whole.
   Its values can still be compared, without their keys and in any order. */
#ifndef ROLLDBG_FACTS_UNNAMED_VALUES_H
#define ROLLDBG_FACTS_UNNAMED_VALUES_H

#include "base/buf.h"

/* The data of one rollout; zeroed at its start. */
struct unnamed_values {
	struct buf last; /* the values of the last state, as an array; empty: none */
	int64_t same, different;
};

void unnamed_values_release(struct unnamed_values *v);

/* A reset: the next state is not compared with the last one. */
void unnamed_values_reset(struct unnamed_values *v);

/* Adds the next state. Members that one of the pointers names are left out. */
void unnamed_values_add(struct unnamed_values *v, struct str state, const struct str *ignored,
                        size_t ignored_count);

/* Were there several states, all with the same values? */
bool unnamed_values_stay(const struct unnamed_values *v);

#endif
