/* Second reads of the state: see rereads.h. */
#include "rollout/rereads.h"

#define REQUESTS_EACH     10 /* other requests per read, rounded */
#define REQUESTS_TO_START 3
#define REQUESTS_A_CALL   2 /* the call, and the state after it */
#define CALLS_MAX         1000

void rereads_count(struct rereads *r, int requests)
{
	atomic_fetch_add(&r->requests, requests);
}

void rereads_count_start(struct rereads *r)
{
	rereads_count(r, REQUESTS_TO_START);
}

void rereads_sent(struct rereads *r)
{
	atomic_fetch_add(&r->sent, 1);
}

void rereads_answered(struct rereads *r)
{
	atomic_fetch_add(&r->answered, 1);
}

long long rereads_calls_sent(struct rereads *r)
{
	return atomic_load(&r->sent);
}

bool rereads_is_answered(struct rereads *r, long long sent)
{
	return atomic_load(&r->answered) > sent;
}

bool rereads_is_quiet(struct rereads *r, long long sent)
{
	return atomic_load(&r->sent) == sent && atomic_load(&r->answered) == sent;
}

bool rereads_begin_control(struct rereads *r)
{
	int none = REREAD_CONTROL_NONE;

	return atomic_compare_exchange_strong(&r->control, &none, REREAD_CONTROL_RUNS);
}

void rereads_end_control(struct rereads *r)
{
	atomic_store(&r->control, REREAD_CONTROL_OVER);
}

bool rereads_control_runs(struct rereads *r)
{
	return atomic_load(&r->control) == REREAD_CONTROL_RUNS;
}

bool rereads_begin_wait(struct rereads *r)
{
	return !atomic_exchange(&r->waiting, true);
}

void rereads_end_wait(struct rereads *r)
{
	atomic_store(&r->waiting, false);
}

bool rereads_may_read(struct rereads *r, bool take)
{
	long long taken = atomic_load(&r->taken);

	do {
		if (taken * REQUESTS_EACH + REQUESTS_EACH / 2 > atomic_load(&r->requests))
			return false;
	} while (take && !atomic_compare_exchange_weak(&r->taken, &taken, taken + 1));
	return true;
}

bool rereads_are_ready(struct rereads *r)
{
	size_t wanted = r->most <= REREAD_STARTS ? r->most : REREAD_STARTS + 1;

	return (size_t)atomic_load(&r->ready) >= wanted;
}

bool rereads_take_start(struct rereads *r, int64_t calls)
{
	long long requests = atomic_load(&r->requests), rollouts = requests / REQUESTS_TO_START;
	long long each = calls < CALLS_MAX ? calls : CALLS_MAX;

	if ((atomic_load(&r->taken) + 1) * REQUESTS_EACH >
	            requests + rollouts * each * REQUESTS_A_CALL ||
	    atomic_fetch_add(&r->starts, 1) >= REREAD_STARTS) {
		return false;
	}
	rereads_take(r);
	return true;
}

void rereads_take(struct rereads *r)
{
	atomic_fetch_add(&r->taken, 1);
}
