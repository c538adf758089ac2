/* Sessions one after the other: waits for slots that were just freed. */
#include "probe/probe_internal.h"

#define PAUSE_MS 50

/* A slot is not free while a step still runs, so waits longer than the slowest step. */
uint64_t probe_settle_deadline(const struct probe *p)
{
	uint64_t slowest = timings_longest_ms(&p->pool.step);
	uint64_t ms = p->conf->settle_ms + 2 * slowest;

	return io_now_ns(p->conf->io) + ms * 1000000;
}

int probe_pause(struct probe *p, uint64_t ms, struct error *err)
{
	return io_wait(p->conf->io, NULL, ms, err);
}

int probe_reopen(struct probe *p, struct session *s, const int64_t *seed, uint64_t deadline_ns,
                 struct error *err)
{
	uint64_t pause_ms = PAUSE_MS;

	while (!session_open(&p->pool, s, seed, err)) {
		if (s->status != SESSION_REFUSED || s->last.outcome != OUTCOME_CAPACITY ||
		    io_now_ns(p->conf->io) >= deadline_ns) {
			return 0;
		}
		if (probe_pause(p, pause_ms, err))
			return -1;
		pause_ms = pause_ms < 500 ? 2 * pause_ms : pause_ms;
	}
	return -1;
}

int probe_fresh(struct probe *p, struct property *out, struct error *err)
{
	if (probe_reopen(p, &p->sessions[0], &p->seed, probe_settle_deadline(p), err))
		return -1;
	if (!session_is_open(&p->sessions[0])) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
		property_evidence(out, "no session could be opened");
		property_quote(out, &p->sessions[0].last);
	}
	return 0;
}

bool probe_alike(const struct probe *p, const struct series *s, struct str a, struct str b)
{
	return a.n && b.n && probe_compare(p, s, a, b) < MEMBER_COUNT;
}
