/* One rollout, straight through: open, reset; until done: state, decide, step, record;
 * end, goodbye. */
#ifndef ROLLDBG_ROLLOUT_ROLLOUT_H
#define ROLLDBG_ROLLOUT_ROLLOUT_H

#include "rollout/lines.h"

#define DEFAULT_MAX_TURNS 100

struct rollout_conf {
	const char *task; /* NULL: named after the environment */
	int64_t sample;
	int64_t group_size; /* samples of each task; 0: it is of no group */
	struct env_conf env;
	const struct env_ops *env_ops;
	struct policy_conf policy; /* `tools` is filled in here */
	struct opt_u64
		max_turns; /* not given: the script's length, or DEFAULT_MAX_TURNS */
	const struct opt_list *masks;
	struct clock clock;
	struct io *io;
	struct recorder *recorder;
	const struct line_sink *sinks;
	size_t sink_count;
	struct scratch_pool *scratch; /* shared with other rollouts; NULL: none is kept */
	/* Held while a line is written and handed to the sinks, so that these see the
	   lines of all rollouts in the order of the recording. NULL: nobody else writes.
	 */
	pthread_mutex_t *order;
};

struct rollout_result {
	enum end_status status;
	bool opened;       /* it had a session, and the reset went well */
	struct error peer; /* of END_UNREACHABLE, and of END_REFUSED where it was not for
	                      lack of room: the sentence; kind FAIL_NONE otherwise */
	bool lost_policy;  /* and it is about whom the policy asks */
};

#define ROLLOUT_TASK_MAX 127 /* bytes of a task's id */

/* The id of a task as rollout ids have it, and where it ends: without blanks and control
   characters, cut to ROLLOUT_TASK_MAX. */
void rollout_task_name(struct str name, char out[ROLLOUT_TASK_MAX + 1]);

/* 0: it ran and its recording is whole, however it ended. -1: a policy that does not fit
   (nothing was recorded, no step sent), or our own failure (FAIL_SYSTEM; what was written
   stays). */
MUST_USE int rollout_run(const struct rollout_conf *conf, struct rollout_result *out,
                         struct error *err);

#endif
