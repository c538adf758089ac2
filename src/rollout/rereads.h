/* Decides which rollout of a batch reads its state a second time before a call, to detect
   changes by other rollouts. Each read costs a request: limited to a tenth of all requests of
   the batch. Shared by the threads of a batch. */
#ifndef ROLLDBG_ROLLOUT_REREADS_H
#define ROLLDBG_ROLLOUT_REREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* calls of a rollout, after its first one, that a second read may precede */
#define REREAD_STEPS 6
#define REREADS_EACH 2 /* reads per rollout */

/* The first rollout to act is the control: it reads its state again after its first call, while the
   others wait. A difference then cannot be caused by another rollout. */
enum reread_control { REREAD_CONTROL_NONE, REREAD_CONTROL_RUNS, REREAD_CONTROL_OVER };

/* Rollouts that read again before their first call, if the control's call changed its state. The
   control waits a little until as many have read theirs. */
#define REREAD_STARTS 2

struct rereads {
	atomic_llong requests; /* other requests sent by the batch */
	atomic_llong taken;
	atomic_llong sent, answered; /* calls */
	atomic_bool waiting;         /* some rollout waits for others to act */
	atomic_int control;          /* enum reread_control */
	atomic_bool moved;           /* the control's first call changed its state */
	atomic_int ready;            /* rollouts that have read their first state */
	size_t most;                 /* rollouts that run at the same time */
	atomic_int starts;           /* reads before a first call */
};

/* Counts other requests. */
void rereads_count(struct rereads *r, int requests);
/* Counts the first requests of a rollout: the session, the reset, the first state. */
void rereads_count_start(struct rereads *r);

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
/* Have enough other rollouts read their first state? */
bool rereads_are_ready(struct rereads *r);

/* May a read before a first call be sent, given the number of calls that each rollout will send? The
   tenth is then one of all requests that are to be expected. It is counted as sent. */
bool rereads_take_start(struct rereads *r, int64_t calls);
void rereads_take(struct rereads *r); /* counts a read that is sent in any case */

#endif
