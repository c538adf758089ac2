/* Threads that take rollouts from a queue: see batch.h. */
#include "rollout/batch.h"

#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* A rollout with TLS uses about 40 KiB of stack. With the default of 8 MiB, a thousand threads
   would reserve more address space than some containers allow. */
#define STACK_BYTES ((size_t)256 << 10)

struct batch {
	const struct batch_conf *conf;
	struct wake over;     /* raised once the last thread has ended */
	pthread_mutex_t lock; /* protects the fields below */
	size_t next, threads;
	struct batch_count count;
	bool stopping;
	struct error failure; /* the first failure */
};

static bool is_stop_requested(const struct batch *b)
{
	struct pollfd p = {.fd = b->conf->stop.fd, .events = POLLIN};

	return b->conf->stop.fd >= 0 && poll(&p, 1, 0) > 0;
}

static bool next_index(struct batch *b, size_t *index)
{
	pthread_mutex_lock(&b->lock);
	b->stopping = b->stopping || is_stop_requested(b);
	bool taken = !b->stopping && b->next < b->conf->count;
	if (taken) {
		*index = b->next++;
		b->count.running++;
	}
	pthread_mutex_unlock(&b->lock);
	return taken;
}

/* Called with the lock held. */
static void fail(struct batch *b, const struct error *err)
{
	if (b->failure.kind == FAIL_NONE)
		b->failure = *err;
	if (!b->stopping)
		wake_raise(&b->conf->stop);
	b->stopping = true;
}

static void finish(struct batch *b, int failed, const struct rollout_result *r,
                   const struct error *err)
{
	pthread_mutex_lock(&b->lock);
	b->count.running--;
	if (failed)
		fail(b, err);
	if (failed || r->status == END_INTERRUPTED)
		b->count.interrupted++;
	else
		b->count.done++;
	b->count.opened += r->opened;
	b->count.failed += !failed && r->status == END_FAILED;
	b->count.refused += !failed && r->status == END_REFUSED;
	if (!failed && r->status == END_UNREACHABLE) {
		b->count.unreachable += !r->opened;
		b->count.lost += r->opened;
		b->count.timed_out += r->opened && r->timed_out;
	}
	pthread_mutex_unlock(&b->lock);
}

static void run_all(struct batch *b, struct io *io, struct error *err)
{
	const struct batch_conf *c = b->conf;
	/* not on the stack, where 1 KB more or less is a page of each of a thousand threads */
	struct rollout_result *result = mem_new(sizeof(*result));
	size_t index;

	while (next_index(b, &index)) {
		*result = (struct rollout_result){.status = END_FAILED};
		int failed = c->rollout(c->ctx, index, io, result, err);

		finish(b, failed, result, err);
	}
	free(result);
}

static void run_queue(struct batch *b)
{
	struct io *io = NULL;
	struct error *err = mem_new(sizeof(*err));

	if (b->conf->new_io(b->conf->io_ctx, &io, err)) {
		pthread_mutex_lock(&b->lock);
		fail(b, err);
		pthread_mutex_unlock(&b->lock);
	} else {
		run_all(b, io, err);
		io_free(io);
	}
	free(err);
}

static void *work(void *arg)
{
	struct batch *b = arg;

	run_queue(b);
	pthread_mutex_lock(&b->lock);
	bool last = --b->threads == 0;
	pthread_mutex_unlock(&b->lock);
	if (last)
		wake_raise(&b->over);
	return NULL;
}

/* ---- the calling thread ---- */

/* Signals are handled by the calling thread. */
static int start_thread(struct batch *b, pthread_t *out)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(out, &attributes, work, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return failed;
}

/* The number of threads; fewer than requested is a failure, recorded in b. */
static size_t start_threads(struct batch *b, pthread_t *threads, size_t wanted)
{
	size_t n = 0;
	int failed = 0;

	pthread_mutex_lock(&b->lock); /* none may end before all are counted */
	while (n < wanted && !failed) {
		failed = start_thread(b, &threads[n]);
		n += !failed;
	}
	b->threads = n;
	if (failed) {
		struct error err;

		errno = failed;
		error_errno(&err,
		            "%zu rollouts at a time: only %zu threads could be started; use "
		            "fewer \1jobs\2",
		            wanted, n);
		fail(b, &err);
	}
	pthread_mutex_unlock(&b->lock);
	return n;
}

static struct batch_count count_now(struct batch *b)
{
	pthread_mutex_lock(&b->lock);
	struct batch_count now = b->count;
	pthread_mutex_unlock(&b->lock);
	return now;
}

static void wait_for_threads(struct batch *b)
{
	const struct batch_conf *c = b->conf;
	struct pollfd over = {.fd = b->over.fd, .events = POLLIN};

	while (poll(&over, 1, c->tick ? c->tick_ms : -1) <= 0) {
		if (c->tick) {
			struct batch_count now = count_now(b);

			c->tick(c->ctx, &now);
		}
	}
}

static void run_threads(struct batch *b)
{
	size_t wanted = b->conf->jobs < b->conf->count ? b->conf->jobs : b->conf->count;
	pthread_t *threads = mem_array(wanted, sizeof(*threads));
	size_t started = start_threads(b, threads, wanted);

	if (started)
		wait_for_threads(b);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

int batch_run(const struct batch_conf *conf, struct batch_count *out, struct error *err)
{
	struct batch b = {.conf = conf, .count = {.total = conf->count}};

	*out = b.count;
	if (!conf->count)
		return 0;
	if (wake_open(&b.over))
		return error_errno(err, "no file descriptor left");
	pthread_mutex_init(&b.lock, NULL);
	if (conf->count == 1 && !conf->tick)
		run_queue(&b);
	else
		run_threads(&b);
	pthread_mutex_destroy(&b.lock);
	wake_close(&b.over);
	*out = b.count;
	if (b.failure.kind != FAIL_NONE) {
		*err = b.failure;
		return -1;
	}
	return 0;
}
