/* Decides which rollout of a batch reads its state a second time before a call, to detect
   changes by other rollouts. Each read costs a request: limited to a tenth of all requests of
   the batch. Shared by the threads of a batch. */
#ifndef ROLLDBG_ROLLOUT_REREADS_H
#define ROLLDBG_ROLLOUT_REREADS_H

#include <stdatomic.h>
#include <stdbool.h>

/* calls of a rollout, after its first one, that a second read may precede */
#define REREAD_STEPS 6
#define REREADS_EACH 2 /* reads per rollout */

struct rereads {
	atomic_llong requests; /* other requests sent by the batch */
	atomic_llong taken;
	atomic_llong calls; /* calls that were answered */
};

/* Counts other requests. */
void rereads_count(struct rereads *r, int requests);

/* Counts an answered call. */
void rereads_answered(struct rereads *r);

/* The number of answered calls. */
long long rereads_calls(struct rereads *r);

/* May a read be sent now? Yes if other rollouts' calls were answered since rereads_calls() was
   `since`; the read is then counted as sent. */
bool rereads_begin(struct rereads *r, long long since);

#endif
