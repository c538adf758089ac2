/* Work in several threads with results in order. */
#include "base/in_order.h"
#include "base/mem.h"
#include "tap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define ITEMS 200

struct job {
	atomic_int alive;   /* results not freed */
	atomic_int ahead;   /* the maximum of waiting results */
	atomic_int waiting; /* produced and not taken */
	size_t taken, fail_at;
	bool in_order;
};

/* Early items take longer, so that later ones finish before them. */
static void *work(void *ctx, size_t index)
{
	struct job *j = ctx;
	struct timespec pause = {.tv_nsec = index % 8 == 0 ? 2000000 : 0};
	size_t *result = mem_new(sizeof(*result));

	nanosleep(&pause, NULL);
	*result = index;
	atomic_fetch_add(&j->alive, 1);
	int now = atomic_fetch_add(&j->waiting, 1) + 1, most = atomic_load(&j->ahead);
	while (now > most && !atomic_compare_exchange_weak(&j->ahead, &most, now)) {
	}
	return result;
}

static void drop(void *ctx, void *result)
{
	struct job *j = ctx;

	atomic_fetch_sub(&j->alive, 1);
	free(result);
}

static int take(void *ctx, size_t index, void *result, struct error *err)
{
	struct job *j = ctx;

	j->in_order = j->in_order && index == j->taken && *(size_t *)result == index;
	j->taken++;
	atomic_fetch_sub(&j->waiting, 1);
	drop(ctx, result);
	return index == j->fail_at ? error_set(err, FAIL_INPUT, "no item %zu", index) : 0;
}

static int run(struct job *j, size_t count, size_t jobs, struct error *err)
{
	const struct in_order conf = {
		.count = count, .jobs = jobs, .work = work, .take = take, .drop = drop, .ctx = j};

	j->in_order = true;
	return in_order_run(&conf, err);
}

int main(void)
{
	for (size_t jobs = 1; jobs <= 8; jobs *= 2) {
		struct job j = {.fail_at = SIZE_MAX};
		struct error err;

		ok(run(&j, ITEMS, jobs, &err) == 0, "%zu jobs: all done", jobs);
		ok(j.in_order && j.taken == ITEMS, "%zu jobs: taken in order", jobs);
		is_int(j.alive, 0, "%zu jobs: every result is freed", jobs);
		ok((size_t)j.ahead <= jobs * (IN_ORDER_AHEAD + 1), "%zu jobs: few wait", jobs);

		struct job bad = {.fail_at = 20};
		ok(run(&bad, ITEMS, jobs, &err) == -1, "%zu jobs: a failure ends it", jobs);
		is_str(err.text, "no item 20", "%zu jobs: and reported", jobs);
		is_int(bad.taken, 21, "%zu jobs: no result after it is taken", jobs);
		is_int(bad.alive, 0, "%zu jobs: the others are freed", jobs);
	}
	struct job none = {.fail_at = SIZE_MAX};
	struct error err;
	ok(run(&none, 0, 4, &err) == 0 && none.taken == 0, "no items");
	ok(run(&none, 1, 4, &err) == 0 && none.taken == 1, "one item");
	return done();
}
