/* Many rollouts on a built-in server: each number runs once, in order, with a limit on
   parallel ones; refusals are counted; a local failure or a stop request ends all of them.
   */
#include "env/environments.h"
#include "rollout/batch.h"
#include "serve/serve.h"
#include "tap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT 24

struct batch_run {
	struct server *server;
	char url[64];
	struct wake stop;
	struct recorder *recorder;
	struct scratch_pool *scratch;
	pthread_mutex_t lock; /* guards the members below */
	size_t began[COUNT], began_count, now, most;
	size_t stop_at, fail_at; /* the number of the rollout that does it; COUNT: none */
	int ticks;
};

static const struct error no_policy = {FAIL_USAGE, "rollout 5 does not fit"};

static int new_io(void *ctx, struct io **out, struct error *err)
{
	struct batch_run *w = ctx;
	struct io_conf conf = {.clock = clock_real(), .stop_fd = w->stop.fd};

	return io_new(&conf, out, err);
}

static void count(struct batch_run *w, size_t index, int by)
{
	pthread_mutex_lock(&w->lock);
	if (by > 0) {
		w->began[w->began_count++] = index;
		w->now++;
		w->most = w->now > w->most ? w->now : w->most;
	} else {
		w->now--;
	}
	pthread_mutex_unlock(&w->lock);
}

static int rollout(void *ctx, size_t index, struct io *io, struct rollout_result *out,
                   struct error *err)
{
	struct batch_run *w = ctx;
	char session[33];
	struct rollout_conf conf = {
		.task = "t",
		.sample = (int64_t)index,
		.env = {.url = w->url,
	                .timeout_ms = 60000,
	                .state_spec = STR("auto"),
	                .env_session = session,
	                .version = "0"},
		.policy = {.actions = "RIGHT,LEFT"},
		.clock = clock_real(),
		.io = io,
		.recorder = w->recorder,
		.scratch = w->scratch,
	};

	snprintf(session, sizeof(session), "session-%zu", index);
	count(w, index, 1);
	if (index == w->stop_at)
		wake_raise(&w->stop);
	int failed = 0;
	if (index == w->fail_at) {
		*err = no_policy;
		failed = -1;
	} else {
		conf.env_ops = env_find(&conf.env, io, err);
		failed = !conf.env_ops || rollout_run(&conf, out, err) ? -1 : 0;
	}
	count(w, index, -1);
	return failed;
}

static void tick(void *ctx, const struct batch_count *now)
{
	struct batch_run *w = ctx;

	w->ticks += now->total == COUNT && now->done + now->running <= COUNT;
}

static void begin(struct batch_run *w, const char *options)
{
	struct serve_conf conf;
	struct recorder_conf recorder = {.path = "/dev/null"};
	struct error err;

	*w = (struct batch_run){.scratch = scratch_pool_new(), .stop_at = COUNT, .fail_at = COUNT};
	pthread_mutex_init(&w->lock, NULL);
	if (wake_open(&w->stop))
		abort();
	serve_conf_init(&conf, clock_real());
	if (serve_conf_target(&conf, str_from(options), &err) ||
	    server_start(&conf, &w->server, &err) || recorder_new(&recorder, &w->recorder, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%u/mcp",
	         (unsigned)server_port(w->server));
}

static void finish(struct batch_run *w)
{
	struct error err;

	server_stop(w->server);
	ok(recorder_close(w->recorder, &err) == 0, "the recording is closed");
	scratch_pool_free(w->scratch);
	pthread_mutex_destroy(&w->lock);
	wake_close(&w->stop);
}

static int run(struct batch_run *w, size_t jobs, size_t count_of, struct batch_count *out,
               struct error *err)
{
	struct batch_conf conf = {.count = count_of,
	                          .jobs = jobs,
	                          .stop = w->stop,
	                          .new_io = new_io,
	                          .rollout = rollout,
	                          .tick = tick,
	                          .tick_ms = 1,
	                          .ctx = w,
	                          .io_ctx = w};

	*err = (struct error){0};
	return batch_run(&conf, out, err);
}

static void test_all(size_t jobs)
{
	struct batch_run w;
	struct batch_count c;
	struct error err;
	bool seen[COUNT] = {false}, ordered = true;
	size_t each = 0;

	begin(&w, "frozen_lake?max_envs=64&delay=2ms");
	ok(run(&w, jobs, COUNT, &c, &err) == 0, "%zu at a time", jobs);
	is_int(c.done, COUNT, "all are done");
	is_int(c.opened, COUNT, "all had an environment");
	is_int(c.running + c.interrupted + c.refused + c.unreachable + c.failed, 0,
	       "and no other outcome");
	ok(w.most <= jobs, "never more than that in parallel");
	for (size_t i = 0; i < w.began_count; i++) {
		each += !seen[w.began[i]];
		seen[w.began[i]] = true;
		ordered = ordered && (jobs > 1 || w.began[i] == i);
	}
	is_int(each, COUNT, "each began once");
	ok(ordered, "one at a time: in order");
	ok(w.ticks > 0, "the caller was informed meanwhile");
	finish(&w);
}

static void test_refused(void)
{
	struct batch_run w;
	struct batch_count c;
	struct error err;

	begin(&w, "frozen_lake?max_envs=2&delay=300ms");
	ok(run(&w, COUNT, COUNT, &c, &err) == 0, "more in parallel than the server has room for");
	is_int(c.done, COUNT, "all are done");
	is_int(c.opened + c.refused, COUNT, "opened or refused");
	ok(c.opened >= 2 && c.refused > 0 && !c.lost, "some of each");
	finish(&w);
}

static void test_stop(void)
{
	struct batch_run w;
	struct batch_count c;
	struct error err;

	begin(&w, "frozen_lake?max_envs=64&delay=1ms");
	w.stop_at = 9;
	ok(run(&w, 4, COUNT, &c, &err) == 0, "a requested stop is not a failure");
	ok(c.interrupted >= 1 && c.interrupted <= 4, "running rollouts were interrupted");
	ok(c.done + c.interrupted < COUNT, "the others never began");
	is_int(c.done + c.interrupted, w.began_count, "all that began are counted");
	finish(&w);
}

static void test_failure(size_t jobs)
{
	struct batch_run w;
	struct batch_count c;
	struct error err;

	begin(&w, "frozen_lake?max_envs=64&delay=1ms");
	w.fail_at = 5;
	ok(run(&w, jobs, COUNT, &c, &err) == -1, "a local failure");
	is_str(err.text, no_policy.text, "is the batch's");
	is_int(err.kind, FAIL_USAGE, "with its kind");
	ok(w.began_count >= 6 && w.began_count < COUNT, "and no new rollout begins");
	is_int(c.done + c.interrupted, w.began_count, "all that began are counted");
	finish(&w);
}

static void test_one(void)
{
	struct batch_run w;
	struct batch_count c;
	struct error err;

	begin(&w, "frozen_lake");
	ok(run(&w, 8, 1, &c, &err) == 0, "one job");
	is_int(c.done, 1, "is done");
	is_int(w.ticks, 0, "without ticks");
	finish(&w);
}

int main(void)
{
	struct error err;

	if (io_global_init(&err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	test_all(1);
	test_all(4);
	test_all(100);
	test_refused();
	test_stop();
	test_failure(1);
	test_failure(6);
	test_one();
	io_global_cleanup();
	return done();
}
