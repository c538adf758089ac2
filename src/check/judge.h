/* Feeds lines of any number of interleaved rollouts to all rules and keeps the
   counters. Live runs and `check` use the same one. Memory: one state block an
   open rollout, some 64 bytes a finished one (its id, its task's group, the ids of its
   environment). Once a file is done, what stays is groups that are still short and ids of
   environments. Not for several threads at once. */
#ifndef ROLLDBG_CHECK_JUDGE_H
#define ROLLDBG_CHECK_JUDGE_H

#include "check/check.h"
#include "facts/facts.h"

/* Slices live for the call. */
struct rollout_verdict {
	/* as given to judge_file; NULL before the first, and for a group whose rollouts are in
	   several */
	const char *file;
	/* id, with "#2" behind it for a second instance; absent for findings about the file
	   (its last line is torn and no rollout is open) or about the group of a task. Such a
	   verdict has empty counters, and is counted as no rollout */
	struct str rollout;
	struct str task; /* task.id decoded; absent when there is none */
	enum end_status status;
	struct str reason; /* end.reason decoded; absent when there is none */
	struct counters counters;
	int64_t sample, group_size;     /* -1: not known */
	bool lost;                      /* it got no session, or no end */
	const struct finding *findings; /* sorted, a cause before what it explains */
	size_t finding_count;
};

struct judge_conf {
	const char *only;    /* comma-separated rule ids; NULL: all */
	const char *without; /* comma-separated rule ids; NULL: none */
	struct hints hints;
	bool verify; /* a state_hash that is not its state's is FAIL_INPUT */
	/* Called for each line of an open rollout after the rules; NULL: not wanted. */
	void (*line)(void *ctx, const struct facts_update *u);
	/* Called when a rollout has ended (its end line came, or the input did). */
	void (*verdict)(void *ctx, const struct rollout_verdict *v); /* NULL: not wanted */
	void *ctx;
};

struct judge;

/* FAIL_USAGE with the nearest name for an unknown rule. */
MUST_USE int judge_new(const struct judge_conf *conf, struct judge **out, struct error *err);
/* NULL is fine; what is still open is dropped without a verdict */
void judge_free(struct judge *j);

/* The files are many: one without a line, and lines without a header, are findings (incomplete)
   from now on, else FAIL_INPUT. */
void judge_many(struct judge *j);

/* Starts a new file: rollouts still open end here, and ids may be reused. The name is borrowed
   until the next file or judge_free. */
void judge_file(struct judge *j, const char *file);

/* As facts_line; and FAIL_INPUT, with `verify`, for a state_hash of another state. */
MUST_USE int judge_line(struct judge *j, const struct line *l, const struct reader_note *note,
                        struct error *err);
/* Called after each line: -1 with err set ends the reading. */
typedef int after_line_fn(void *ctx, struct error *err);

/* A whole file (judge_file, reader_file). after may be NULL. */
MUST_USE int judge_recording(struct judge *j, const char *path, after_line_fn *after, void *ctx,
                             struct error *err);

/* ends all that is open, in the order of their ids, then all groups */
void judge_finish(struct judge *j);

/* A judge for one file of many, in a thread of its own: the file that comes after `number` others.
   judge_file or judge_recording may be called once. */
MUST_USE int judge_part_new(const struct judge_conf *conf, int64_t number, struct judge **out,
                            struct error *err);
/* Ends all that is open in it. */
void judge_part_finish(struct judge *part);
/* Would the part's verdicts have been the same in this judge, behind the files it has seen? */
bool judge_can_absorb(const struct judge *j, const struct judge *part);
/* Then, with the part finished, as if this judge had judged its file: judge_file, and what was
   summed up. The verdicts are those that the part gave; give them between the two calls. */
void judge_absorb(struct judge *j, struct judge *part);

/* Over all rollouts so far. */
struct judge_summary {
	int64_t rollouts, turns, steps, effective, unknown,
		failed; /* effective -1: nowhere known */
	/* Rollouts with steps, all of unknown effect: without a state source, with the
	   observation as one, or with a state that never differs while observations do. */
	int64_t no_source, by_observation, unshown;
	int64_t errors, warnings, infos;
	char reward[32]; /* JSON number: the sum; "null" where no rollout has one */
};
void judge_summary(const struct judge *j, struct judge_summary *out);

/* Ids of rules that could not judge some rollout because their facts were stripped, comma
   separated; "" if there are none. Valid until the next call on the judge. */
const char *judge_not_checked(const struct judge *j);

#endif
