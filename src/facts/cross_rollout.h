/* Relations between rollouts: which one holds which environment, and which one acted while the
   state of another changed. */
#ifndef ROLLDBG_FACTS_CROSS_ROLLOUT_H
#define ROLLDBG_FACTS_CROSS_ROLLOUT_H

#include "facts/rollout_table.h"
#include "facts/succession.h"

#define COUNT_PLACES 16
#define COUNT_WINDOW 256 /* size of the window of counts; later counts are ignored */

/* Since the newest reset of any rollout: could all counts be one? */
struct shared_count {
	/* What it began with, as far as each count leaves it open: it holds all steps that were
	   recorded when the step was sent, and none that is not under way. */
	int64_t base_low, base_high, steps;
	/* The newest count after a rollout's step of that number; two rollouts had different ones. */
	int64_t places[COUNT_PLACES];
	bool counted_before[COUNT_PLACES], varied;
	/* From one step of a rollout to its next: it grew by other than one while no other rollout
	   called a tool; by more than one while others may have. */
	int64_t alone_otherwise, by_more;
};

/* The step counts that environments reported in all rollouts of one recording. A separate count
   starts again in each rollout, so the same numbers recur; a shared count continues. */
struct count_sequence {
	uint64_t seen[COUNT_WINDOW / 64]; /* one bit per count, from `first` on */
	int64_t first, lowest, highest;
	int64_t taken, again; /* steps; those with a count seen before */
	int64_t rollouts;     /* rollouts with a count */
	bool strange;         /* a count was below the window */
	struct shared_count window;
	int64_t windows; /* how often that began anew */
	/* From one step of a rollout to its next the count grew by one; it did while no other
	   rollout called a tool. */
	int64_t by_one, alone_by_one;
	int64_t start; /* the newest rollout's before its first step; where that is known: */
	bool started, starts_differ;
	bool proven; /* it was the count of all, in some window */
};

struct cross_rollout {
	const struct rollout_table *open;
	const struct open_rollout *current; /* the one whose line came last */
	struct map owners;                  /* by environment id */
	struct arena arena;
	int64_t clock; /* number of lines so far */
	int64_t begun; /* rollouts of the file so far */
	int64_t files; /* those that are done */
	struct count_sequence counts;
	struct sharing sharing;
	struct succession succession;
	/* The number of the rollout whose call was the last; when; and when another one's was. */
	int64_t caller, called, other_called;
};

void cross_rollout_release(struct cross_rollout *c); /* a zeroed one is fine */

/* A new file: what is counted over the rollouts of one begins anew. */
void cross_rollout_forget(struct cross_rollout *c);

/* Would the claims of `other`, which saw another file, have had the same results behind ours? */
bool cross_rollout_can_absorb(const struct cross_rollout *c, const struct cross_rollout *other);
/* Then registers all its ids. */
void cross_rollout_absorb(struct cross_rollout *c, const struct cross_rollout *other);

/* Registers an environment's id for the current rollout. `kind` separates ids of different
   kinds; `mark` is the same for copies of one rollout, which may share an id. True if another
   rollout used the id before: *owner is that rollout's id, absent if it has ended. */
bool cross_rollout_claim(struct cross_rollout *c, char kind, struct str id, uint64_t mark,
                         struct str *owner);

/* If the current rollout's state changed without a call: the id of an open rollout that acted
   since this one's last line and whose state equals this one's before or after the change; else
   absent. */
struct str cross_rollout_mover(const struct cross_rollout *c);

/* That rollout has called a tool. */
void cross_rollout_called(struct cross_rollout *c, const struct open_rollout *o);

/* The current rollout was reset. */
void cross_rollout_reset(struct cross_rollout *c);

/* When another than the current rollout did so last, by `clock`; 0: never. */
int64_t cross_rollout_others_called(const struct cross_rollout *c);

/* The environment's count after a step of the current rollout; `before`: after the one before,
   -1. */
void cross_rollout_count(struct cross_rollout *c, int64_t before, int64_t count);

/* Do these rollouts share one count, that is, do several contribute to one sequence? */
bool cross_rollout_counts_together(const struct cross_rollout *c);

#endif
