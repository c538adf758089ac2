/* Rule no-effect: different calls in a row claimed success, and the state stood still. */
#include "check/rule.h"

struct no_effect {
	struct span now, longest;
	uint64_t calls[STILL_CALLS]; /* the different ones of `now` */
	size_t different;
};

static bool is_new(struct no_effect *s, uint64_t call)
{
	for (size_t i = 0; i < s->different; i++)
		if (s->calls[i] == call)
			return false;
	return s->different < STILL_CALLS;
}

/* The same call at the same place is a wall, not another failure. */
static struct span longest_still(const struct rollout_facts *r)
{
	struct no_effect s = {.different = 0};

	for (int64_t i = 0; i < r->steps; i++) {
		const struct completed_step *p = &r->completed[i];

		if (p->idle || p->outside_episode)
			continue;
		if (p->effect != EFFECT_UNCHANGED || p->failed || p->expected) {
			s.now = (struct span){.count = 0};
			s.different = 0;
			continue;
		}
		if (is_new(&s, p->call))
			s.calls[s.different++] = p->call;
		span_add(&s.now, p->turn, p->step);
		if (s.different == STILL_CALLS && s.now.count > s.longest.count)
			s.longest = s.now;
	}
	return s.longest;
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct span still = longest_still(r);

	/* nothing at all is frozen-state */
	if (still.count > 0 && !verdict_is_still(&r->verdict)) {
		finding_add(out, SEVERITY_WARNING, &still, "/state",
		            "%" PRId64 " calls in a row, different ones, were answered without an "
		            "error and changed nothing%s",
		            still.count,
		            r->verdict.moved > 0 ? ", although other calls changed the state" : "");
	}
}

const struct check check_no_effect = {
	.id = "no-effect",
	.title = "three different calls in a row were answered and changed nothing",
	.severity = SEVERITY_WARNING,
	.why = "At least three different calls in a row were answered without an error, and an "
	       "informative state stood still, although other calls of the rollout changed it. "
	       "Walls and rejected moves look like this, too: then the replies say so.\n"
	       "Look at the replies of these turns: do they claim a success that the state does "
	       "not show? Compare with the turn before: did the environment end, was it "
	       "replaced, or is the state read from a cache?\n"
	       "Fix: report what was not done as an error; name calls meant to do nothing with "
	       "\1noop\2.",
	.needs = FACT(STATE),
	.end = end,
};
