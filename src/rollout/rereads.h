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

/* The first rollout to act is the control: it reads its state again after its first call, while the
   others wait. A difference then cannot be caused by another rollout. */
enum reread_control { REREAD_CONTROL_NONE, REREAD_CONTROL_RUNS, REREAD_CONTROL_OVER };

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

/* Was a call answered that was sent after rereads_calls_sent() returned `sent`? May become true
   late, because only the number of answers is counted, not which calls they belong to. */
bool rereads_is_answered(struct rereads *r, long long sent);

/* Were exactly `sent` calls sent, and are all of them answered? */
bool rereads_is_quiet(struct rereads *r, long long sent);

/* Is this the first rollout to act? Then it is the control until rereads_end_control(). */
bool rereads_begin_control(struct rereads *r);
void rereads_end_control(struct rereads *r);
bool rereads_control_runs(struct rereads *r);

/* Only one rollout at a time may wait for others to act, because it sends no calls meanwhile. */
bool rereads_begin_wait(struct rereads *r);
void rereads_end_wait(struct rereads *r);

/* May a read be sent? With `take`, it is then counted as sent. */
bool rereads_may_read(struct rereads *r, bool take);
void rereads_take(struct rereads *r); /* counts a read that is sent in any case */

#endif
