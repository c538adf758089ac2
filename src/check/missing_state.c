/* Rule missing-state: a state source was named, and a step has no state before it. */
#include "check/peer.h"

#include <inttypes.h>

struct missing {
	struct span steps;
	bool lost;    /* the source turned out to speak for another environment */
	bool skipped; /* reading it would have disturbed the episode */
};

/* With the observation as state there is none before the first one, and none
   after a failed step. */
static bool is_expected(const struct missing *s, const struct rollout_facts *r)
{
	return r->source == SOURCE_NONE || s->lost || s->skipped ||
	       (r->source == SOURCE_OBSERVATION && (r->steps == 1 || r->earlier.failed));
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)out;
	struct missing *s = state;
	if (m->line->type == LINE_EVENT) {
		s->lost = s->lost ||
		          peer_is(m->line->value[KEY_EVENT], STR("state-source-lost"));
		s->skipped = s->skipped || peer_skipped(m->line);
		return;
	}
	if (!is_expected(s, r))
		span_add(&s->steps, m->line->turn, m->line->step);
	s->skipped = false;
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct missing *s = state;
	if (s->steps.count > 0)
		finding_say(out, SEVERITY_ERROR, &s->steps, "/state",
		            "%" PRId64 " of %" PRId64
		            " steps have no state before the action, though a state "
		            "source is named",
		            s->steps.count, r->steps);
}

const struct check check_missing_state = {
	.id = "missing-state",
	.title = "no state before the action, although a state source is named",
	.why = "The header names where the state comes from, but steps were taken "
	       "without one. Whether those steps did anything cannot be told, a "
	       "debugger has nothing to show, and a policy that was to see the state "
	       "acted blind.\n"
	       "Look at the events around the first such step, and ask the source by "
	       "hand in the same session: an endpoint that answers 404 or an error, "
	       "a resource that is not there, a tool that refuses, a pointer that "
	       "leads nowhere.\n"
	       "Cure: name a source that answers (--state), or say --state none.",
	.wants = WANT_STATELESS | WANT_EVENT,
	.state_size = sizeof(struct missing),
	.line = line,
	.end = end,
};
