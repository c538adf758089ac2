/* The directory rollout/: one rollout, many of them in threads, and task files. Replies are
   interpreted in env/, decisions are made in policy/, results are judged in check/. */

/* One rollout as straight-line code: open and reset; then state, decision, step and record until
   it ends; then the end line and close. */
#pragma once

#include "env/env.h"
#include "policy/policy.h"
#include "recording/line_writer.h"
#include "rollout/volatile_members.h"

#include <stdatomic.h>

#define DEFAULT_MAX_TURNS 100

/* What the rollouts of a batch share to decide which of them reads its state a second time before a
   call, to detect changes by others (second_read.c). Each read costs a request: limited to a tenth of
   all requests of the batch. Zeroed but for `most`. */
struct rereads {
	atomic_llong requests; /* other requests sent by the batch */
	atomic_llong taken;
	atomic_llong sent, answered; /* calls */
	atomic_bool waiting;         /* some rollout waits for others to act, and sends no calls */
	/* The first rollout to act is the control: it reads its state again after its first call,
	   while the others wait. A difference then cannot be caused by another rollout. */
	atomic_int control;
	atomic_bool moved; /* the control's first call changed its state */
	atomic_int ready;  /* rollouts that have read their first state */
	size_t most;       /* rollouts that run at the same time */
	atomic_int starts; /* reads before a first call */
};

/* Do the user's options match the server? One session that matches settles it for the run: a later
   one that offers something else (a replica with other tools) is the server's fault and ends only
   its own rollout. Zeroed. */
struct options_fit {
	atomic_int opening;  /* sessions that are being opened */
	atomic_ullong offer; /* a fingerprint of the tools of the first that matched; 0: none did */
};

typedef struct policy *policy_wrap_fn(void *ctx, struct policy *inner, struct io *io);

struct rollout_conf {
	const char *task; /* NULL: the environment's name */
	int64_t sample;
	int64_t group_size; /* samples of each task; 0: not in a group */
	struct env_conf env;
	const struct env_ops *env_ops;
	struct policy_conf policy; /* `tools` is set by rollout_run */
	/* Returns a policy that replaces `inner` (NULL if `policy` selects none) and closes it;
	   NULL: no replacement. */
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
	uint64_t reads_apart_ms; /* time between its two reads; a clock may not change sooner */
	struct options_fit *options_fit; /* the same; NULL: this is the only rollout */
	struct scratch_pool *scratch;    /* shared with other rollouts; NULL: not shared */
	/* Held while a line is written and passed to the sinks, so that these get the lines of
	   all rollouts in the order of the recording. NULL: only one writer. */
	pthread_mutex_t *order;
	struct rereads *rereads; /* of a batch; NULL: no parallel rollouts */
};

struct rollout_result {
	enum end_status status;
	bool timed_out; /* lost because its last call timed out */
	bool opened;    /* the session was opened, and the reset succeeded */
	bool seeded;    /* a seed was requested, and the environment takes one */
	/* Set for END_UNREACHABLE, and for END_REFUSED unless for capacity: the message.
	   Otherwise kind FAIL_NONE. */
	struct error peer;
	bool lost_policy; /* the message is about the policy's model */
};

#define ROLLOUT_TASK_MAX 127 /* bytes of a task's id */

/* Converts a task's id to the form used in rollout ids and file names: whitespace and control
   characters become '_'; truncated to ROLLOUT_TASK_MAX. */
void rollout_task_name(struct str name, char out[ROLLOUT_TASK_MAX + 1]);

/* 0: the rollout ran, and its recording is complete, however it ended. -1: a policy that does
   not match the tools (nothing recorded, no step sent), or a local failure (FAIL_SYSTEM; lines
   already written are kept, with an `end` line if possible). */
MUST_USE int rollout_run(const struct rollout_conf *conf, struct rollout_result *out,
                         struct error *err);
