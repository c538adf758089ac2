/* Feeds lines of any number of interleaved rollouts to all rules and keeps the counters. Live runs and
   `check` use the same one. Memory: one state block an open rollout, 64 bytes a finished one. */
#ifndef ROLLDBG_CHECK_JUDGE_H
#define ROLLDBG_CHECK_JUDGE_H

#include "check/check.h"
#include "trajectory/reader.h"

/* The counters of one rollout. */
struct tally {
	int64_t turns, steps, failed, longest_failed_run;
	int64_t effective; /* -1: no step could be judged */
	int64_t unknown;   /* steps whose effect is not known */
	char reward[32];   /* JSON number as it stands in `end`, else the sum over ok steps; "null" */
};

/* Slices live for the call. */
struct rollout_verdict {
	const char *file;
	struct str rollout; /* id, with "#2" behind it for a second instance */
	struct str task;    /* task.id decoded; absent when there is none */
	struct str status;  /* end.status; "incomplete" when no end came */
	struct str reason;
	struct tally tally;
	const struct finding *findings; /* sorted: severity down, then first turn, then rule */
	size_t finding_count;
};

struct judge_conf {
	const char *only;    /* comma-separated rule ids; NULL: all */
	const char *without; /* comma-separated rule ids; NULL: none */
	/* Called when a rollout has ended (its end line came, or the input did). */
	void (*verdict)(void *ctx, const struct rollout_verdict *v);
	void *ctx;
};

struct judge;

/* FAIL_USAGE with the nearest name for an unknown rule. */
MUST_USE int judge_new(const struct judge_conf *conf, struct judge **out, struct error *err);
void judge_free(struct judge *j); /* NULL is fine */

/* A new file begins: rollouts still open end here. */
void judge_file(struct judge *j, const char *file);
/* -1, FAIL_INPUT: a header before that rollout's end (bad recording), a line of a rollout that has no
   header. note may be NULL (live). */
MUST_USE int judge_line(struct judge *j, const struct line *l, const struct reader_note *note,
                        struct error *err);
void judge_finish(struct judge *j); /* ends all that is open */

/* Over all rollouts so far. */
struct judge_summary {
	int64_t rollouts, turns, steps, effective, unknown, failed; /* effective -1: nowhere known */
	int64_t errors, warnings, infos;
	char reward[32];
};
void judge_summary(const struct judge *j, struct judge_summary *out);
/* Rule ids that could not speak because their facts are gone (a stripped recording), comma separated. */
const char *judge_not_checked(const struct judge *j);

#endif
