/* Runs many rollouts: a queue of numbers, and one thread per parallel rollout. Independent of
   tasks, files and verdicts. */
#pragma once

#include "base/wake.h"
#include "rollout/rollout.h"

/* The progress of a batch and, at the end, its result. */
struct batch_count {
	size_t total, running;
	size_t done;                 /* ended without a stop, including refused and lost ones */
	size_t opened;               /* got an environment */
	size_t refused, unreachable; /* without an environment: refused, or server not reached */
	size_t lost;                 /* lost their environment */
	size_t timed_out;            /* of the lost ones: because of a timeout */
	size_t failed;               /* ended by a local failure */
	size_t interrupted;
};

struct batch_conf {
	size_t count, jobs; /* jobs: at least 1, unless count is 0 */
	/* Raised when the user asks to stop: no more rollouts are started. Also raised after a
	   local failure, so that all rollouts end (every io watches it). */
	struct wake stop;
	/* Creates the io of one thread, which frees it; ctx: io_ctx. */
	int (*new_io)(void *ctx, struct io **out, struct error *err);
	/* Runs rollout number `index` in a thread of the batch. Returns the result of
	   rollout_run. */
	int (*rollout)(void *ctx, size_t index, struct io *io, struct rollout_result *out,
	               struct error *err);
	/* Called in the calling thread every tick_ms while rollouts run in others; NULL: never. */
	void (*tick)(void *ctx, const struct batch_count *now);
	int tick_ms;
	void *ctx, *io_ctx;
};

/* A single rollout without ticks runs in the calling thread. Rollouts start in the order of
   their numbers. Returns when all threads have ended. -1: the first local failure (FAIL_SYSTEM,
   or a policy that does not match the tools); the others were interrupted. *out is always set:
   total - done - interrupted were never started. */
MUST_USE int batch_run(const struct batch_conf *conf, struct batch_count *out, struct error *err);
