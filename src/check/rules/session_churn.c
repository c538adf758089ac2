/* Rule session-churn: the session or episode changed, or the step count decreased, without a
   reset. */
#include "check/check.h"

#include "facts/count_decreases.h"

#include <inttypes.h>
#include <stdio.h>

#define COUNTED_MIN 2 /* minimum number of calls that increased the count by exactly one */
#define TIMES_MIN   2 /* minimum number of decreases, and of increases, of another count */
#define RESTART_MIN 2

struct churn {
	struct span session, episode; /* changes of their ids */
	struct count_decreases count;
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

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct churn *s = state;
	if (m->is_step) {
		count_decreases_step(&s->count, r->arena, m);
	} else if (m->line->type == LINE_EVENT) {
		add_event(s, r, m->line);
	} else {
		count_decreases_reset(&s->count);
	}
}

/* A decreasing count is evidence only if calls were counted one by one: counts of remaining
   moves decrease, and counts of frames jump. But neither goes up and down repeatedly. */
static bool is_evidence(const struct count_decreases *c, const struct rollout_facts *r)
{
	bool counts_calls = r->env_count.by_one >= COUNTED_MIN && r->env_count.by_more == 0;

	return c->decreases.count > 0 &&
	       (counts_calls || (c->decreases.count >= TIMES_MIN && c->increases >= TIMES_MIN));
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

static void report_decreases(const struct count_decreases *c, struct findings *out)
{
	char times[40] = "";

	if (c->decreases.count > 1) {
		snprintf(times, sizeof(times), " (%" PRId64 " times)", c->decreases.count);
	}
	finding_add(out, SEVERITY_ERROR, &c->decreases, "/env_steps",
	            "the environment's own step count fell from %" PRId64 " to %" PRId64
	            " without a reset%s",
	            c->from, c->to, times);
}

static void report_restarts(const struct count_decreases *c, int64_t steps, struct findings *out)
{
	finding_add(out, SEVERITY_ERROR, &c->restarts, "/env_steps",
	            "the environment's own step count could not be read %" PRId64 " times, "
	            "and each time had not grown when it could be read again: it is %" PRId64
	            " after %" PRId64 " steps",
	            c->restarts.count, c->count, steps);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	struct churn *s = state;

	count_decreases_end(&s->count, r->arena, m->line);
	report_change("session", &s->session, out);
	report_change("episode", &s->episode, out);
	if (is_evidence(&s->count, r)) {
		report_decreases(&s->count, out);
	} else if (s->count.restarts.count >= RESTART_MIN) {
		report_restarts(&s->count, r->steps, out);
	}
}

const struct check check_session_churn = {
	.id = "session-churn",
	.title = "session or episode changed, or the step count decreased, without a reset",
	.severity = SEVERITY_ERROR,
	.explains = {&check_starts_over, &check_frozen_state, &check_stopped_moving,
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
	       "A decrease of the step count is evidence if every counted call, at least two "
	       "of them, increased it by one, or if it rose and fell at least twice each. It "
	       "is not evidence:\n"
	       "- if it counts frames, or remaining moves;\n"
	       "- after a step that reported the end of the episode: environments with "
	       "autoreset start again then;\n"
	       "- if the state has the same episode id before and after, and is not that of "
	       "a new episode: rounds and levels may be counted separately;\n"
	       "- after a step whose reward is above zero and above that of every counted "
	       "step: it may have ended a level;\n"
	       "- if a call that never increased it (undo, load) restores an earlier state "
	       "together with its count, and counting continues from there.\n"
	       "It is also evidence if the count could not be read after a step and was no "
	       "higher when it could be read again, at least twice: the session was lost and "
	       "recreated.",
	/* Imported formats lack the session ids and the resets that meta records. Not needs_meta:
	   in our own recordings the events and step counts judged here survive strip, so a stripped
	   one is checked. */
	.needs = FACT(META),
	.wants = KIND_RESET | KIND_OK | KIND_FAILED | KIND_EVENT,
	.state_size = sizeof(struct churn),
	.line = line,
	.end = end,
};
