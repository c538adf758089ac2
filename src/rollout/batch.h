/* Many rollouts: a queue of numbers, and one thread per parallel rollout. Knows nothing of
   tasks, files and verdicts. */
#ifndef ROLLDBG_ROLLOUT_BATCH_H
#define ROLLDBG_ROLLOUT_BATCH_H

#include "rollout/rollout.h"

/* The progress of a batch and, at the end, its result. */
struct batch_count {
	size_t total, running;
	size_t done;                 /* ended by themselves, including refused and lost ones */
	size_t opened;               /* got an environment */
	size_t refused, unreachable; /* got none: refused, or the server was not reached */
	size_t lost;                 /* got one and lost it */
	size_t timed_out;            /* of these, because a call was not answered in time */
	size_t failed;               /* ended by a failure of our own */
	size_t interrupted;
};

struct batch_conf {
	size_t count, jobs; /* both at least 1 */
	/* An eventfd that becomes readable when the user asks to stop: no more rollouts are
	   started. Also written after a rollout fails with a failure of our own, so that all
	   others end too (every io watches it). -1: none. */
	int stop_fd;
	/* For one thread, which frees it. */
	int (*new_io)(void *ctx, struct io **out, struct error *err);
	/* Runs rollout number `index` in a thread of the batch. Returns what rollout_run
	   returns. */
	int (*rollout)(void *ctx, size_t index, struct io *io, struct rollout_result *out,
	               struct error *err);
	/* Called in the calling thread every tick_ms while rollouts run; NULL: never. */
	void (*tick)(void *ctx, const struct batch_count *now);
	int tick_ms;
	void *ctx;
};

/* A single rollout runs in the calling thread, without ticks. Rollouts begin in the order of
   their numbers. Returns when all threads have ended. -1: the first failure of our own
   (FAIL_SYSTEM, a policy that does not fit); the others were interrupted. *out is always set:
   total - done - interrupted were never started. */
MUST_USE int batch_run(const struct batch_conf *conf, struct batch_count *out, struct error *err);

#endif
