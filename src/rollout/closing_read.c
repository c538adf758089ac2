/* The last read of the state, after a pause: see rollout_internal.h. */
#include "facts/coarse_clock.h"
#include "net/io.h"
#include "rollout/rereads.h"
#include "rollout/rollout_internal.h"

#define MARGIN_MS 30 /* beyond the resolution of the clock */

void closing_read_begin(struct rollout *r, struct str state)
{
	r->start = BUF(BUF_MAX_MESSAGE);
	buf_str(&r->start, state);
	r->start_ns = io_now_ns(r->conf->io);
}

/* How long to wait; 0: no number may be a clock. Nothing waits for built-in environments, whose
   reads_apart_ms is 0. */
static int64_t wait_ms(const struct rollout *r, struct str state)
{
	struct arena arena = {0};
	int64_t elapsed = (int64_t)((io_now_ns(r->conf->io) - r->start_ns) / 1000000), ms = 0;

	if (r->start.n && state.n && r->steps > 0 && r->conf->reads_apart_ms) {
		ms = coarse_clock_find(&arena, buf_view(&r->start), state, buf_view(&r->ignore),
		                       elapsed);
	}
	arena_release(&arena);
	return ms ? ms + MARGIN_MS : 0;
}

int closing_read(struct rollout *r, struct str state, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	long long sent = shared ? rereads_calls_sent(shared) : 0;
	int64_t ms = wait_ms(r, state);
	struct str again;

	if (ms == 0) {
		return 0;
	}
	if (io_wait(r->conf->io, NULL, (uint64_t)ms, err) || env_state(r->env, &again, err)) {
		return -1;
	}
	/* what other rollouts may have changed is no evidence */
	bool quiet = !shared || rereads_is_quiet(shared, sent);
	return again.p && quiet ? rollout_put_reread(r, again, false, ms, err) : 0;
}
