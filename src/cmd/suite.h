/* Goldens as a suite: the part of them that one of several machines replays, and whether the
   goldens are those of the tasks. */
#ifndef ROLLDBG_CMD_SUITE_H
#define ROLLDBG_CMD_SUITE_H

#include "cmd/goldens.h"
#include "cmd/reports.h"

/* Embedded in a command's options struct. */
struct suite_options {
	const char *tasks, *shard;
};
extern const struct option_group suite_group;

struct suite {
	const struct suite_options *options;
	bool folders;             /* all operands are: whole suites */
	size_t obsolete, missing; /* goldens */
	struct task_list *tasks;  /* NULL: none given */
};

/* Reads the tasks, and keeps the files of the shard. FAIL_USAGE, FAIL_INPUT. Zeroed is fine for
   suite_release. */
MUST_USE int suite_open(struct suite *s, const struct suite_options *o, char *const *operands,
                        size_t count, struct file_list *files, struct error *err);
/* Adds to the goldens those of tasks without one that can be recorded now: of tasks with actions or a
   policy of their own. Their files are to be in `folder`, and are added to the list. Nothing where
   suite_judge would not judge. */
MUST_USE int suite_add_missing(struct suite *s, struct goldens *g, struct file_list *files,
                               const char *folder, const struct opt_list *masks, struct error *err);
/* A golden of no task is obsolete, a task without a golden is missing: a case for each, and a line
   for the table. `whole`: all goldens were replayed. Without tasks, or where this run is a part of
   the suite, nothing is judged. */
void suite_judge(struct suite *s, const struct goldens *g, bool whole, struct reports *reports,
                 struct buf *out);
void suite_release(struct suite *s);

#endif
