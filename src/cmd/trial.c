/* Rollouts of given calls against one target: see trial.h. */
#include "cmd/trial.h"

#include "trajectory/recorder.h"

int trial_target_open(struct trial_target *t, const struct context *c,
                      const struct target_options *o, struct error *err)
{
	static const struct recorder_conf nowhere = {.path = "/dev/null"};

	*t = (struct trial_target){.context = c,
	                           .options = o,
	                           .pages = page_cache_new(),
	                           .scratch = scratch_pool_new(),
	                           .volatile_members = volatile_members_new()};
	pthread_mutex_init(&t->lock, NULL);
	return env_target_prepare(&t->target, c, o, err) || env_target_start(&t->target, err) ||
	                       recorder_new(&nowhere, &t->nowhere, err)
	               ? -1
	               : 0;
}

void trial_target_close(struct trial_target *t)
{
	struct error ignored; /* nothing was kept in it */

	if (!t->context) {
		return;
	}
	(void)!recorder_close(t->nowhere, &ignored);
	env_target_release(&t->target);
	page_cache_free(t->pages);
	scratch_pool_free(t->scratch);
	volatile_members_free(t->volatile_members);
	pthread_mutex_destroy(&t->lock);
	t->context = NULL;
}

int trial_target_io(const struct trial_target *t, struct io **out, struct error *err)
{
	return env_target_new_io(&t->target, out, err);
}

static int find_ops(struct trial_target *t, struct rollout_conf *conf, struct error *err)
{
	pthread_mutex_lock(&t->lock);
	if (!t->env_ops) {
		t->env_ops = env_find(&conf->env, conf->io, err);
	}
	conf->env_ops = t->env_ops;
	pthread_mutex_unlock(&t->lock);
	return conf->env_ops ? 0 : -1;
}

/* What the golden was started with; options of the command come first. */
static void take_golden(const struct trial_target *t, const struct golden *g,
                        struct rollout_conf *conf)
{
	conf->task = g->task.p;
	conf->sample = g->sample;
	conf->masks = g->masks;
	conf->mask_count = g->mask_count;
	if (g->has_seed && !t->options->seed.given) {
		conf->env.has_seed = true;
		conf->env.seed = g->seed;
	}
	if (g->reset.p && !conf->env.reset_args.p) {
		conf->env.reset_args = g->reset;
	}
}

int trial_run(struct trial_target *t, const struct trial *trial, struct io *io,
              struct rollout_result *out, struct error *err)
{
	char env_session[TARGET_SESSION_DIGITS + 1];
	struct rollout_conf conf = {
		.env = env_target_conf(&t->target),
		.policy = trial->policy,
		.clock = t->context->clock,
		.io = io,
		.recorder = trial->recorder ? trial->recorder : t->nowhere,
		.sinks = trial->sink,
		.sink_count = trial->sink ? 1 : 0,
		.volatile_members = t->volatile_members,
		.scratch = t->scratch,
	};

	if (trial->golden) {
		take_golden(t, trial->golden, &conf);
	}
	conf.env.pages = t->pages;
	conf.env.env_session = env_session;
	return env_target_new_session(env_session, err) || find_ops(t, &conf, err) ||
	                       rollout_run(&conf, out, err)
	               ? -1
	               : 0;
}

bool trial_is_whole(const struct rollout_result *r)
{
	return r->status != END_INTERRUPTED && r->status != END_UNREACHABLE &&
	       r->status != END_FAILED;
}
