/* Decreases of the environment's own step count within an episode. A decrease is not evidence of
   another environment if the step ended an episode or a level, if the episode goes on, or if the
   call took the environment back to an earlier point (undo, load). */
#ifndef ROLLDBG_FACTS_COUNT_DECREASES_H
#define ROLLDBG_FACTS_COUNT_DECREASES_H

#include "facts/rollout_facts.h"

#define COUNT_DECREASES_POINTS 32 /* points that are remembered */
#define COUNT_DECREASES_CHUNK  8
#define COUNT_DECREASES_CALLS  32 /* calls that are remembered */

/* The count, and the beginning of the state's hash at that time. */
struct count_point {
	int64_t count;
	uint64_t state;
};

/* Ready for use if zeroed. */
struct count_decreases {
	int64_t count; /* the last one, if `known` */
	bool known;
	int64_t increases;
	struct span decreases; /* those that are evidence */
	int64_t from, to;      /* of the first one */
	/* Times that the count could not be read after at least one step, and was no higher when it
	   could be read again. */
	struct span restarts;
	int64_t unread; /* steps since the last known count */

	/* in chunks: most rollouts need one */
	struct count_point *points[COUNT_DECREASES_POINTS / COUNT_DECREASES_CHUNK];
	size_t point_count;
	uint64_t counted[COUNT_DECREASES_CALLS]; /* calls over which the count increased */
	size_t counted_count;
	int64_t learned;    /* calls from which these were learned */
	double best_reward; /* the highest, above zero, of a step that increased the count */
	/* The newest call decreased the count: evidence unless the next state shows that the
	   episode goes on or, if the call never increased the count, that it took the
	   environment back. */
	bool undecided, was_counted;
	int64_t undecided_from, turn, step;
	uint64_t call, episode; /* the call, and a hash of the episode's id before it; 0: none */
	bool returned;          /* it was taken back, and no counted call followed yet */
};

/* Adds a step. arena: the rollout's, which keeps the points. */
void count_decreases_step(struct count_decreases *c, struct arena *arena,
                          const struct derived_line *m);

/* Adds the end, which shows the state after the last step; l: NULL if there is no end line. */
void count_decreases_end(struct count_decreases *c, struct arena *arena, const struct line *l);

/* The next count is not compared with the last one: a reset was made. */
void count_decreases_reset(struct count_decreases *c);

#endif
