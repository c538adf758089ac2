/* Metrics of a part of the rollouts as text. Merging all parts gives the same bytes as
   processing all recordings at once. Only readable by the same version of the program: a first
   line with the format version, and one line per task. */
#pragma once

#include "base/error.h"
#include "stats/stats.h"

struct partial_head {
	bool trained;       /* a trainer's log-probabilities were given */
	uint64_t shard, of; /* of divided work: from 1; 0: not divided */
};

/* Appends everything collected so far. */
void partial_write(const struct stats *s, const struct partial_head *head, struct buf *out);

/* Called with the head of each partial result; -1 with err set refuses it. */
typedef int partial_head_fn(void *ctx, const struct partial_head *head, struct error *err);

/* Adds the output of one or more calls of partial_write. FAIL_INPUT, "NAME:LINE: ..", also for
   truncated text. */
MUST_USE int partial_read(struct stats *s, struct str text, const char *name, partial_head_fn *take,
                          void *ctx, struct error *err);
