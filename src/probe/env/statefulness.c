/* Calls of a session build on each other: the step count increases, the state changes, and
   session and episode stay the same. */
#include "probe/probe_internal.h"

#include <inttypes.h>

#define UNCOUNTED_MIN 8 /* consecutive uncounted calls: too many for chance */

static size_t count_changes(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->call_count; i++) {
		n += p->calls[i].changed;
	}
	return n;
}

/* How the reported step count went: other environments count for themselves. */
struct count_path {
	bool fell;    /* it decreased: a new level or an automatic reset may do that, too */
	bool crossed; /* it decreased, and later increased by more than one: two counts in turn */
};

static struct count_path count_path(const struct probe *p)
{
	struct count_path path = {.fell = false};
	int64_t last = 0;

	for (size_t i = 0; i < p->call_count; i++) {
		int64_t now = p->calls[i].reply.env_steps;

		if (now >= 0) {
			path.crossed = path.crossed || (path.fell && now > last + 1);
			path.fell = path.fell || (now < last && !p->calls[i].reply.over);
			last = now;
		}
	}
	return path;
}

static const struct probe_reply *misdirected_reply(const struct probe *p)
{
	for (size_t i = 0; i < p->call_count; i++) {
		if (p->calls[i].reply.other_session) {
			return &p->calls[i].reply;
		}
	}
	return NULL;
}

/* Did different calls get different observations? Then something changes on the server. */
static bool observations_differ(const struct probe *p)
{
	const struct probe_reply *first = NULL;

	for (size_t i = 0; i < p->call_count; i++) {
		const struct probe_reply *a = &p->calls[i].reply;

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

static void fix_routing(struct property *out)
{
	property_fix(out, "make every request reach the session it names: check proxies, "
	                  "worker processes and stateless modes in between");
}

/* Judges signs that calls do not reach the environment of their session. True: judged. */
static bool judge_misrouting(struct probe *p, struct property *out)
{
	unsigned seen = p->sessions[0].seen;
	const struct probe_reply *misdirected = misdirected_reply(p);

	bool crossed = count_path(p).crossed;

	if (!misdirected && !crossed &&
	    !(seen & (SEEN_REPLACED | SEEN_OTHER_EPISODE | SEEN_SOURCE_LOST))) {
		return false;
	}
	property_judge(out, PROPERTY_FAIL, "state lost between calls");
	if (misdirected) {
		property_evidence(out, "a reply named session %s, not the session of the call",
		                  misdirected->named);
	}
	if (seen & SEEN_REPLACED) {
		property_evidence(out, "the session was replaced between calls");
	}
	if (seen & SEEN_OTHER_EPISODE) {
		property_evidence(out, "the episode changed between calls");
	}
	if (seen & SEEN_SOURCE_LOST) {
		property_evidence(out,
		                  "a call succeeded, but the session's environment did not count "
		                  "it: it ran in another environment");
	}
	if (crossed) {
		property_evidence(out, "the environment's step count decreased between calls and "
		                       "went on elsewhere");
	}
	fix_routing(out);
	return true;
}

/* Was one of the last `uncounted` calls counted earlier? Then the environment stopped, and the
   call is not to blame. */
static bool repeats_counted(const struct probe *p, size_t uncounted)
{
	for (size_t i = p->call_count - uncounted; i < p->call_count; i++) {
		for (size_t j = 0; j < p->call_count - uncounted; j++) {
			int64_t before = j ? p->calls[j - 1].reply.env_steps : 0;

			if (p->calls[j].reply.env_steps > before &&
			    str_eq(p->calls[i].name, p->calls[j].name) &&
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

	if (probe_count_after_calls(p) < 1 || uncounted < 2) {
		return false;
	}
	if (uncounted >= UNCOUNTED_MIN && repeats_counted(p, uncounted)) {
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

static void judge_growth(const struct probe *p, size_t ok, struct property *out)
{
	int64_t count = probe_count_after_calls(p);
	size_t changes = count_changes(p);
	bool observed = p->state_kind == STATE_OBSERVATION;

	/* a stateless server would show the initial state */
	bool kept = !observed && (changes > 1 || (changes && count < 0));
	bool uncounted = count >= 0 && ok > 1 && !changes && observations_differ(p);

	if ((count > 1 && !count_path(p).fell) || kept) {
		property_judge(out, PROPERTY_OK, "state kept between calls");
	} else if (uncounted) {
		property_judge(out, PROPERTY_FAIL, "state lost between calls");
		fix_routing(out);
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "inconclusive");
		property_fix(out, "specify calls that change something (\1actions\2) and a state "
		                  "source (\1state\2)");
	}
}

static void judge_count(const struct probe *p, size_t ok, struct property *out)
{
	int64_t count = probe_count_after_calls(p);
	size_t changes = count_changes(p);

	if (!judge_stop(p, out)) {
		judge_growth(p, ok, out);
	}
	property_evidence(out, "%zu call%s succeeded%s", ok, plural(ok),
	                  ok == 1 && p->calls[p->call_count - 1].reply.over
	                          ? ", then the episode ended"
	                          : "");
	if (count >= 0) {
		property_evidence(out, "the environment counted %" PRId64 " step%s", count,
		                  count == 1 ? "" : "s");
	}
	if (p->calls[0].known) {
		property_evidence(out, "the state changed %zu time%s", changes, plural(changes));
	} else {
		property_evidence(out, "the state is unknown");
	}
}

/* A call without a reply after others had succeeded, or one after which the session was lost. */
static bool judge_loss(struct probe *p, size_t ok, struct property *out)
{
	const struct probe_call *last = &p->calls[p->call_count - 1];
	enum outcome o = last->reply.outcome;
	bool no_reply = o == OUTCOME_TIMEOUT || o == OUTCOME_TRANSPORT_ERROR;
	bool ended = p->sessions[0].status == SESSION_LOST && !last->reply.over;

	if (ok == 0 || (!no_reply && !ended && o != OUTCOME_SESSION_LOST)) {
		return false;
	}
	property_judge(out, PROPERTY_FAIL, "session lost");
	property_evidence(out, "call %zu", p->call_count);
	property_quote(out, o == OUTCOME_OK ? &p->sessions[0].last : &last->reply);
	property_fix(out, "check the server's log%s",
	             o == OUTCOME_TIMEOUT ? "; for slow steps, raise \1timeout\2" : "");
	return true;
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	size_t ok = probe_ok_calls(p);

	(void)err;
	if (p->not_called) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
		property_evidence(out, "%s", p->not_called);
		if (p->opened) {
			property_fix(out, "specify calls to try: \1actions\2 A,B or \1policy\2");
		}
		return 0;
	}
	if (judge_misrouting(p, out)) {
		p->loses_state = true;
		return 0;
	}
	if (ok == 0) {
		property_judge(out, PROPERTY_UNKNOWN, "no call succeeded");
		property_evidence(out, "%s %s", p->calls[0].name.p, p->calls[0].arguments.p);
		property_quote(out, &p->calls[0].reply);
		if (!p->named && p->calls[0].reply.layer != LAYER_TRANSPORT) {
			property_fix(out, "specify calls that succeed: \1actions\2 A,B");
		}
		return 0;
	}
	if (!judge_loss(p, ok, out)) {
		judge_count(p, ok, out);
	}
	p->loses_state = out->status == PROPERTY_FAIL;
	return 0;
}

const struct property_ops property_statefulness = {examine};
