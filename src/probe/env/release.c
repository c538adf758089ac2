/* Closed sessions free their slots: after the last one is closed, as many are opened again. */
#include "probe/probe_internal.h"

#include <inttypes.h>

/* If calls, not sessions, are refused for capacity, a session has a slot when its call is
   accepted. */
static int try_call(struct probe *p, struct session *s, bool *got, struct error *err)
{
	const struct probe_call *act = p->good_count ? probe_good(p, 0) : NULL;
	struct probe_reply a;

	if (!p->step_refused || !act)
		return 0;
	if (session_step(&p->pool, s, act->name, act->arguments, &a, err))
		return -1;
	*got = a.outcome != OUTCOME_CAPACITY;
	return 0;
}

static int admit(struct probe *p, struct session *s, uint64_t deadline_ns, bool *got,
                 struct error *err)
{
	bool late = false;

	do {
		late = io_now_ns(p->conf->io) >= deadline_ns;
		if (session_open_when_free(&p->pool, s, NULL, deadline_ns, err))
			return -1;
		*got = session_is_open(s);
		if (!*got)
			return 0;
		if (try_call(p, s, got, err) || (!*got && io_wait(p->conf->io, NULL, 100, err)))
			return -1;
	} while (!*got && !late);
	return 0;
}

static void judge_leak(const struct probe *p, size_t back, const struct session *s,
                       struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "%zu of %zu freed", back, p->got_env);
	property_evidence(
		out, "%" PRIu64 " ms after all sessions were closed, a new one was still refused",
		p->conf->settle_ms);
	property_quote(out, &s->last);
	property_fix(out, "make the server close the environment when its session ends; the "
	                  "slots stay occupied until it is restarted");
}

int property_release(struct probe *p, struct property *out, struct error *err)
{
	uint64_t began = io_now_ns(p->conf->io);
	uint64_t deadline = probe_settle_deadline(p);
	size_t back = 0;
	bool got = true;

	probe_close_sessions(p);
	if (probe_lacks_sessions(p, out))
		return 0;
	if (p->traits.own_server && !p->limited) {
		return property_say(out, PROPERTY_SKIPPED, "own servers",
		                    "each session starts a server, which ends with it", NULL);
	}
	while (got && back < p->got_env) {
		if (admit(p, &p->sessions[back], deadline, &got, err))
			return -1;
		back += got;
	}
	uint64_t took_ms = (io_now_ns(p->conf->io) - began) / 1000000;
	const struct session *last = &p->sessions[got ? 0 : back];
	bool silent = last->status == SESSION_LOST || last->status == SESSION_LATE ||
	              last->last.layer == LAYER_TRANSPORT; /* nobody listens */
	if (!got && silent) {
		property_judge(out, PROPERTY_UNKNOWN, "no reply");
		property_quote(out, &last->last);
	} else if (!got) {
		p->leaks = true;
		judge_leak(p, back, last, out);
	} else if (p->limited) {
		property_judge(out, PROPERTY_OK, "all %zu freed", back);
		property_evidence(out, "reopened within %" PRIu64 " ms", took_ms);
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "inconclusive");
		property_evidence(out,
		                  "%zu reopened within %" PRIu64 " ms, but the server's limit was "
		                  "not reached, so a leak would go unnoticed",
		                  back, took_ms);
	}
	probe_close_sessions(p);
	return 0;
}
