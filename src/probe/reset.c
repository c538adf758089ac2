/* A reset within a session starts over cleanly: same seed, same start, and the count of
   steps begins again. Twice, so that the start of the first is known. */
#include "probe/inside.h"

#include <inttypes.h>

struct round {
	bool refused;
	struct answer reset, act;
	bool acted;
	struct moment start, after;
};

static int play(struct probe *p, struct round *r, struct error *err)
{
	struct session *s = &p->sessions[0];
	size_t place = p->changer < ACTS_MAX ? p->changer : p->good[0];

	r->start.json = r->after.json = BUF(0);
	r->act.env_steps = -1;
	if (session_reset(&p->asking, s, p->seed, err)) {
		return -1;
	}
	r->reset = s->last;
	r->refused = !session_is_open(s);
	if (r->refused) {
		return 0;
	}
	if (session_look(&p->asking, s, &r->start, err)) {
		return -1;
	}
	if (!p->good_count || !session_is_open(s)) {
		return 0;
	}
	r->acted = true;
	return session_step(&p->asking, s, p->acts[place].name, p->acts[place].arguments,
	                    &r->act, err) ||
	                       session_look(&p->asking, s, &r->after, err)
	               ? -1
	               : 0;
}

static bool same(const struct moment *a, const struct moment *b)
{
	return a->known && b->known && !strcmp(a->hash, b->hash);
}

static void say_leftovers(struct property *out)
{
	property_judge(out, PROPERTY_RED, "leaves things behind");
	property_advise(out, "reset() has to make everything anew that a step may have "
	                     "changed");
}

/* The second start is as the first was: that tells something when there was something to
   leave behind. */
static void judge_same_start(bool moved, bool restarted, struct property *out)
{
	bool told = moved || restarted;

	property_judge(out, told ? PROPERTY_OK : PROPERTY_UNKNOWN, "%s",
	               told ? "clean" : "cannot be told");
	property_saw(out, "%s",
	             moved       ? "the state was as at the first start"
	             : restarted ? "the count of steps began again"
	                         : "no call changed anything before it");
}

static void judge_other_start(bool known, bool restarted, struct property *out)
{
	property_judge(out, restarted ? PROPERTY_OK : PROPERTY_UNKNOWN, "%s",
	               restarted ? "starts over" : "cannot be told");
	if (restarted) {
		property_saw(out, "the count of steps began again");
	}
	property_saw(out, "%s",
	             known ? "the same seed led to another start"
	                   : "the state is unknown");
}

static void judge(const struct probe *p, const struct round *one, const struct round *two,
                  struct property *out)
{
	bool known = one->start.known && two->start.known && !p->restless;
	int64_t count = probe_counts(p) ? two->act.env_steps : -1;
	bool moved = one->after.known && !same(&one->start, &one->after);

	if (count > 1) {
		say_leftovers(out);
		property_saw(out,
		             "the first step after it was counted as number %" PRId64,
		             count);
	} else if (known && same(&one->start, &two->start)) {
		judge_same_start(moved, count == 1, out);
	} else if (known && moved && same(&one->after, &two->start)) {
		say_leftovers(out);
		property_saw(out, "the state was as before the reset");
	} else {
		judge_other_start(known, count == 1, out);
	}
}

static bool is_judged_without(const struct probe *p, struct property *out)
{
	if (!p->opened || !session_is_open(&p->sessions[0])) {
		property_judge(out, PROPERTY_UNKNOWN, "not tried");
		property_saw(out, "%s", p->opened ? "the session is gone" : p->no_acts);
		return true;
	}
	if (!p->starts_over) {
		property_judge(out, PROPERTY_SKIPPED, "no such thing");
		property_saw(out, "this server knows no reset: a session is an episode");
		return true;
	}
	return false;
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	struct round one = {.refused = false}, two = {.refused = false};

	if (is_judged_without(p, out)) {
		return 0;
	}
	if (play(p, &one, err) || (!one.refused && play(p, &two, err))) {
		return -1;
	}
	if (one.refused || two.refused) {
		const struct answer *a = one.refused ? &one.reset : &two.reset;
		bool silent = a->layer == LAYER_TRANSPORT;

		property_judge(out, silent ? PROPERTY_UNKNOWN : PROPERTY_RED,
		               silent ? "no answer" : "refused");
		property_quote(out, a);
		if (!silent) {
			property_advise(out, "open a session for each episode, or let "
			                     "reset() be called again");
		}
		return 0;
	}
	judge(p, &one, &two, out);
	return 0;
}

const struct property_ops property_reset = {examine};
