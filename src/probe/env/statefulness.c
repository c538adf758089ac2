/* Calls of a session build on each other: session and episode stay the same, and replies depend on
   earlier calls (history.c). Counts and changes prove nothing: an environment that is rebuilt for
   each call may have both. */
#include "probe/probe_internal.h"

#define UNCOUNTED_MIN 8 /* consecutive uncounted calls: too many for chance */

static const struct probe_reply *misdirected_reply(const struct probe *p)
{
	for (size_t i = 0; i < p->call_count; i++)
		if (p->calls[i].reply.other_session)
			return &p->calls[i].reply;
	return NULL;
}

static void fix_routing(struct property *out)
{
	property_fix(out, "make every request reach the session it names: check proxies, "
	                  "worker processes and stateless modes in between");
}

/* Judges signs that calls do not reach the environment of their session. True: judged. */
static bool judge_misrouting(const struct probe *p, struct property *out)
{
	const struct probe_reply *misdirected = misdirected_reply(p);

	if (!misdirected && !(p->seen & (SEEN_REPLACED | SEEN_OTHER_EPISODE | SEEN_SOURCE_LOST)))
		return false;
	property_judge(out, PROPERTY_FAIL, "state lost between calls");
	if (misdirected) {
		property_evidence(out, "a reply named session %s, not the session of the call",
		                  misdirected->named);
	}
	if (p->seen & SEEN_REPLACED)
		property_evidence(out, "the session was replaced between calls");
	if (p->seen & SEEN_OTHER_EPISODE)
		property_evidence(out, "the episode changed between calls");
	if (p->seen & SEEN_SOURCE_LOST) {
		property_evidence(out,
		                  "a call succeeded, but the session's environment did not count "
		                  "it: it ran in another environment");
	}
	fix_routing(out);
	return true;
}

/* A call without a reply after others had succeeded, or one after which the session was lost. */
static bool judge_loss(const struct probe *p, size_t ok, struct property *out)
{
	const struct probe_call *last = &p->calls[p->call_count - 1];
	enum outcome o = last->reply.outcome;
	bool no_reply = o == OUTCOME_TIMEOUT || o == OUTCOME_TRANSPORT_ERROR;
	bool ended = p->lost && !last->reply.over;

	if (ok == 0 || (!no_reply && !ended && o != OUTCOME_SESSION_LOST))
		return false;
	property_judge(out, PROPERTY_FAIL, "session lost");
	property_evidence(out, "call %zu", p->call_count);
	property_quote(out, o == OUTCOME_OK ? &p->last : &last->reply);
	property_fix(out, "check the server's log%s",
	             o == OUTCOME_TIMEOUT ? "; for slow steps, raise \1timeout\2" : "");
	return true;
}

/* Was one of the last `uncounted` calls made with effect earlier? Then the environment stopped, and
   the call is not to blame. */
static bool repeats_effective(const struct probe *p, size_t uncounted)
{
	for (size_t i = p->call_count - uncounted; i < p->call_count; i++) {
		for (size_t j = 0; j < p->call_count - uncounted; j++) {
			if (p->calls[j].changed && str_eq(p->calls[i].name, p->calls[j].name) &&
			    str_eq(p->calls[i].arguments, p->calls[j].arguments)) {
				return true;
			}
		}
	}
	return false;
}

/* Steps were counted and no longer are: the environment may be gone. */
static bool judge_stop(const struct probe *p, struct property *out)
{
	size_t uncounted = probe_uncounted(p);

	if (uncounted < 2 || p->calls[p->call_count - 1].reply.env_steps < 1)
		return false;
	if (uncounted >= UNCOUNTED_MIN && repeats_effective(p, uncounted)) {
		property_judge(out, PROPERTY_FAIL, "stopped counting");
		property_fix(out, "the session outlives its environment: look for an idle "
		                  "timeout or a step limit, and check the server's log");
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "inconclusive");
	}
	property_evidence(out,
	                  "the last %zu calls succeeded, but were not counted and changed nothing",
	                  uncounted);
	return true;
}

static void judge_history(const struct probe *p, size_t ok, struct property *out)
{
	const struct history_verdict *v = &p->history;
	size_t changes = probe_changes(p);

	switch (v->answer) {
	case HISTORY_KEPT:
		property_judge(out, PROPERTY_OK, "state kept between calls");
		break;
	case HISTORY_NONE:
		property_say(out, PROPERTY_FAIL, "state lost between calls",
		             "no reply depends on earlier calls", NULL);
		fix_routing(out);
		break;
	case HISTORY_UNKNOWN:
		property_say(
			out, PROPERTY_UNKNOWN, "inconclusive", v->why,
			"specify calls that build on each other (\1call\2 or \1actions\2) and a "
			"state source (\1state\2)");
		break;
	}
	property_evidence(out, "%zu call%s succeeded%s", ok, plural(ok),
	                  ok == 1 && p->calls[p->call_count - 1].reply.over
	                          ? ", then the episode ended"
	                          : "");
	if (p->calls[0].known)
		property_evidence(out, "the state changed %zu time%s", changes, plural(changes));
	else
		property_evidence(out, "the state is unknown");
}

static void judge_all_failed(const struct probe *p, struct property *out)
{
	property_judge(out, PROPERTY_UNKNOWN, "no call succeeded");
	property_evidence(out, "%s %s", p->calls[0].name.p, p->calls[0].arguments.p);
	property_quote(out, &p->calls[0].reply);
	if (!p->named && p->calls[0].reply.layer != LAYER_TRANSPORT)
		property_fix(out, "specify calls that succeed: \1call\2 or \1actions\2");
}

int property_statefulness(struct probe *p, struct property *out, struct error *err)
{
	size_t ok = probe_ok_calls(p);

	if (probe_history(p, err))
		return -1;
	if (p->not_called) {
		property_say(out, PROPERTY_UNKNOWN, "not tested", p->not_called,
		             p->opened ? "specify calls to try: \1actions\2 A,B or \1policy\2"
		                       : NULL);
	} else if (judge_misrouting(p, out)) {
		/* judged */
	} else if (ok == 0) {
		judge_all_failed(p, out);
	} else if (!judge_loss(p, ok, out) && !judge_stop(p, out)) {
		judge_history(p, ok, out);
	}
	p->loses_state = out->status == PROPERTY_FAIL;
	return 0;
}
