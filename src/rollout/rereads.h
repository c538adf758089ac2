/* Decides which rollout of a batch reads its state a second time before a call, to see whether
   others changed it. Each such reading costs a request: at most a tenth of all requests of the
   batch. Shared by the threads of a batch. */
#ifndef ROLLDBG_ROLLOUT_REREADS_H
#define ROLLDBG_ROLLOUT_REREADS_H

#include <stdatomic.h>
#include <stdbool.h>

/* calls of a rollout, after its first one, before which there may be a second reading */
#define REREAD_STEPS 6
#define REREADS_EACH 2 /* readings of a rollout */

struct rereads {
	atomic_llong requests; /* sent by the batch, other than these readings */
	atomic_llong taken;
	atomic_llong calls; /* calls that were answered */
};

/* Counts requests that are sent in any case. */
void rereads_count(struct rereads *r, int requests);

/* Counts an answered call. */
void rereads_answered(struct rereads *r);

/* The number of answered calls. */
long long rereads_calls(struct rereads *r);

/* May a reading be sent now? Yes if calls of others were answered since rereads_calls() was
   `since`, in addition to one own call; it is then counted as sent. */
bool rereads_take(struct rereads *r, long long since);

#endif
