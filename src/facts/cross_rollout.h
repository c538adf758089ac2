/* Relations between rollouts: which environment belongs to which rollout, and which rollout
   acted while the state of another changed. */
#ifndef ROLLDBG_FACTS_CROSS_ROLLOUT_H
#define ROLLDBG_FACTS_CROSS_ROLLOUT_H

#include "facts/chance.h"
#include "facts/reply_sequence.h"
#include "facts/rollout_table.h"
#include "facts/succession.h"

#define COUNT_PLACES 16
#define COUNT_WINDOW 256 /* counts tracked; later ones are ignored */

/* Since the last reset of any rollout: can all counts be the same counter? */
struct shared_count {
	/* The possible range of its initial value: each count includes all steps recorded when
	   its step was sent, and none that was not sent yet. */
	int64_t base_low, base_high, steps;
	/* The last count after step n of a rollout; `varied`: two rollouts had different counts. */
	int64_t places[COUNT_PLACES];
	bool counted_before[COUNT_PLACES], varied;
	/* Between consecutive steps of a rollout it grew by a number other than one while no
	   other rollout called a tool; by more than one while others may have. */
	int64_t alone_otherwise, by_more;
};

/* The step counts that environments reported in all rollouts of a recording. Separate counters
   restart in each rollout, so the same numbers recur; a shared counter continues. */
struct count_sequence {
	uint64_t seen[COUNT_WINDOW / 64]; /* one bit per count, from `first` on */
	int64_t first, lowest, highest;
	int64_t taken, again; /* steps; steps with a count seen before */
	int64_t rollouts;     /* rollouts with a count */
	bool strange;         /* a count was below the window */
	struct shared_count window;
	int64_t windows; /* number of windows started */
	/* Between consecutive steps of a rollout the count grew by one; it did while no other
	   rollout called a tool. */
	int64_t by_one, alone_by_one;
	int64_t start; /* the newest rollout's count before its first step; valid if `started` */
	bool started, starts_differ;
	bool proven; /* in some window, all rollouts shared the counter */
};

struct cross_rollout {
	const struct rollout_table *open;
	const struct open_rollout *current; /* the rollout of the last line */
	struct map owners;                  /* by environment id */
	struct arena arena;
	int64_t clock; /* number of lines so far */
	int64_t begun; /* rollouts started in this file */
	int64_t files; /* files completed */
	struct count_sequence counts;
	struct sharing sharing;
	struct reply_sequence replies;
	struct succession succession;
	struct chance chance;
	/* The number of the rollout that last called a tool, the time of that call, and of the
	   last call of another rollout. */
	int64_t caller, called, other_called;
	/* Fingerprints of the last header's tool list: of its text, and of names and arguments. */
	uint64_t tools_text, tools_names;
};

void cross_rollout_release(struct cross_rollout *c); /* a zeroed one is fine */

/* Starts a new file: resets the counts over its rollouts. */
void cross_rollout_forget(struct cross_rollout *c);

/* Would the ids claimed in `other`, for another file, have had the same results after ours? */
bool cross_rollout_can_absorb(const struct cross_rollout *c, const struct cross_rollout *other);
/* Registers all ids of `other`; only if it can be absorbed. */
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

/* Records a tool call of that rollout. */
void cross_rollout_called(struct cross_rollout *c, const struct open_rollout *o);

/* Records a reset of the current rollout. */
void cross_rollout_reset(struct cross_rollout *c);

/* The time, by `clock`, of the last tool call of another rollout; 0: never. */
int64_t cross_rollout_others_called(const struct cross_rollout *c);

/* Adds the environment's count after a step of the current rollout. before: after its previous
   step; -1: unknown. */
void cross_rollout_count(struct cross_rollout *c, int64_t before, int64_t count);

/* Do several rollouts contribute to one sequence of counts? */
bool cross_rollout_counts_together(const struct cross_rollout *c);

#endif
