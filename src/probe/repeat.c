/* Sessions one after the other, where room that was just given back is waited for. */
#include "probe/inside.h"

#define PAUSE_MS 50

/* No room is free while a step is still running: longer than the slowest is waited. */
uint64_t probe_settle_deadline(const struct probe *p)
{
	uint64_t slowest = timings_longest_ms(&p->asking.step);
	uint64_t ms = p->conf->settle_ms + 2 * slowest;

	return io_now_ns(p->conf->io) + ms * 1000000;
}

int probe_pause(struct probe *p, uint64_t ms, struct error *err)
{
	return io_wait(p->conf->io, NULL, ms, err);
}

int probe_reopen(struct probe *p, struct session *s, const int64_t *seed,
                 uint64_t deadline_ns, struct error *err)
{
	uint64_t pause_ms = PAUSE_MS;

	while (!session_open(&p->asking, s, seed, err)) {
		if (s->how != SESSION_REFUSED || s->last.outcome != OUTCOME_CAPACITY ||
		    io_now_ns(p->conf->io) >= deadline_ns) {
			return 0;
		}
		if (probe_pause(p, pause_ms, err)) {
			return -1;
		}
		pause_ms = pause_ms < 500 ? 2 * pause_ms : pause_ms;
	}
	return -1;
}
