/* The folder rollout/: running one rollout, and many of them in threads; task files. Not here:
   what a reply means (env/), what to do next (policy/), whether the result is good (check/). */

/* One rollout as straight-line code: open and reset; then state, decision, step and record until
   it is done; then end and close. */
#ifndef ROLLDBG_ROLLOUT_ROLLOUT_H
#define ROLLDBG_ROLLOUT_ROLLOUT_H

#include "rollout/lines.h"
#include "rollout/options_fit.h"
#include "rollout/rereads.h"
#include "rollout/volatile_members.h"

#define DEFAULT_MAX_TURNS 100

typedef struct policy *policy_wrap_fn(void *ctx, struct policy *inner, struct io *io);

struct rollout_conf {
	const char *task; /* NULL: named after the environment */
	int64_t sample;
	int64_t group_size; /* samples of each task; 0: not in a group */
	struct env_conf env;
	const struct env_ops *env_ops;
	struct policy_conf policy; /* `tools` is filled in by rollout_run */
	/* Puts a policy of the caller around that one, which is its to close; NULL: it is used as it
	   is. `inner` is NULL where `policy` names none. */
	policy_wrap_fn *wrap;
	void *wrap_ctx;
	struct str parent;       /* id of the rollout that it was forked from; absent: none */
	int64_t parent_steps;    /* whose calls it repeats */
	const char *parent_file; /* the recording that one is in; NULL: none */
	bool has_max_turns;      /* false: the length of the script, or DEFAULT_MAX_TURNS */
	int64_t max_turns;
	const char *const *masks; /* JSON Pointers, for the header */
	size_t mask_count;
	struct clock clock;
	struct io *io;
	struct recorder *recorder;
	const struct line_sink *sinks;
	size_t sink_count;
	struct volatile_members *volatile_members; /* shared with other rollouts */
	struct options_fit *options_fit;           /* the same; NULL: this is the only rollout */
	struct scratch_pool *scratch; /* shared with other rollouts; NULL: nothing is shared */
	/* Held while a line is written and passed to the sinks, so that they see the lines of
	   all rollouts in the order of the recording. NULL: there is only one writer. */
	pthread_mutex_t *order;
	struct rereads *rereads; /* of a batch; NULL: no others run at the same time */
};

struct rollout_result {
	enum end_status status;
	bool timed_out; /* lost because its last call was not answered in time */
	bool opened;    /* it had a session, and the reset succeeded */
	bool seeded;    /* a seed was asked for, and the environment takes one */
	/* of END_UNREACHABLE, and of END_REFUSED for another reason than capacity: the message;
	   otherwise kind FAIL_NONE */
	struct error peer;
	bool lost_policy; /* that message is about the policy's model */
};

#define ROLLOUT_TASK_MAX 127 /* bytes of a task's id */

/* Converts a task's id to the form used in rollout ids and file names: blanks and control
   characters become '_'; truncated to ROLLOUT_TASK_MAX. */
void rollout_task_name(struct str name, char out[ROLLOUT_TASK_MAX + 1]);

/* 0: it ran, and its recording is complete, however it ended. -1: a policy that does not fit
   (nothing was recorded, no step sent), or a failure of our own (FAIL_SYSTEM; lines already
   written stay, with an `end` line if it could still be written). */
MUST_USE int rollout_run(const struct rollout_conf *conf, struct rollout_result *out,
                         struct error *err);

#endif
