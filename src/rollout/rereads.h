/* Which rollout of a batch reads its state a second time before a call, to see whether others
   changed it. Such readings cost a request each: at most a tenth of all that the batch sends.
   Shared by the threads of a batch. */
#ifndef ROLLDBG_ROLLOUT_REREADS_H
#define ROLLDBG_ROLLOUT_REREADS_H

#include <stdatomic.h>
#include <stdbool.h>

#define REREAD_STEPS 6 /* of a rollout, after its first one, before which there may be one */
#define REREADS_EACH 2 /* of a rollout */

struct rereads {
	atomic_llong requests; /* that the batch sent, but for these readings */
	atomic_llong taken;
	atomic_llong calls; /* that were answered */
};

/* Requests that were sent anyway. */
void rereads_count(struct rereads *r, int requests);

/* A call was answered. */
void rereads_answered(struct rereads *r);

/* How many were. */
long long rereads_calls(struct rereads *r);

/* May a reading be sent now? When others' calls were answered since rereads_calls() was `since`,
   beside one own call. Then it is counted as sent. */
bool rereads_take(struct rereads *r, long long since);

#endif
