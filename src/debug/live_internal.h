/* A live rollout, for the two threads that share it: live.c (the debugger's) and live_policy.c (the
   rollout's own). */
#ifndef ROLLDBG_DEBUG_LIVE_INTERNAL_H
#define ROLLDBG_DEBUG_LIVE_INTERNAL_H

#include "base/mem.h"
#include "debug/line_copy.h"
#include "debug/live.h"
#include "debug/live_judge.h"

#include <pthread.h>

enum live_phase { LIVE_RUNS, LIVE_ASKS, LIVE_OVER };

struct live {
	struct policy policy; /* first: the rollout knows us as a policy */
	struct policy_ops ops;
	const struct live_target *target;
	struct live_request request;
	struct arena arena; /* of the request */
	struct buf path;
	pthread_t thread;

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	enum live_phase phase;
	bool ending, pausing;
	bool interrupted;   /* it ends because the program is to end */
	live_pass_fn *pass; /* while it goes on */
	void *pass_ctx;
	struct proposal
		proposal; /* written by the rollout before LIVE_ASKS, then by the debugger */
	struct buf name, arguments, reason, state;

	/* of the rollout's thread alone */
	struct policy *inner;
	struct io *io;
	bool woken;
	struct line_copy step; /* the newest */
	bool is_new;           /* `pass` has not seen it */
	struct live_judge judge;
	int64_t sent; /* calls */
	struct event_queue events;
	bool diverged; /* one of them says so */
	/* The user sent a call where the policy made none: its own decision, or that it made none. */
	struct decision replaced;
	bool replaces, silent, spoke;
	struct rollout_result result;
	struct error err;
	int failed;

	int stop_fd, wake_fd;
};

/* In the rollout's thread: puts `struct live *ctx` in front of its policy (rollout.h), and takes
   each line that it records. */
struct policy *live_wrap(void *ctx, struct policy *inner, struct io *io);
int live_take_line(void *ctx, const struct line *line, struct error *err);

#endif
