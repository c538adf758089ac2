/* Parallel work whose results are taken in order: see in_order.h. */
#include "base/in_order.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct slot {
	bool done;
	void *result;
};

struct queue {
	const struct in_order *conf;
	size_t window;        /* number of slots */
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	struct slot *slots; /* item i uses slots[i % window] */
	size_t next, taken; /* the first item not started; the first item not taken */
	bool stopping;
};

/* Waits for a free slot. */
static bool next_item(struct queue *q, size_t *index)
{
	pthread_mutex_lock(&q->lock);
	while (!q->stopping && q->next < q->conf->count && q->next >= q->taken + q->window)
		pthread_cond_wait(&q->changed, &q->lock);
	bool found = !q->stopping && q->next < q->conf->count;
	if (found)
		*index = q->next++;
	pthread_mutex_unlock(&q->lock);
	return found;
}

static void *work(void *ctx)
{
	struct queue *q = ctx;

	for (size_t index; next_item(q, &index);) {
		void *result = q->conf->work(q->conf->ctx, index);

		pthread_mutex_lock(&q->lock);
		q->slots[index % q->window] = (struct slot){true, result};
		pthread_cond_broadcast(&q->changed);
		pthread_mutex_unlock(&q->lock);
	}
	return NULL;
}

static void *await(struct queue *q, size_t index)
{
	struct slot *s = &q->slots[index % q->window];

	pthread_mutex_lock(&q->lock);
	while (!s->done)
		pthread_cond_wait(&q->changed, &q->lock);
	void *result = s->result;
	*s = (struct slot){false, NULL};
	q->taken++;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return result;
}

static int take_all(struct queue *q, struct error *err)
{
	const struct in_order *c = q->conf;

	for (size_t i = 0; i < c->count; i++)
		if (c->take(c->ctx, i, await(q, i), err))
			return -1;
	return 0;
}

static int run_alone(const struct in_order *c, struct error *err)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->take(c->ctx, i, c->work(c->ctx, i), err))
			return -1;
	return 0;
}

static void stop(struct queue *q, pthread_t *threads, size_t count)
{
	pthread_mutex_lock(&q->lock);
	q->stopping = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < q->window; i++)
		if (q->slots[i].done)
			q->conf->drop(q->conf->ctx, q->slots[i].result);
}

int in_order_run(const struct in_order *conf, struct error *err)
{
	size_t jobs = conf->jobs < conf->count ? conf->jobs : conf->count, started = 0;

	if (jobs <= 1)
		return run_alone(conf, err);
	struct queue q = {.conf = conf,
	                  .window = jobs * IN_ORDER_AHEAD,
	                  .lock = PTHREAD_MUTEX_INITIALIZER,
	                  .changed = PTHREAD_COND_INITIALIZER};
	pthread_t *threads = mem_array(jobs, sizeof(*threads));

	q.slots = mem_array(q.window, sizeof(*q.slots));
	while (started < jobs && !pthread_create(&threads[started], NULL, work, &q))
		started++;
	int failed = started ? take_all(&q, err) : run_alone(conf, err);
	stop(&q, threads, started);
	free(q.slots);
	free(threads);
	pthread_mutex_destroy(&q.lock);
	pthread_cond_destroy(&q.changed);
	return failed;
}
