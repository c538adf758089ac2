/* The first step at which a replay differs from its golden, and the steps from there on. */
#ifndef ROLLDBG_REPORT_DIVERGENCE_H
#define ROLLDBG_REPORT_DIVERGENCE_H

#include "compare/compare.h"
#include "report/report.h"

/* A golden and its replay. */
struct replayed_pair {
	const struct rollout_copy *want, *got;
};

/* Appends "  first divergence: step 1 of 6; from there on 5 calls, 2 ok, 1 effective; finished,
   reward 0 (golden: terminated, reward 1)", wrapped on a terminal; `first` is the first
   difference. */
void report_divergence(const struct replayed_pair *pair, const struct difference *first,
                       struct style style, struct buf *out);
/* The same as a JSON line {"type":"divergence",..}. */
void report_divergence_json(const struct replayed_pair *pair, const struct difference *first,
                            const char *file, struct buf *out);

/* How a rollout ended: its recorded status, or "incomplete" if it has no end; its reward as raw
   JSON. */
struct str rollout_copy_status(const struct rollout_copy *r);
struct str rollout_copy_reward(const struct rollout_copy *r);

#endif
