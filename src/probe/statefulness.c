/* A call builds on what the one before it did: the count of steps and the state move on,
   and session and episode stay the same. */
#include "probe/inside.h"

#include <inttypes.h>

#define VAIN_MIN 8 /* calls in vain, in a row, that are no bad luck of the draw */

static size_t count_changes(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->act_count; i++) {
		n += p->acts[i].changed;
	}
	return n;
}

/* The count after each call that told it: does it ever fall? */
static bool count_fell(const struct probe *p)
{
	int64_t last = -1;

	for (size_t i = 0; i < p->act_count; i++) {
		int64_t now = p->acts[i].answer.env_steps;

		if (now >= 0 && now < last) {
			return true;
		}
		last = now >= 0 ? now : last;
	}
	return false;
}

static const struct answer *foreign_answer(const struct probe *p)
{
	for (size_t i = 0; i < p->act_count; i++) {
		if (p->acts[i].answer.other_session) {
			return &p->acts[i].answer;
		}
	}
	return NULL;
}

/* Different calls got different answers: something moves where the answers come from. */
static bool answers_differ(const struct probe *p)
{
	const struct answer *first = NULL;

	for (size_t i = 0; i < p->act_count; i++) {
		const struct answer *a = &p->acts[i].answer;

		if (a->outcome != OUTCOME_OK || !a->has_observation) {
			continue;
		}
		if (first && strcmp(first->observation, a->observation) != 0) {
			return true;
		}
		first = a;
	}
	return false;
}

static void say_restarts(struct property *out)
{
	property_advise(out, "every request has to reach the session it names: look at "
	                     "proxies, workers and stateless modes on the way");
}

/* Signs that calls do not reach the environment of their session. True: judged. */
static bool judge_signs(struct probe *p, struct property *out)
{
	unsigned saw = p->sessions[0].saw;
	const struct answer *foreign = foreign_answer(p);

	if (!foreign && !(saw & (SAW_REPLACED | SAW_OTHER_EPISODE | SAW_SOURCE_LOST)) &&
	    !count_fell(p)) {
		return false;
	}
	property_judge(out, PROPERTY_RED, "starts over");
	if (foreign) {
		property_saw(out, "an answer named session %s, which is not ours",
		             foreign->named);
	}
	if (saw & SAW_REPLACED) {
		property_saw(out, "the session was replaced between the calls");
	}
	if (saw & SAW_OTHER_EPISODE) {
		property_saw(out, "the episode changed between the calls");
	}
	if (saw & SAW_SOURCE_LOST) {
		property_saw(out, "a call succeeded, and the session's environment did "
		                  "not count it: it went elsewhere");
	}
	if (count_fell(p)) {
		property_saw(out, "the environment's count of steps fell between calls");
	}
	say_restarts(out);
	return true;
}

/* Was one of the last `vain` calls one that had been counted before? Then it is the
   environment that has changed its mind, not the call that is worth nothing. */
static bool repeats_counted(const struct probe *p, size_t vain)
{
	for (size_t i = p->act_count - vain; i < p->act_count; i++) {
		for (size_t j = 0; j < p->act_count - vain; j++) {
			int64_t before = j ? p->acts[j - 1].answer.env_steps : 0;

			if (p->acts[j].answer.env_steps > before &&
			    str_eq(p->acts[i].name, p->acts[j].name) &&
			    str_eq(p->acts[i].arguments, p->acts[j].arguments)) {
				return true;
			}
		}
	}
	return false;
}

/* It did count, and does so no more: an environment that is no longer there? */
static bool judge_stop(const struct probe *p, struct property *out)
{
	size_t vain = probe_uncounted(p);

	if (probe_count_after_acts(p) < 1 || vain < 2) {
		return false;
	}
	if (vain >= VAIN_MIN && repeats_counted(p, vain)) {
		property_judge(out, PROPERTY_RED, "stops");
		property_advise(out, "the session outlives its environment: look for a "
		                     "limit of its idle time or of its steps, and in "
		                     "the server's own log");
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "cannot be told");
	}
	property_saw(out,
	             "the last %zu calls succeeded, were not counted, and changed "
	             "nothing",
	             vain);
	return true;
}

