/* Rule only-counts: all that changed counts the calls or repeats their words. */
#include "check/rule.h"

struct only_counts {
	struct span steps;
};

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	struct only_counts *s = state;

	if (p->counted && !p->idle && !p->outside_episode)
		span_add(&s->steps, p->turn, p->step);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct only_counts *s = state;
	const struct member *member = verdict_aside(r->series);
	char pointer[80], name[64], text[160];

	/* beside movement, a count is just a count */
	if (s->steps.count == 0 || r->verdict.moved > 0 || !member)
		return;
	peer_name(r->work, member->pointer, name, sizeof(name));
	snprintf(pointer, sizeof(pointer), "/state%s", name);
	explain_sentence(member, text, sizeof(text));
	finding_add(out, SEVERITY_WARNING, &s->steps, pointer,
	            "%s: a counter of calls, or what the calls %s; say which with \1ignore\2 %s or "
	            "\1effect\2 %s",
	            text, member->explanation == MEMBER_ECHO ? "set" : "add", name, name);
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
	.state_size = sizeof(struct only_counts),
	.completed = completed,
	.end = end,
};
