/* Shared by the commands that drive rollouts: see driver.h. */
#include "cmd/golden/driver.h"

#include "base/log.h"
#include "env/environments.h"
#include "recording/recorder.h"

#include <sys/resource.h>

void driver_init(struct driver *d, const struct context *c)
{
	*d = (struct driver){.clock = c->clock,
	                     .pages = page_cache_new(),
	                     .volatile_members = volatile_members_new(),
	                     .scratch = scratch_pool_new()};
	pthread_mutex_init(&d->order, NULL);
	pthread_mutex_init(&d->lock, NULL);
}

void driver_release(struct driver *d)
{
	(void)!recorder_close(d->nowhere, ERROR_IGNORED); /* it contains nothing */
	env_target_release(&d->target);
	page_cache_free(d->pages);
	volatile_members_free(d->volatile_members);
	scratch_pool_free(d->scratch);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->order);
}

int driver_new_io(void *ctx, struct io **out, struct error *err)
{
	const struct driver *d = ctx;

	return env_target_new_io(&d->target, out, err);
}

struct rollout_conf driver_conf(struct driver *d, struct io *io)
{
	struct rollout_conf conf = {.env = env_target_conf(&d->target),
	                            .clock = d->clock,
	                            .io = io,
	                            .volatile_members = d->volatile_members,
	                            .reads_apart_ms = env_target_reads_apart_ms(&d->target),
	                            .options_fit = &d->options_fit,
	                            .scratch = d->scratch,
	                            .order = &d->order};

	conf.env.pages = d->pages;
	return conf;
}

void driver_limit_turns(struct rollout_conf *conf, const struct opt_u64 *max_turns)
{
	uint64_t n = max_turns->value;

	if (max_turns->given) {
		conf->has_max_turns = true;
		conf->max_turns = n < INT64_MAX ? (int64_t)n : INT64_MAX;
	}
}

/* Detects the protocol once, because all rollouts use the same server. */
static int find_ops(struct driver *d, struct rollout_conf *conf, struct error *err)
{
	pthread_mutex_lock(&d->lock);
	if (!d->env_ops)
		d->env_ops = env_find(&conf->env, conf->io, err);
	conf->env_ops = d->env_ops;
	pthread_mutex_unlock(&d->lock);
	return conf->env_ops ? 0 : -1;
}

/* Of all rollouts the first error, and one warning. */
static void take_result(struct driver *d, bool has_seed, const struct rollout_result *result)
{
	bool unseeded = has_seed && result->opened && !result->seeded;

	pthread_mutex_lock(&d->lock);
	bool unreached = !result->opened && result->status == END_UNREACHABLE;
	if (d->peer.kind == FAIL_NONE || (unreached && !d->unreached)) {
		d->peer = result->peer;
		d->lost_policy = result->lost_policy;
	}
	if (unseeded && !d->unseeded) {
		log_warn("the server does not accept a seed: the one given is recorded, but not "
		         "sent");
	}
	d->unseeded = d->unseeded || unseeded;
	d->unreached = d->unreached || unreached;
	pthread_mutex_unlock(&d->lock);
}

int driver_rollout(struct driver *d, struct rollout_conf *conf, struct rollout_result *result,
                   struct error *err)
{
	char env_session[TARGET_SESSION_DIGITS + 1];

	conf->env.env_session = env_session;
	int failed = env_target_new_session(env_session, err) || find_ops(d, conf, err) ||
	             rollout_run(conf, result, err);
	conf->env.env_session = NULL;
	if (failed)
		return -1;
	take_result(d, conf->env.has_seed, result);
	return 0;
}

int driver_batch(struct driver *d, const struct context *c, struct batch_conf conf,
                 struct batch_count *out, struct error *err)
{
	conf.jobs = conf.jobs < conf.count ? conf.jobs : conf.count;
	conf.stop = c->stop;
	conf.new_io = driver_new_io;
	conf.io_ctx = d;
	return batch_run(&conf, out, err);
}

int driver_exit_code(const struct batch_count *count, bool findings)
{
	if (count->interrupted || count->done < count->total)
		return 130;
	if (count->failed)
		return 5;
	if (count->unreachable || count->lost > count->timed_out)
		return 4;
	return count->refused || count->timed_out || findings;
}

/* ---- descriptors ---- */

/* Per rollout: libcurl's wakeup pipe (2), its connection, one in the background, and its file; with
   a built-in server also the other ends of the connections. Name resolution needs two more. */
#define LEAST_EACH 4
#define MOST_EACH  10
#define OURS       64

int descriptors_allow(size_t rollouts, struct error *err)
{
	struct rlimit limit;
	rlim_t least = rollouts * LEAST_EACH + OURS, most = rollouts * MOST_EACH + OURS;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return error_errno(err, "cannot read the limit on open files");
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= most)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < least) {
		return error_set(err, FAIL_SYSTEM,
		                 "%zu concurrent rollouts need about %llu open files, but the "
		                 "limit is %llu: raise it (ulimit -Hn) or use fewer --jobs",
		                 rollouts, (unsigned long long)least,
		                 (unsigned long long)limit.rlim_max);
	}
	limit.rlim_cur =
		limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most ? most : limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit)
	               ? error_errno(err, "cannot raise the limit on open files")
	               : 0;
}

/* ---- rollouts of given calls, for commands that repeat them: replay, bisect, shrink ---- */

int driver_start(struct driver *d, const struct context *c, const struct target_options *o,
                 struct error *err)
{
	return env_target_prepare(&d->target, c, o, err) || env_target_start(&d->target, err) ? -1
	                                                                                      : 0;
}

static int open_nowhere(struct driver *d, struct error *err)
{
	static const struct recorder_conf nowhere = {.path = "/dev/null"};

	pthread_mutex_lock(&d->lock);
	int failed = d->nowhere ? 0 : recorder_new(&nowhere, &d->nowhere, err);
	pthread_mutex_unlock(&d->lock);
	return failed;
}

static int copy_line(void *ctx, const struct line *l, struct error *err)
{
	const struct trial *t = ctx;

	return rollout_copy_add(t->copy, t->strip, l, err);
}

int trial_run(struct driver *d, const struct trial *trial, struct io *io,
              struct rollout_result *out, struct error *err)
{
	struct rollout_conf conf = driver_conf(d, io);
	struct trial copying = *trial;
	const struct line_sink sink = trial->copy   ? (struct line_sink){copy_line, &copying}
	                              : trial->sink ? *trial->sink
	                                            : (struct line_sink){0};

	if (!trial->recorder && open_nowhere(d, err))
		return -1;
	conf.policy = trial->policy;
	conf.recorder = trial->recorder ? trial->recorder : d->nowhere;
	conf.sinks = &sink;
	conf.sink_count = trial->copy || trial->sink ? 1 : 0;
	conf.options_fit = NULL; /* recorded calls are sent even if they do not fit the schema */
	if (!trial->recorder)
		conf.order = NULL; /* lines need no order: they are not shown */
	golden_start(trial->golden, d->target.options->seed.given, &conf);
	return driver_rollout(d, &conf, out, err);
}

bool trial_is_whole(const struct rollout_result *r)
{
	return r->status != END_INTERRUPTED && r->status != END_UNREACHABLE &&
	       r->status != END_FAILED;
}
