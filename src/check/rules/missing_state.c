/* Rule missing-state: there is a state source, but a step has no state. */
#include "check/rule.h"

struct missing {
	struct span steps;
	struct span reads; /* events: a read of the named tool or resource failed */
	char reason[ERROR_TEXT];
	bool was_read; /* some state was read, even if empty */
	bool blind;    /* after some step, neither reward nor termination was known */
	bool named;    /* the user named the tool or the resource to read it from */
	bool lost;     /* the source turned out to belong to another environment */
	bool skipped;  /* reading it would have disturbed the episode, or it was truncated */
};

/* If the observation is the state, there is no state before the first observation, nor after a
   failed step. */
static bool is_expected(const struct missing *s, const struct rollout_facts *r)
{
	return r->source == SOURCE_NONE || s->lost || s->skipped ||
	       (r->source == SOURCE_OBSERVATION && (r->steps == 1 || r->previous.failed));
}

/* The state was read, but exceeds the length of a line: only its hash is recorded. */
static bool was_cut(const struct line *event)
{
	return event->event == EVENT_TRUNCATED_BYTES &&
	       json_is(JSON_GET(event->value[KEY_DETAIL], "what"), STR("state"));
}

static void add_event(struct missing *s, const struct rollout_facts *r, const struct line *event)
{
	struct str reason = JSON_GET(event->value[KEY_DETAIL], "why");

	s->lost = s->lost || event->event == EVENT_STATE_SOURCE_LOST;
	s->skipped = s->skipped || peer_skipped(event) || was_cut(event);
	if (!s->named || !peer_failed_state_read(event))
		return;
	span_add(&s->reads, event->turn, -1);
	if (!s->reason[0])
		peer_text(r->work, reason, s->reason, sizeof(s->reason));
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct missing *s = state;

	if (m->line->type == LINE_HEADER) {
		s->named = peer_named_state_source(m->line);
		return;
	}
	if (m->line->type == LINE_EVENT) {
		add_event(s, r, m->line);
		return;
	}
	s->blind =
		s->blind || (!line_has(m->line, KEY_REWARD) && !line_has(m->line, KEY_TERMINATED));
	if (line_has(m->line, KEY_STATE)) {
		s->was_read = true;
		return;
	}
	if (!is_expected(s, r))
		span_add(&s->steps, m->line->turn, m->line->step);
	s->skipped = false;
}

/* A server that implements no state, while everything else works. */
static bool is_unsupported(const struct missing *s, const struct rollout_facts *r)
{
	return r->source != SOURCE_OBSERVATION && !s->named && !s->was_read && !s->blind &&
	       s->steps.count == r->steps;
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct missing *s = state;
	bool unsupported = is_unsupported(s, r);
	enum severity severity =
		unsupported || s->steps.count == 0 ? SEVERITY_WARNING : SEVERITY_ERROR;

	if (s->reads.count > 0) {
		finding_add(out, severity, s->steps.count ? &s->steps : &s->reads,
		            s->steps.count ? "/state" : "/event",
		            "%" PRId64 " read%s of the state failed%s: %s", s->reads.count,
		            plural(s->reads.count),
		            s->was_read ? "" : " (choose another \1state\2: see rolldbg tools)",
		            s->reason);
	} else if (s->steps.count > 0) {
		finding_add(out, severity, &s->steps, "/state",
		            "no state before %" PRId64 " of %" PRId64 " steps%s", s->steps.count,
		            r->steps,
		            unsupported ? "; only the replies show what happened"
		            : r->source == SOURCE_OBSERVATION && !s->was_read
		                    ? "; no observation has what \1state\2 points to"
		                    : "");
	}
}

const struct check check_missing_state = {
	.id = "missing-state",
	.title = "the state before a step could not be read",
	.severity = SEVERITY_ERROR,
	.lowered =
		"the protocol's own state could never be read, while everything else works, or only "
		"reads after the last step failed",
	.why = "The header names a state source, but steps have no state. Whether those steps "
	       "had an effect is unknown, and a policy that needed the state acted without it.\n"
	       "Look at the events around the first such step, and query the source yourself in "
	       "the same session: an endpoint that returns HTTP 404 or an error, a resource that "
	       "does not exist, a tool that refuses, a pointer that matches nothing.\n"
	       "Fix: choose a source that works (\1state\2), or use \1state\2 none.",
	.needs = FACT(STATE),
	.wants = KIND_HEADER | KIND_NO_STATE | KIND_EVENT | KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct missing),
	.line = line,
	.end = end,
};
