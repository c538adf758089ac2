/* The directory stats/: metrics over many recordings. Interpreting lines belongs in evidence/,
   printing metrics in report/. */

/* Collects metrics from the facts of any number of rollouts: one set per task, about 700
   bytes. */
#pragma once

#include "evidence/evidence.h"
#include "stats/metrics.h"

struct stats;

/* The caller's memory for a rollout, of size facts_conf.user_size: state needed at its end. */
struct stats_rollout {
	bool replied; /* a model replied */
	bool clipped; /* its last reply ended at the token limit */
};

struct stats *stats_new(void);
void stats_free(struct stats *s); /* NULL is fine */

/* Adds what evidence_line and evidence_end_next report about a rollout. */
void stats_take(struct stats *s, const struct evidence_update *u);

/* Call it when all rollouts have ended. Passes each task's metrics in the order of their ids
   (absent for rollouts without a task), then all of them merged. */
void stats_finish(struct stats *s,
                  void (*each)(void *ctx, struct str task, const struct metrics *m), void *ctx,
                  struct metrics *total);
