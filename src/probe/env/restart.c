/* A new session begins where the last one began, not where it ended. */
#include "probe/probe_internal.h"

/* What a session shows: its first state, the reply to a call and the state after it. */
struct restart {
	struct str start, reply, end; /* absent: unknown */
};

/* The call that has an effect, `times` times; the reply is that of the last. */
static int play(struct probe *p, size_t times, struct restart *e, struct property *out,
                struct error *err)
{
	const struct probe_call *call = probe_call_for_others(p);
	struct session *s = &p->sessions[0];
	struct probe_reply reply;

	if (probe_fresh(p, out, err) || probe_read(p, s, &s->later, &e->start, err))
		return -1;
	for (size_t i = 0; i < times && session_is_open(s) && !s->last.over; i++) {
		if (session_step(&p->pool, s, call->name, call->arguments, &reply, err))
			return -1;
		e->reply = probe_keep(p, &s->observation);
	}
	int failed = probe_read(p, s, &s->later, &e->end, err);
	session_close(s);
	return failed;
}

static bool begins_at(const struct probe *p, const struct restart *e, const struct restart *first,
                      struct str state, struct str reply)
{
	return first->start.p && e->start.p ? probe_alike(p, &p->states, e->start, state)
	                                    : probe_alike(p, &p->replies, e->reply, reply);
}

/* first: one call, second: two calls, third: one. Each with the same seed. */
static void judge(const struct probe *p, const struct restart *first, const struct restart *second,
                  const struct restart *third, struct property *out)
{
	bool known = (first->start.p && third->start.p) || (first->reply.p && third->reply.p);
	bool again = begins_at(p, third, first, first->start, first->reply);
	bool at_end = begins_at(p, third, first, second->end, second->reply);

	if (known && again && at_end) {
		property_say(out, PROPERTY_UNKNOWN, "inconclusive",
		             "the calls of the session before left it as it began", NULL);
	} else if (known && again) {
		property_say(out, PROPERTY_OK, "from the start",
		             "a session after one with calls began as that one did", NULL);
	} else if (known && at_end && first->start.p) {
		property_say(out, PROPERTY_FAIL, "continues",
		             "a new session began in the state in which the last one was closed",
		             "make reset() reinitialize the environment, and keep nothing of an "
		             "episode in the module or the class");
	} else {
		property_say(out, PROPERTY_UNKNOWN, "inconclusive",
		             known ? "a new session began elsewhere: what is random hides it"
		                   : "there is no state or reply to compare",
		             NULL);
	}
}

int property_restart(struct probe *p, struct property *out, struct error *err)
{
	struct restart e[3] = {{.start = STR_NONE}};

	if (probe_lacks_sessions(p, out))
		return 0;
	if (!probe_call_for_others(p) || p->state_drifts || p->shared) {
		return property_say(out, PROPERTY_UNKNOWN, "not tested",
		                    p->shared         ? "sessions share their environment"
		                    : p->state_drifts ? "the state changes without a call"
		                    : p->not_called   ? p->not_called
		                                      : "no call succeeded",
		                    NULL);
	}
	for (size_t i = 0; i < ARRAY_LEN(e); i++) {
		if (play(p, i == 1 ? 2 : 1, &e[i], out, err))
			return -1;
		if (out->evidence.n)
			return 0;
	}
	judge(p, &e[0], &e[1], &e[2], out);
	return 0;
}
