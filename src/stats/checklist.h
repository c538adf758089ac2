/* What an RL engineer looks at first: six things that a healthy run has. */
#ifndef ROLLDBG_STATS_CHECKLIST_H
#define ROLLDBG_STATS_CHECKLIST_H

#include "stats/metrics.h"

enum check_status { CHECK_OK, CHECK_RED, CHECK_UNKNOWN, CHECK_STATUSES };

const char *check_status_name(enum check_status s); /* "ok", "red", "unknown" */

struct checklist_line {
	const char *name;
	enum check_status status;
	char value[160];
};

#define CHECKLIST 6

/* `supplied`: a trainer's log-probabilities were. */
void checklist_make(const struct metrics *total, bool supplied,
                    struct checklist_line out[CHECKLIST]);

#endif
