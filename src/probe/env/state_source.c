/* The state can be read before and after each call, contains more than bookkeeping, and calls
   change it. */
#include "evidence/limits.h"
#include "probe/probe_internal.h"

#include <inttypes.h>

static bool was_known(const struct probe *p)
{
	for (size_t i = 0; i < p->call_count; i++)
		if (p->calls[i].known)
			return true;
	return false;
}

/* Did the calls change a member of the replies by an effect that the state has too? */
static bool observations_changed(const struct probe *p)
{
	for (size_t i = 0; i < p->replies.changed_count; i++) {
		const struct member *m = p->replies.changed[i];
		struct str rest = str_skip(m->pointer, 1), key = str_cut(&rest, '/');

		if (m->explanation == MEMBER_EFFECT && json_type(p->start) == JSON_OBJECT &&
		    json_get(p->start, key).p) {
			return true;
		}
	}
	return false;
}

/* What did change may be a counter of the server, or what the calls add. */
static void say_counts(const struct probe *p, struct property *out)
{
	const struct member *m = p->not_called ? NULL : verdict_aside(&p->states);
	char text[160];

	if (m) {
		explain_sentence(m, text, sizeof(text));
		property_evidence(out, "but %s", text);
	}
}

/* What makes frozen-state an error of check; of calls that are drawn it proves less. */
static bool stands_still(const struct probe *p)
{
	const struct verdict *v = &p->verdict;

	bool could_show = v->silent || (p->unlike && probe_names_state(p));

	return p->named && could_show && !p->rewards_differ && v->acting >= STILL_CALLS &&
	       v->still == v->acting;
}

static void judge_moves(const struct probe *p, unsigned seen, struct property *out)
{
	const char *kind = state_kind_name(p->state_kind);
	size_t changes = probe_changes(p);

	if (changes && (seen & SEEN_BARE_STATE)) {
		property_say(out, PROPERTY_UNKNOWN, kind,
		             "the server's state contains only episode_id and step_count: changes "
		             "are visible only in observations",
		             "add what the actions change to the environment's State");
	} else if (changes) {
		property_judge(out, PROPERTY_OK, "%s", kind);
		property_evidence(out, "%zu of %zu call%s changed it", changes, p->call_count,
		                  plural(p->call_count));
	} else if (observations_changed(p) && probe_ok_calls(p) >= STILL_CALLS) {
		property_judge(out, PROPERTY_FAIL, "%s, never changes", kind);
		property_evidence(out, "the calls changed the replies, but never the state");
		property_fix(out, "choose another source with \1state\2");
	} else if (stands_still(p)) {
		property_judge(out, PROPERTY_FAIL, "%s, never changes", kind);
		property_evidence(out, "%" PRId64 " calls were answered and changed nothing%s",
		                  p->verdict.acting,
		                  p->verdict.silent ? "; all replies are equal" : "");
		property_fix(out, "let the calls and the state reach one environment, or choose "
		                  "another source with \1state\2");
	} else {
		property_say(out, PROPERTY_UNKNOWN, kind,
		             p->not_called ? p->not_called : "no call changed it", NULL);
		say_counts(p, out);
	}
}

int property_state_source(struct probe *p, struct property *out, struct error *err)
{
	unsigned seen = p->sessions[0].seen;
	const struct snapshot *start = &p->sessions[0].start;

	(void)err;
	if (!p->opened) {
		property_say(out, PROPERTY_UNKNOWN, "not seen", p->not_called, NULL);
	} else if (p->state_kind == STATE_NONE) {
		property_say(
			out, PROPERTY_UNKNOWN, "none", "the effect of a call cannot be observed",
			"choose one with \1state\2: tool:NAME, observation or, of an MCP server, resource:URI");
	} else if (seen & SEEN_SOURCE_LOST) {
		property_judge(out, PROPERTY_FAIL, "%s, of another environment",
		               state_kind_name(p->state_kind));
		property_evidence(out, "a call succeeded, but the step count in the state did "
		                       "not change");
		property_fix(out, "make calls and state requests reach the same session");
	} else if (seen & SEEN_UNUSED_SOURCE) {
		property_judge(out, PROPERTY_UNKNOWN, "%s, not used",
		               state_kind_name(p->state_kind));
		property_evidence(out, "calls are answered without it");
		property_fix(out, "declare the environment's state, or choose another source with "
		                  "\1state\2");
	} else if (p->state_drifts) {
		property_judge(out, PROPERTY_UNKNOWN, "%s, changes without a call",
		               state_kind_name(p->state_kind));
		property_evidence(out, "two reads without a call in between differed");
		property_fix(out, "ignore what changes without a call: \1ignore\2 POINTER");
	} else if (!start->known && !was_known(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "%s, unreadable",
		               state_kind_name(p->state_kind));
		const char *why = p->sessions[0].unread;

		property_evidence(out, "reading it failed%s%s", *why ? ": " : "", why);
		property_fix(out, "check the server's log, or choose another source with "
		                  "\1state\2");
	} else {
		judge_moves(p, seen, out);
	}
	return 0;
}
