/* Sending recorded or scripted calls to a target, for commands that do it more than once: bisect,
   shrink. */
#ifndef ROLLDBG_CMD_TRIAL_H
#define ROLLDBG_CMD_TRIAL_H

#include "cmd/driver.h"
#include "cmd/goldens.h"
#include "rollout/batch.h"

/* A target, and what its rollouts share. Zeroed is fine for trial_target_close. */
struct trial_target {
	const struct target_options *options;
	struct driver driver;
	struct recorder *nowhere; /* where rollouts go that are not kept */
};

/* Starts it; sends nothing. FAIL_USAGE, FAIL_INPUT, FAIL_SYSTEM. Borrows the options. */
MUST_USE int trial_target_open(struct trial_target *t, const struct context *c,
                               const struct target_options *o, struct error *err);
void trial_target_close(struct trial_target *t);
/* For batch_conf.new_io. */
MUST_USE int trial_target_io(const struct trial_target *t, struct io **out, struct error *err);

/* One rollout in a session of its own. */
struct trial {
	const struct golden *golden; /* its task, seed, reset arguments and masks; NULL: none */
	struct policy_conf policy;
	const struct line_sink *sink; /* NULL: none */
	struct recorder *recorder;    /* NULL: it is not kept */
};

/* As rollout_run; from any thread. */
MUST_USE int trial_run(struct trial_target *t, const struct trial *trial, struct io *io,
                       struct rollout_result *out, struct error *err);

/* Did it end by what the environment or the policy did? */
bool trial_is_whole(const struct rollout_result *r);

#endif
