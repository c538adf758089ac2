/* Many rollouts: a queue of numbers and a thread for each parallel rollout. Independent of
   tasks, files and verdicts. */
#ifndef ROLLDBG_ROLLOUT_BATCH_H
#define ROLLDBG_ROLLOUT_BATCH_H

#include "rollout/rollout.h"

/* How far it is; in the end, how it went. */
struct batch_count {
	size_t total, running;
	size_t done;                 /* ended by themselves; refused and lost are in it */
	size_t opened;               /* had an environment */
	size_t refused, unreachable; /* had none: refused, or server not reached */
	size_t lost;                 /* had one, and lost it, */
	size_t timed_out;            /* of these because a call was not answered in time */
	size_t failed;               /* ended by a local failure */
	size_t interrupted;
};

struct batch_conf {
	size_t count, jobs; /* both at least 1 */
	/* An eventfd that is readable once the user asks us to stop: no more rollouts are
	   started. Also written when a rollout has a local failure, so that all others end too
	   (every io watches it). -1: none. */
	int stop_fd;
	/* For a thread, which frees it. */
	int (*new_io)(void *ctx, struct io **out, struct error *err);
	/* Rollout number `index`, in a thread of the batch. Returns what rollout_run
	   does. */
	int (*rollout)(void *ctx, size_t index, struct io *io, struct rollout_result *out,
	               struct error *err);
	/* In the calling thread, every tick_ms while rollouts run in others; NULL: never. */
	void (*tick)(void *ctx, const struct batch_count *now);
	int tick_ms;
	void *ctx;
};

/* A rollout alone that wants no ticks runs in the calling thread. Rollouts begin in the order
   of their numbers. Returns when all threads have ended. -1: the first failure that was
   ours (FAIL_SYSTEM, a policy that does not fit); the others were interrupted. *out is
   set in every case: what was never started is total - done - interrupted. */
MUST_USE int batch_run(const struct batch_conf *conf, struct batch_count *out, struct error *err);

#endif
