/* Rule missing-state: a state source was named, and a step has no state before it. */
#include "check/check.h"

#include "facts/peer.h"

#include <inttypes.h>

struct missing {
	struct span steps;
	bool lost;    /* the source turned out to belong to another environment */
	bool skipped; /* reading it would have disturbed the episode, or it was truncated */
};

/* If the observation is the state, there is none before the first observation, and none after a
   failed step. */
static bool is_expected(const struct missing *s, const struct rollout_facts *r)
{
	return r->source == SOURCE_NONE || s->lost || s->skipped ||
	       (r->source == SOURCE_OBSERVATION && (r->steps == 1 || r->previous.failed));
}

/* It was read, but is longer than a line may be: its hash is recorded. */
static bool was_cut(const struct line *event)
{
	return event->event == EVENT_TRUNCATED_BYTES &&
	       peer_is(JSON_GET(event->value[KEY_DETAIL], "what"), STR("state"));
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct missing *s = state;
	if (m->line->type == LINE_EVENT) {
		s->lost = s->lost || m->line->event == EVENT_STATE_SOURCE_LOST;
		s->skipped = s->skipped || peer_skipped(m->line) || was_cut(m->line);
		return;
	}
	if (!is_expected(s, r)) {
		span_add(&s->steps, m->line->turn, m->line->step);
	}
	s->skipped = false;
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct missing *s = state;
	if (s->steps.count > 0) {
		finding_say(out, SEVERITY_ERROR, &s->steps, "/state",
		            "%" PRId64 " of %" PRId64 " steps have no state before the "
		            "action, although there is a state source",
		            s->steps.count, r->steps);
	}
}

const struct check check_missing_state = {
	.id = "missing-state",
	.title = "no state was recorded before the action, although there is a state source",
	.severity = SEVERITY_ERROR,
	.why = "The header names a state source, but steps have no state. Whether those steps had "
	       "an effect is unknown, a debugger has nothing to show, and a policy that needed the "
	       "state acted without it.\n"
	       "Look at the events around the first such step, and query the source yourself in the "
	       "same session: an endpoint that answers 404 or an error, a resource that does not "
	       "exist, a tool that refuses, a pointer that matches nothing.\n"
	       "Fix: choose a source that works (\1state\2), or use \1state\2 none.",
	.needs = UINT64_C(1) << KEY_STATE,
	.wants = KIND_NO_STATE | KIND_EVENT,
	.state_size = sizeof(struct missing),
	.line = line,
	.end = end,
};
