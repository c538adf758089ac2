/* Second reads of the state: see rereads.h. */
#include "rollout/rereads.h"

#define REQUESTS_EACH 10 /* other requests per read */

void rereads_count(struct rereads *r, int requests)
{
	atomic_fetch_add(&r->requests, requests);
}

void rereads_answered(struct rereads *r)
{
	atomic_fetch_add(&r->calls, 1);
}

long long rereads_calls(struct rereads *r)
{
	return atomic_load(&r->calls);
}

bool rereads_begin(struct rereads *r, long long since)
{
	long long taken = atomic_load(&r->taken);

	if (atomic_load(&r->calls) - since < 2) {
		return false;
	}
	do {
		if ((taken + 1) * REQUESTS_EACH > atomic_load(&r->requests)) {
			return false;
		}
	} while (!atomic_compare_exchange_weak(&r->taken, &taken, taken + 1));
	return true;
}
