/* A live rollout, shared by two threads: live.c (the debugger's) and live_policy.c (the rollout's
   own). */
#ifndef ROLLDBG_DEBUG_LIVE_INTERNAL_H
#define ROLLDBG_DEBUG_LIVE_INTERNAL_H

#include "base/mem.h"
#include "base/wake.h"
#include "debug/live.h"
#include "evidence/effects.h"

#include <pthread.h>

enum live_phase { LIVE_RUNS, LIVE_ASKS, LIVE_OVER };

struct live {
	struct policy policy; /* first: the rollout uses this struct as its policy */
	struct policy_ops ops;
	const struct live_target *target;
	struct live_request request;
	struct arena arena; /* memory of the request */
	struct buf path;
	pthread_t thread;

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	enum live_phase phase;
	bool ending;
	bool interrupted; /* the rollout ends because the program has to exit */
	/* written by the rollout before LIVE_ASKS, then by the debugger */
	struct proposal proposal;
	struct buf name, arguments, reason, state;

	/* used by the rollout's thread only */
	struct policy *inner;
	struct io *io;
	bool woken;
	/* judges each line, so that effects and verdict need no second reading; another thread may
	   use it while the rollout waits or is over */
	struct judge *judge;
	struct effect_list effects; /* final when the rollout is over */
	int64_t sent;               /* number of calls */
	struct event_queue events;
	bool diverged; /* an event records it */
	/* The user sent a call where the policy made none: the policy's own decision, even if
	   none. */
	struct decision replaced;
	bool replaces, uncalled, replied;
	struct rollout_result result;
	struct error err;
	int failed;

	struct wake stop, wake;
};

/* Called in the rollout's thread: wraps its policy in `struct live *ctx` (rollout.h), and receives
   each recorded line. */
struct policy *live_wrap(void *ctx, struct policy *inner, struct io *io);
int live_take_line(void *ctx, const struct line *line, struct error *err);

#endif
