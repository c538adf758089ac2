/* A reset within a session starts a clean episode: the same seed gives the same initial state
   after calls that changed it. Done twice, so that the first initial state is known. */
#include "probe/probe_internal.h"

struct round {
	bool refused;
	struct probe_reply reset, act;
	struct str before, start, after; /* states; absent: unknown */
};

static int play(struct probe *p, struct round *r, struct error *err)
{
	struct session *s = &p->sessions[0];
	const struct probe_call *call = probe_call_for_others(p);

	if (probe_read(p, s, &s->later, &r->before, err) ||
	    session_reset(&p->pool, s, p->seed, err)) {
		return -1;
	}
	r->reset = s->last;
	r->refused = !session_is_open(s);
	if (r->refused)
		return 0;
	if (probe_read(p, s, &s->later, &r->start, err))
		return -1;
	if (!call || !session_is_open(s))
		return 0;
	return session_step(&p->pool, s, call->name, call->arguments, &r->act, err) ||
	                       probe_read(p, s, &s->later, &r->after, err)
	               ? -1
	               : 0;
}

/* Where the initial state is one of a few, drawn at random, it may once equal the last state. */
static bool kept_state(const struct probe *p, const struct round *one, const struct round *two)
{
	return probe_alike(p, &p->states, one->before, one->start) &&
	       probe_alike(p, &p->states, two->before, two->start);
}

static void judge(const struct probe *p, const struct round *one, const struct round *two,
                  struct property *out)
{
	bool known = one->start.p && two->start.p;
	bool moved = one->after.p && !probe_alike(p, &p->states, one->start, one->after);

	if (known && moved && kept_state(p, one, two)) {
		property_say(out, PROPERTY_FAIL, "incomplete", "the reset did not change the state",
		             "make reset() reinitialize everything that a step can change");
	} else if (known && moved && probe_alike(p, &p->states, one->start, two->start)) {
		property_say(out, PROPERTY_OK, "clean", "the initial state was the same both times",
		             NULL);
	} else {
		property_say(out, PROPERTY_UNKNOWN, "inconclusive",
		             !known   ? "the state is unknown"
		             : !moved ? "no call changed the state before the reset"
		                      : "the same seed gave a different initial state",
		             NULL);
	}
}

static void judge_refusal(const struct probe_reply *a, struct property *out)
{
	bool no_reply = a->layer == LAYER_TRANSPORT;

	property_judge(out, no_reply ? PROPERTY_UNKNOWN : PROPERTY_FAIL,
	               no_reply ? "no reply" : "refused");
	property_quote(out, a);
	if (!no_reply) {
		property_fix(out, "open a new session for each episode, or allow reset() to be "
		                  "called again");
	}
}

int property_reset(struct probe *p, struct property *out, struct error *err)
{
	struct round one = {.refused = false}, two = {.refused = false};

	if (!p->opened || !session_is_open(&p->sessions[0])) {
		return property_say(out, PROPERTY_UNKNOWN, "not tested",
		                    p->opened ? "the session was lost" : p->not_called, NULL);
	}
	if (!p->traits.starts_over) {
		return property_say(out, PROPERTY_SKIPPED, "not supported",
		                    "the server has no reset: one session is one episode", NULL);
	}
	int failed = play(p, &one, err) || (!one.refused && play(p, &two, err)) ? -1 : 0;
	if (!failed && (one.refused || two.refused))
		judge_refusal(one.refused ? &one.reset : &two.reset, out);
	else if (!failed)
		judge(p, &one, &two, out);
	return failed;
}