static void judge_growth(const struct probe *p, size_t ok, struct property *out)
{
	int64_t count = probe_count_after_acts(p);
	size_t changes = count_changes(p);
	bool observed = !strcmp(p->state_kind, "observation");

	/* a server without memory would show the state of a fresh start */
	bool kept = !observed && (changes > 1 || (changes && count < 0));
	bool stands = count >= 0 && ok > 1 && !changes && answers_differ(p);

	if (count > 1 || kept) {
		property_judge(out, PROPERTY_OK, "keeps its state");
	} else if (stands) {
		property_judge(out, PROPERTY_RED, "starts over");
		say_restarts(out);
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "cannot be told");
		property_advise(out, "name calls that change something (--actions), and "
		                     "where the state can be read (--state)");
	}
}

static void judge_count(const struct probe *p, size_t ok, struct property *out)
{
	int64_t count = probe_count_after_acts(p);
	size_t changes = count_changes(p);

	if (!judge_stop(p, out)) {
		judge_growth(p, ok, out);
	}
	property_saw(out, "%zu call%s succeeded%s", ok, plural(ok),
	             ok == 1 && p->acts[p->act_count - 1].answer.over
	                     ? ", and the episode was over"
	                     : "");
	if (count >= 0) {
		property_saw(out, "the environment counts %" PRId64 " step%s", count,
		             count == 1 ? "" : "s");
	}
	if (p->acts[0].known) {
		property_saw(out, "the state changed %zu time%s", changes,
		             plural(changes));
	} else {
		property_saw(out, "the state is unknown");
	}
}

/* A call that got no answer after others had got theirs, or one after which the session
   could not be asked for anything more. */
static bool judge_loss(struct probe *p, size_t ok, struct property *out)
{
	const struct act *last = &p->acts[p->act_count - 1];
	enum outcome o = last->answer.outcome;
	bool silent = o == OUTCOME_TIMEOUT || o == OUTCOME_TRANSPORT_ERROR;
	bool gone = p->sessions[0].how == SESSION_LOST && !last->answer.over;

	if (ok == 0 || (!silent && !gone && o != OUTCOME_SESSION_LOST)) {
		return false;
	}
	property_judge(out, PROPERTY_RED, "loses the session");
	property_saw(out, "call %zu", p->act_count);
	property_quote(out, o == OUTCOME_OK ? &p->sessions[0].last : &last->answer);
	property_advise(out, "see the server's own log%s",
	                o == OUTCOME_TIMEOUT
	                        ? "; a step that takes longer needs a longer --timeout"
	                        : "");
	return true;
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	size_t ok = probe_ok_acts(p);

	(void)err;
	if (p->no_acts) {
		property_judge(out, PROPERTY_UNKNOWN, "not tried");
		property_saw(out, "%s", p->no_acts);
		if (p->opened) {
			property_advise(out,
			                "name calls to try: --actions A,B or --policy");
		}
		return 0;
	}
	if (judge_signs(p, out)) {
		p->forgets = true;
		return 0;
	}
	if (ok == 0) {
		property_judge(out, PROPERTY_UNKNOWN, "no call succeeded");
		property_saw(out, "%s %s", p->acts[0].name.p, p->acts[0].arguments.p);
		property_quote(out, &p->acts[0].answer);
		if (!p->named && p->acts[0].answer.layer != LAYER_TRANSPORT) {
			property_advise(out, "name calls that succeed: --actions A,B");
		}
		return 0;
	}
	if (!judge_loss(p, ok, out)) {
		judge_count(p, ok, out);
	}
	p->forgets = out->status == PROPERTY_RED;
	return 0;
}

const struct property_ops property_statefulness = {examine};
