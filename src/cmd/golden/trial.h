/* Sends recorded or scripted calls to a target, for commands that do so repeatedly: bisect,
   shrink. */
#ifndef ROLLDBG_CMD_GOLDEN_TRIAL_H
#define ROLLDBG_CMD_GOLDEN_TRIAL_H

#include "cmd/golden/driver.h"
#include "cmd/golden/goldens.h"
#include "rollout/batch.h"

/* A target, and the state its rollouts share. trial_target_close accepts a zeroed one. */
struct trial_target {
	const struct target_options *options;
	struct driver driver;
	struct recorder *nowhere; /* recorder for rollouts that are discarded */
};

/* Starts the target; sends nothing. FAIL_USAGE, FAIL_INPUT, FAIL_SYSTEM. Borrows the options. */
MUST_USE int trial_target_open(struct trial_target *t, const struct context *c,
                               const struct target_options *o, struct error *err);
void trial_target_close(struct trial_target *t);

/* One rollout in a new session. */
struct trial {
	const struct golden *golden; /* gives task, seed, reset arguments and masks; NULL: none */
	struct policy_conf policy;
	const struct line_sink *sink; /* NULL: none */
	struct recorder *recorder;    /* NULL: discarded */
};

/* As rollout_run. Any thread. */
MUST_USE int trial_run(struct trial_target *t, const struct trial *trial, struct io *io,
                       struct rollout_result *out, struct error *err);

/* True if the environment or the policy ended it. */
bool trial_is_whole(const struct rollout_result *r);

#endif
