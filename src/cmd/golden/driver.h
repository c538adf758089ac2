/* State shared by the rollouts of one command: the target, its server's protocol and cached pages,
   and the order of recorded lines. */
#pragma once

#include "cmd/golden/goldens.h"
#include "cmd/options/target_options.h"
#include "rollout/batch.h"
#include "rollout/rollout.h"

#include <pthread.h>

struct driver {
	struct env_target target;
	struct clock clock;
	struct page_cache *pages; /* of the server */
	struct volatile_members *volatile_members;
	struct options_fit options_fit;
	struct scratch_pool *scratch;
	pthread_mutex_t order;         /* serializes the lines of all rollouts */
	pthread_mutex_t lock;          /* protects the members below */
	const struct env_ops *env_ops; /* NULL until the protocol is detected */
	struct recorder *nowhere;      /* for rollouts that are discarded; NULL: none so far */
	/* the first error of a rollout that was refused or lost its peer; that of the first one without a
	   server, if `unreached` */
	struct error peer;
	bool unreached;
	bool lost_policy; /* that error came from the policy's model */
	bool unseeded;    /* said that a seed was not sent */
};

/* The caller still has to prepare and start the target. */
void driver_init(struct driver *d, const struct context *c);
/* Call it after the last thread has ended. */
void driver_release(struct driver *d);

/* For batch_conf.new_io; ctx: the driver. */
MUST_USE int driver_new_io(void *ctx, struct io **out, struct error *err);
/* The configuration common to all rollouts. Any thread. */
struct rollout_conf driver_conf(struct driver *d, struct io *io);
/* Sets the turn limit of --max-turns, if given, at most INT64_MAX. */
void driver_limit_turns(struct rollout_conf *conf, const struct opt_u64 *max_turns);
/* rollout_run in a new environment session; completes conf. Any thread. */
MUST_USE int driver_rollout(struct driver *d, struct rollout_conf *conf,
                            struct rollout_result *result, struct error *err);

/* Runs the rollouts; conf: count, jobs, rollout, ctx. */
MUST_USE int driver_batch(struct driver *d, const struct context *c, struct batch_conf conf,
                          struct batch_count *out, struct error *err);

/* The exit code for the rollouts of a batch: 130 interrupted, 5 a local failure, 4 the server was
   not reached or lost; else 1 if a rollout was refused or timed out, or if `findings`; 0. */
int driver_exit_code(const struct batch_count *count, bool findings);

/* Raises the soft limit on open files as needed for that many rollouts. FAIL_SYSTEM, with the fix,
   if the hard limit is too low. */
MUST_USE int descriptors_allow(size_t rollouts, struct error *err);

/* ---- rollouts of given calls, for commands that repeat them: replay, bisect, shrink ---- */

/* Starts the target after driver_init; sends nothing. FAIL_USAGE, FAIL_INPUT, FAIL_SYSTEM. Borrows the
   options. */
MUST_USE int driver_start(struct driver *d, const struct context *c, const struct target_options *o,
                          struct error *err);

/* One rollout in a new session. */
struct trial {
	const struct golden *golden; /* gives task, seed, reset arguments and masks */
	struct policy_conf policy;
	struct rollout_copy *copy; /* receives its lines, stripped; NULL: not kept */
	struct strip *strip;
	const struct line_sink *sink; /* the same, as they are; NULL: none */
	struct recorder *recorder;    /* NULL: discarded */
};

/* As rollout_run. Any thread. */
MUST_USE int trial_run(struct driver *d, const struct trial *trial, struct io *io,
                       struct rollout_result *out, struct error *err);

/* True if the environment or the policy ended it. */
bool trial_is_whole(const struct rollout_result *r);
