/* Goldens as a suite: the shard that one of several machines replays, and whether goldens and tasks
   match. */
#pragma once

#include "cmd/golden/goldens.h"
#include "cmd/reports.h"

#define MEMBERS suite
#include "cmd/options/members.h"

struct suite {
	const struct suite_options *options;
	bool directories;         /* all operands are directories, that is, whole suites */
	size_t obsolete, missing; /* numbers of goldens */
	struct task_list *tasks;  /* NULL: none given */
};

/* Reads the tasks, and reduces files to those of the shard. FAIL_USAGE, FAIL_INPUT. suite_release
   accepts a zeroed suite. */
MUST_USE int suite_open(struct suite *s, const struct context *c, const struct suite_options *o,
                        char *const *operands, size_t count, struct file_list *files,
                        struct error *err);
/* For tasks without a golden that can be recorded now (those with actions or a policy of their
   own): adds a golden, and a file in `directory` to the list. Does nothing if suite_judge would not
   judge. */
MUST_USE int suite_add_missing(struct suite *s, struct goldens *g, struct file_list *files,
                               const char *directory, const struct opt_list *masks,
                               struct error *err);
/* Reports each golden without a task as obsolete and each task without a golden as missing: a case
   each, and a table line. `whole`: all goldens were replayed. Without tasks, or if this run covers
   only part of the suite, nothing is judged. */
void suite_judge(struct suite *s, const struct goldens *g, bool whole, struct reports *reports,
                 struct buf *out);
void suite_release(struct suite *s);
