/* Six properties of a healthy training run. */
#pragma once

#include "stats/metrics.h"

enum check_status { CHECK_OK, CHECK_FAIL, CHECK_UNKNOWN, CHECK_STATUSES };

const char *check_status_name(enum check_status s); /* "ok", "fail", "unknown" */

struct checklist_line {
	const char *name;
	enum check_status status;
	char value[160];
};

#define CHECKLIST 6

/* `supplied`: a trainer's log-probabilities were given. */
void checklist_make(const struct metrics *total, bool supplied,
                    struct checklist_line out[CHECKLIST]);
