/* Gathers metrics from what a judge tells of its lines and rollouts: one set a task, some
   700 bytes. */
#ifndef ROLLDBG_STATS_STATS_H
#define ROLLDBG_STATS_STATS_H

#include "check/judge.h"
#include "stats/metrics.h"

struct stats;

struct stats *stats_new(void);
void stats_free(struct stats *s); /* NULL is fine */

/* judge_conf.line, and .verdict. */
void stats_line(struct stats *s, const struct rollout_facts *r, const struct moment *m);
void stats_rollout(struct stats *s, const struct rollout_verdict *v);

/* When the judge has finished. Each task's metrics in the order of their ids (task
   absent: the rollouts without one), and all of them merged. */
void stats_finish(struct stats *s,
                  void (*each)(void *ctx, struct str task, const struct metrics *m),
                  void *ctx, struct metrics *total);

#endif
