/* Calls that the environment does not count as steps, although it counted calls of the same tools
   before, and that do not change the state either. */
#ifndef ROLLDBG_FACTS_UNCOUNTED_CALLS_H
#define ROLLDBG_FACTS_UNCOUNTED_CALLS_H

#include "facts/rollout_facts.h"

#define UNCOUNTED_CALLS_KINDS 32 /* different calls that are remembered */

/* Ready for use if zeroed. */
struct uncounted_calls {
	struct span run; /* the last consecutive ones */
	bool resumed;    /* a call after one of them was counted */
	int64_t counted; /* number of calls that were counted */
	int64_t count;   /* the environment's last step count, if `known` */
	bool known;
	bool newest;    /* the newest call was not counted */
	uint64_t tools; /* bit set of tools that had a counted call */
	/* The different calls that were counted, and which of them the run contains. */
	uint64_t calls[UNCOUNTED_CALLS_KINDS];
	size_t call_count;
	bool too_many;
	uint32_t repeated, newest_bit; /* one bit each */
};

/* Adds a step that was answered ok, within the episode. */
void uncounted_calls_step(struct uncounted_calls *u, const struct derived_line *m);

/* Adds the effect of that step. */
void uncounted_calls_effect(struct uncounted_calls *u, const struct completed_step *p);

/* At least two different calls had been counted, and the run contains all of them: a wall would
   not block every call. */
bool uncounted_calls_are_all(const struct uncounted_calls *u);

#endif
