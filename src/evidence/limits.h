/* All constants that decide a verdict, with their reasons. rolldbg-verdicts(7) lists them. */
#pragma once

#include <stddef.h>

/* Trials over which a member must change by the same amount to be a count: two equal differences
   are common in play, three are a habit. */
#define COUNT_TRIALS 3

/* Answered calls without effect that are an accusation, and different ones in a row that are a
   warning: one or two may be walls. */
#define STILL_CALLS 3

/* Failed steps in a row that rarely recover: of 9,435 public episodes that ended in three, fewer
   than one in a hundred succeeded. */
#define FAILED_RUN 3

/* Repeated calls that got their earlier reply from another state, and none that did not: two places may
   lead to a third by the same call, and do so twice by chance. */
#define REPEATS 3

/* Controls between which other rollouts acted that must show a change of a member that this
   rollout's own calls change: one may be a coincidence. */
#define SHARED_CONTROLS 2

/* Rollouts in a row that each began in the end state of the one before. */
#define CONTINUED_ROLLOUTS 3

/* Memory for the members of one rollout. Beyond it the effects of its steps are unknown. */
#define SERIES_BYTES ((size_t)32 << 20)
