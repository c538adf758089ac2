/* A reset within a session starts a clean episode: the same seed gives the same initial state,
   and the step count restarts. Done twice, so that the first initial state is known. */
#include "probe/probe_internal.h"

#include <inttypes.h>

struct round {
	bool refused;
	struct probe_reply reset, act;
	bool acted;
	struct snapshot before, start, after;
};

static int play(struct probe *p, struct round *r, struct error *err)
{
	struct session *s = &p->sessions[0];
	size_t place = p->first_effect < CALLS_MAX ? p->first_effect : p->good[0];

	r->before.json = r->start.json = r->after.json = BUF(0);
	r->act.env_steps = -1;
	if (session_read_state(&p->pool, s, &r->before, err) ||
	    session_reset(&p->pool, s, p->seed, err)) {
		return -1;
	}
	r->reset = s->last;
	r->refused = !session_is_open(s);
	if (r->refused) {
		return 0;
	}
	if (session_read_state(&p->pool, s, &r->start, err)) {
		return -1;
	}
	if (!p->good_count || !session_is_open(s)) {
		return 0;
	}
	r->acted = true;
	return session_step(&p->pool, s, p->calls[place].name, p->calls[place].arguments, &r->act,
	                    err) ||
	                       session_read_state(&p->pool, s, &r->after, err)
	               ? -1
	               : 0;
}

static bool same(const struct snapshot *a, const struct snapshot *b)
{
	return a->known && b->known && !strcmp(a->hash, b->hash);
}

static void judge_incomplete(struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "incomplete");
	property_fix(out, "make reset() reinitialize everything that a step can change");
}

/* Both initial states are equal. That proves something only if the calls in between changed the
   state or the count restarted. */
static void judge_same_start(bool moved, bool restarted, struct property *out)
{
	bool shown = moved || restarted;

	property_judge(out, shown ? PROPERTY_OK : PROPERTY_UNKNOWN, "%s",
	               shown ? "clean" : "inconclusive");
	property_evidence(out, "%s",
	                  moved       ? "the initial state was the same both times"
	                  : restarted ? "the step count restarted"
	                              : "no call changed the state before the reset");
}

static void judge_other_start(bool known, bool restarted, struct property *out)
{
	property_judge(out, restarted ? PROPERTY_OK : PROPERTY_UNKNOWN, "%s",
	               restarted ? "starts over" : "inconclusive");
	if (restarted) {
		property_evidence(out, "the step count restarted");
	}
	property_evidence(out, "%s",
	                  known ? "the same seed gave a different initial state"
	                        : "the state is unknown");
}

/* Where the initial state is one of a few, drawn at random, it may once equal the last state. */
static bool kept_state(const struct round *one, const struct round *two)
{
	return same(&one->before, &one->start) && same(&two->before, &two->start);
}

static void judge(const struct probe *p, const struct round *one, const struct round *two,
                  struct property *out)
{
	bool known = one->start.known && two->start.known && !p->state_drifts;
	int64_t count = probe_counts(p) ? two->act.env_steps : -1;
	bool moved = one->after.known && !same(&one->start, &one->after);
	bool restarted = count >= 0 && count == probe_first_count(p);

	if (count > 1 && !restarted && probe_counts_by_one(p)) {
		judge_incomplete(out);
		property_evidence(
			out, "the first step after the reset was counted as step %" PRId64, count);
	} else if (known && same(&one->start, &two->start)) {
		judge_same_start(moved, restarted, out);
	} else if (known && moved && kept_state(one, two)) {
		judge_incomplete(out);
		property_evidence(out, "the reset did not change the state");
	} else {
		judge_other_start(known, restarted, out);
	}
}

static bool is_not_testable(const struct probe *p, struct property *out)
{
	if (!p->opened || !session_is_open(&p->sessions[0])) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
		property_evidence(out, "%s", p->opened ? "the session was lost" : p->not_called);
		return true;
	}
	if (!p->traits.starts_over) {
		property_judge(out, PROPERTY_SKIPPED, "not supported");
		property_evidence(out, "the server has no reset: one session is one episode");
		return true;
	}
	return false;
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	struct round one = {.refused = false}, two = {.refused = false};

	if (is_not_testable(p, out)) {
		return 0;
	}
	if (play(p, &one, err) || (!one.refused && play(p, &two, err))) {
		return -1;
	}
	if (one.refused || two.refused) {
		const struct probe_reply *a = one.refused ? &one.reset : &two.reset;
		bool no_reply = a->layer == LAYER_TRANSPORT;

		property_judge(out, no_reply ? PROPERTY_UNKNOWN : PROPERTY_FAIL,
		               no_reply ? "no reply" : "refused");
		property_quote(out, a);
		if (!no_reply) {
			property_fix(out, "open a new session for each episode, or allow "
			                  "reset() to be called again");
		}
		return 0;
	}
	judge(p, &one, &two, out);
	return 0;
}

const struct property_ops property_reset = {examine};
