/* Rule session-churn: the session or episode changed, or the step count decreased, without a
 * reset. */
#include "check/check.h"

#include "facts/peer.h"

#include <inttypes.h>

#define COUNTED_MIN 2 /* minimum calls that increased the count by exactly one */
#define BACK_MIN    2 /* minimum number of decreases, and of increases */

struct churn {
	struct span session, episode, falls;
	int64_t count;    /* the environment's last step count, if known */
	int64_t from, to; /* of the first decrease */
	int64_t rises;
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

static bool is_done(const struct line *l)
{
	return l->terminated == 1 || l->truncated == 1;
}

static void note_count(struct churn *s, const struct derived_line *m)
{
	if (m->env_steps < 0 || m->outside_episode) {
		return;
	}
	if (s->known && m->env_steps < s->count && !is_done(m->line)) {
		if (s->falls.count == 0) {
			s->from = s->count;
			s->to = m->env_steps;
		}
		span_add(&s->falls, m->line->turn, m->line->step);
	}
	s->rises += s->known && m->env_steps > s->count;
	s->count = m->env_steps;
	s->known = true;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct churn *s = state;
	if (m->is_step) {
		note_count(s, m);
	} else if (m->line->type == LINE_EVENT) {
		add_event(s, r, m->line);
	} else {
		s->known = false;
	}
}

/* A decreasing count is evidence only if calls were counted one by one: counts of remaining
 * moves decrease, and counts of frames jump. But neither goes up and down repeatedly. */
static bool is_evidence(const struct churn *s, const struct rollout_facts *r)
{
	bool counts_calls = r->env_count.by_one >= COUNTED_MIN && r->env_count.by_more == 0;

	return s->falls.count > 0 &&
	       (counts_calls || (s->falls.count >= BACK_MIN && s->rises >= BACK_MIN));
}

static void report_change(const char *what, const struct span *when, struct findings *out)
{
	if (when->count == 1) {
		finding_add(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed although rolldbg did not reset", what);
	} else if (when->count > 1) {
		finding_add(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed %" PRId64 " times although rolldbg did not reset",
		            what, when->count);
	}
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct churn *s = state;
	report_change("session", &s->session, out);
	report_change("episode", &s->episode, out);
	if (is_evidence(s, r)) {
		finding_add(out, SEVERITY_ERROR, &s->falls, "/env_steps",
		            "the environment's own step count dropped from %" PRId64 " to "
		            "%" PRId64 " although rolldbg did not reset; dropped %" PRId64 " "
		            "time%s",
		            s->from, s->to, s->falls.count, s->falls.count == 1 ? "" : "s");
	}
}

const struct check check_session_churn = {
	.id = "session-churn",
	.title = "session or episode changed, or the step count decreased, without a reset",
	.severity = SEVERITY_ERROR,
	.explains = {&check_starts_over, &check_frozen_state, &check_stopped_moving,
                     &check_control_plane_blind},
	.more = "rolldbg probe \1env\2 URL \1sessions\2 8",
	.why = "Between two steps of one rollout the server changed its session id or episode "
	       "id, or its own step count decreased, although rolldbg did not reset. The steps "
	       "after that ran in another environment than those before: the rollout is not one "
	       "trajectory, and its rewards belong to several. A decreasing count is evidence "
	       "only if every counted call, at least two of them, increased it by one (other "
	       "counts are of frames, or of what is left), or if it rose and fell at least twice "
	       "each. Counts after a step that reported the end of the episode are no evidence: "
	       "environments with autoreset start again then.\n"
	       "Look at the turn where it first happened and at the server's log at that time: a "
	       "restart, an expired or evicted session, a load balancer without sticky sessions, "
	       "an automatic reset at the end of an episode, or another client that resets the "
	       "same environment.\n"
	       "Fix: keep a session on one server process, raise the idle timeout, and give "
	       "every rollout its own session id.",
	.needs = UINT64_C(1) << KEY_META,
	.wants = KIND_RESET | KIND_OK | KIND_FAILED | KIND_EVENT,
	.state_size = sizeof(struct churn),
	.line = line,
	.end = end,
};
