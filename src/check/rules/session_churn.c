/* Rule session-churn: the session or episode changed, or the step count decreased, without a
   reset. */
#include "check/check.h"

#include <inttypes.h>
#include <stdio.h>

struct churn {
	struct span session, episode; /* changes of their ids */
	struct span falls;            /* decreases of the step count */
	int64_t from, to;             /* of the first one */
	bool rose;                    /* it increased: it is no countdown */
	int64_t count;                /* the last one, if `known` */
	bool known;
};

/* An autoreset after the step that ends the episode is not churn. */
static void add_event(struct churn *s, const struct rollout_facts *r, const struct line *l)
{
	if (l->event == EVENT_SESSION_ID_CHANGED) {
		span_add(&s->session, l->turn, -1);
	} else if (l->event == EVENT_EPISODE_CHANGED && r->ended_turn < 0) {
		span_add(&s->episode, l->turn, -1);
	}
}

static void add_count(struct churn *s, const struct derived_line *m)
{
	if (m->env_steps < 0 || m->outside_episode) {
		return;
	}
	if (m->line->terminated == 1 || m->line->truncated == 1) {
		s->known = false; /* an autoreset counts anew, at this step or the next */
		return;
	}
	if (s->known && m->env_steps < s->count) {
		s->from = s->falls.count ? s->from : s->count;
		s->to = s->falls.count ? s->to : m->env_steps;
		span_add(&s->falls, m->line->turn, m->line->step);
	}
	s->rose = s->rose || (s->known && m->env_steps > s->count);
	s->count = m->env_steps;
	s->known = true;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct churn *s = state;
	if (m->is_step) {
		add_count(s, m);
	} else if (m->line->type == LINE_EVENT) {
		add_event(s, r, m->line);
	} else {
		s->known = false;
	}
}

static void report_change(const char *what, const struct span *when, struct findings *out)
{
	if (when->count == 1) {
		finding_add(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed without a reset", what);
	} else if (when->count > 1) {
		finding_add(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed %" PRId64 " times without a reset", what,
		            when->count);
	}
}

/* Levels and undo lower a count, too. */
static void report_falls(const struct churn *s, struct findings *out)
{
	finding_add(out, SEVERITY_WARNING, &s->falls, "/env_steps",
	            "the environment's own step count fell from %" PRId64 " to %" PRId64
	            " without a reset",
	            s->from, s->to);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct churn *s = state;

	(void)r, (void)m;
	report_change("session", &s->session, out);
	report_change("episode", &s->episode, out);
	if (s->falls.count > 0 && s->rose) {
		report_falls(s, out);
	}
}

const struct check check_session_churn = {
	.id = "session-churn",
	.title = "session or episode changed, or the step count decreased, without a reset",
	.severity = SEVERITY_ERROR,
	.lowered = "only the step count fell",
	.explains = {&check_starts_over, &check_frozen_state, &check_no_effect,
                     &check_control_plane_blind},
	.more = "rolldbg probe \1env\2 URL \1sessions\2 8",
	.why = "Between two steps of one rollout the server changed its session id or "
	       "episode id, or its own step count decreased, without a reset. The steps "
	       "after that ran in a different environment from those before: the rollout is "
	       "not one trajectory, and its rewards belong to several.\n"
	       "Look at the turn where it first happened and at the server's log at that "
	       "time: a restart, an expired or evicted session, a load balancer without "
	       "sticky sessions, an automatic reset at the end of an episode, or another "
	       "client that resets the same environment.\n"
	       "Fix: keep a session on one server process, raise the idle timeout, and give "
	       "every rollout its own session id.\n"
	       "A step count that fell is a warning: levels and undo lower it, too.",
	/* Imported formats lack the session ids and the resets that meta records. Not needs_meta:
	   in our own recordings the events and step counts judged here survive strip, so a stripped
	   one is checked. */
	.needs = FACT(META),
	.wants = KIND_RESET | KIND_OK | KIND_FAILED | KIND_EVENT,
	.state_size = sizeof(struct churn),
	.line = line,
	.end = end,
};
