/* Rollouts of given calls against one target: see trial.h. */
#include "cmd/golden/trial.h"

#include "recording/recorder.h"

int trial_target_open(struct trial_target *t, const struct context *c,
                      const struct target_options *o, struct error *err)
{
	static const struct recorder_conf nowhere = {.path = "/dev/null"};

	*t = (struct trial_target){.options = o};
	driver_init(&t->driver, c);
	return env_target_prepare(&t->driver.target, c, o, err) ||
	                       env_target_start(&t->driver.target, err) ||
	                       recorder_new(&nowhere, &t->nowhere, err)
	               ? -1
	               : 0;
}

void trial_target_close(struct trial_target *t)
{
	struct error ignored; /* it contains nothing */

	if (!t->options) {
		return;
	}
	(void)!recorder_close(t->nowhere, &ignored);
	driver_release(&t->driver);
	t->options = NULL;
}

int trial_run(struct trial_target *t, const struct trial *trial, struct io *io,
              struct rollout_result *out, struct error *err)
{
	struct rollout_conf conf = driver_conf(&t->driver, io);

	conf.policy = trial->policy;
	conf.recorder = trial->recorder ? trial->recorder : t->nowhere;
	conf.sinks = trial->sink;
	conf.sink_count = trial->sink ? 1 : 0;
	conf.options_fit = NULL; /* recorded calls are sent even if they do not fit the schema */
	conf.order = NULL;       /* lines need no order: they are not shown */
	if (trial->golden) {
		golden_start(trial->golden, t->options->seed.given, &conf);
	}
	return driver_rollout(&t->driver, &conf, out, err);
}

bool trial_is_whole(const struct rollout_result *r)
{
	return r->status != END_INTERRUPTED && r->status != END_UNREACHABLE &&
	       r->status != END_FAILED;
}
