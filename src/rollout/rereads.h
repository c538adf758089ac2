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

/* The first rollout to act reads the state again after its first call, while the others wait: what
   differs then is no work of theirs. */
enum reread_control { CONTROL_NONE, CONTROL_RUNS, CONTROL_OVER };

struct rereads {
	atomic_llong requests; /* other requests sent by the batch */
	atomic_llong taken;
	atomic_llong sent, answered; /* calls */
	atomic_bool waiting;         /* some rollout waits for others to act */
	atomic_int control;          /* enum reread_control */
};

/* Counts other requests. */
void rereads_count(struct rereads *r, int requests);

/* Counts a call that is about to be sent, and one that was answered. */
void rereads_sent(struct rereads *r);
void rereads_answered(struct rereads *r);

long long rereads_calls_sent(struct rereads *r);

/* Was a call answered that was sent after rereads_calls_sent() was `sent`? False for a while after
   that happened: the calls before it are counted, too. */
bool rereads_is_answered(struct rereads *r, long long sent);

/* Are all calls answered that were sent, and are they `sent`? */
bool rereads_is_quiet(struct rereads *r, long long sent);

/* Is this the first rollout to act? Then it is the control until it ends that. */
bool rereads_begin_control(struct rereads *r);
void rereads_end_control(struct rereads *r);
bool rereads_control_runs(struct rereads *r);

/* A rollout that waits for others to act makes no call meanwhile: only one may wait at a time. */
bool rereads_begin_wait(struct rereads *r);
void rereads_end_wait(struct rereads *r);

/* May a read be sent? Without `take` it only asks; else the read is counted as sent. */
bool rereads_may_read(struct rereads *r, bool take);
void rereads_take(struct rereads *r); /* counts a read that is sent in any case */

#endif
