/* Rule only-counts: all that changed counts the calls or repeats their words. */
#include "check/rule.h"

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct span steps = {.count = 0};
	const struct member *member = verdict_counter(r->series);
	char pointer[80], name[64], text[160], how[192] = "";

	for (int64_t k = 0; k < r->steps; k++) {
		const struct completed_step *p = &r->completed[k];

		if (p->counted && !p->idle && !p->outside_episode)
			span_add(&steps, p->turn, p->step);
	}
	/* beside movement, a count is just a count */
	if (steps.count == 0 || r->verdict.moved > 0 || !member)
		return;
	peer_name(r->work, member->pointer, name, sizeof(name));
	snprintf(pointer, sizeof(pointer), "/state%s", name);
	explain_sentence(member, text, sizeof(text));
	if (name[0]) /* the state as a whole cannot be named */
		snprintf(how, sizeof(how), "; say which with \1ignore\2 %s or \1effect\2 %s", name,
		         name);
	finding_add(out, SEVERITY_WARNING, &steps, pointer,
	            "%s: a counter of calls, or what the calls %s%s", text,
	            member->explanation == MEMBER_ECHO ? "set" : "add", how);
}

const struct check check_only_counts = {
	.id = "only-counts",
	.title = "all that the calls changed counts them, or repeats their words",
	.severity = SEVERITY_WARNING,
	.why = "The calls were answered, but all that changed in the state grew by the same "
	       "amount at each call, or repeats words of the call. That is what a counter of "
	       "requests does in an environment that never moves, and also what a basket does "
	       "into which one thing is put at a time: watching cannot tell them apart.\n"
	       "Look at what the member is: does it stand for something in the environment?\n"
	       "Fix: say which it is, \1ignore\2 POINTER for a counter, \1effect\2 POINTER for an "
	       "effect of the calls; or let an experiment tell: rolldbg run \1confirm\2, rolldbg "
	       "probe.",
	.needs = FACT(STATE),
	.end = end,
};
