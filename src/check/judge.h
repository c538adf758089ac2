/* Feeds lines of any number of interleaved rollouts to all rules and keeps the
   counters. Live runs and `check` use the same one. Memory: one state block an
   open rollout, some 64 bytes a finished one (its id, its task's group, the ids of its
   environment). Once a file is done, what stays is groups that are still short and ids of
   environments. Not for several threads at once. */
#ifndef ROLLDBG_CHECK_JUDGE_H
#define ROLLDBG_CHECK_JUDGE_H

#include "check/check.h"
#include "check/told.h"
#include "trajectory/reader.h"

/* The counters of one rollout. */
struct tally {
	int64_t turns, steps, failed, longest_failed_run;
	int64_t effective; /* -1: no step could be judged */
	int64_t unknown;   /* steps whose effect is not known */
	char reward[32]; /* JSON number as it stands in `end`, else the sum over ok steps;
	                    "null" */
};

/* Slices live for the call. */
struct rollout_verdict {
	const char *file;   /* as given to judge_file; NULL before the first, and for a
	                       group whose rollouts stand in several */
	struct str rollout; /* id, with "#2" behind it for a second instance; absent for
	                       findings about the file (its last line is torn and no
	                       rollout is open) or about the group of a task. Such a
	                       verdict has an empty tally, and is counted as no rollout */
	struct str task;    /* task.id decoded; absent when there is none */
	struct str status; /* end.status, "" when it has none; "incomplete" without end */
	struct str reason; /* end.reason decoded; absent when there is none */
	struct tally tally;
	int64_t sample, group_size; /* -1: not known */
	bool lost;                  /* it got no session, or no end */
	const struct finding
		*findings; /* sorted: severity down, then first turn, then rule */
	size_t finding_count;
};

struct judge_conf {
	const char *only;    /* comma-separated rule ids; NULL: all */
	const char *without; /* comma-separated rule ids; NULL: none */
	struct told told;
	bool verify; /* a state_hash that is not its state's is FAIL_INPUT */
	/* Called for each line of an open rollout after the rules; NULL: not wanted. */
	void (*line)(void *ctx, const struct rollout_facts *r, const struct moment *m);
	/* Called for each step once its effect is known; NULL: not wanted. */
	void (*step)(void *ctx, const struct rollout_facts *r, const struct past_step *p);
	/* Called when a rollout has ended (its end line came, or the input did). */
	void (*verdict)(void *ctx,
	                const struct rollout_verdict *v); /* NULL: not wanted */
	void *ctx;
};

struct judge;

/* FAIL_USAGE with the nearest name for an unknown rule. */
MUST_USE int judge_new(const struct judge_conf *conf, struct judge **out,
                       struct error *err);
void judge_free(struct judge *j); /* NULL is fine; what is still open is dropped without a
                                     verdict */

/* A new file begins: rollouts still open end here, and ids may be used anew. The
   name is borrowed until the next file or judge_free. */
void judge_file(struct judge *j, const char *file);

/* The line as line_parse or the reader gives it; note may be NULL (live). -1,
   FAIL_INPUT: a header before that rollout's end (bad recording), a line of a
   rollout that is not open, with `verify` a state_hash of another state. Lines of unknown
   type are counted where they name an open rollout, and otherwise ignored. */
MUST_USE int judge_line(struct judge *j, const struct line *l,
                        const struct reader_note *note, struct error *err);
void judge_finish(struct judge *j); /* ends all that is open, in the order of their ids,
                                       then all groups */

/* Over all rollouts so far. */
struct judge_summary {
	int64_t rollouts, turns, steps, effective, unknown,
		failed; /* effective -1: nowhere known */
	int64_t errors, warnings, infos;
	char reward[32]; /* JSON number: the sum; "null" where no rollout has one */
};
void judge_summary(const struct judge *j, struct judge_summary *out);

/* Rule ids that could not speak in some rollout because their facts are gone (a
   stripped recording), comma separated; "" when there are none. Valid until the
   next call on the judge. */
const char *judge_not_checked(const struct judge *j);

#endif
