/* Rule session-churn: the session or episode changed without a reset. */
#include "check/rule.h"

struct churn {
	struct span session, episode; /* changes of their ids */
};

/* An autoreset after the step that ends the episode is not churn. */
static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct churn *s = state;
	const struct line *l = m->line;

	if (l->event == EVENT_SESSION_ID_CHANGED)
		span_add(&s->session, l->turn, -1);
	else if (l->event == EVENT_EPISODE_CHANGED && r->ended_turn < 0)
		span_add(&s->episode, l->turn, -1);
}

static void report_change(const char *what, const struct span *when, struct findings *out)
{
	char times[40] = "";

	if (when->count > 1)
		snprintf(times, sizeof(times), " %" PRId64 " times", when->count);
	finding_add(out, SEVERITY_ERROR, when, "/event", "the %s id changed%s without a reset",
	            what, times);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct churn *s = state;

	report_change("session", &s->session, out);
	report_change("episode", &s->episode, out);
}

const struct check check_session_churn = {
	.id = "session-churn",
	.title = "the session or the episode changed without a reset",
	.severity = SEVERITY_ERROR,
	.explains = {&check_starts_over, &check_frozen_state, &check_no_effect,
                     &check_control_plane_blind},
	.more = "rolldbg probe \1env\2 URL \1sessions\2 8",
	.why = "Between two steps of one rollout the session id or the episode id changed "
	       "without a reset. The steps after that ran in a different environment: the "
	       "rollout is not one trajectory, and its rewards belong to several.\n"
	       "Look at the turn where it first happened and at the server's log at that time: a "
	       "restart, an expired or evicted session, a load balancer without sticky sessions, "
	       "an automatic reset, or another client that resets the environment.\n"
	       "Fix: keep a session on one server process, raise the idle timeout, and give "
	       "every rollout its own session id.",
	/* Imported formats lack the session ids and the resets that meta records. Not needs_meta:
	   in our own recordings the events judged here survive strip, so a stripped
	   one is checked. */
	.needs = FACT(META),
	.wants = KIND_EVENT,
	.state_size = sizeof(struct churn),
	.line = line,
	.end = end,
};
