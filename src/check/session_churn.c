/* Rule session-churn: the session, the episode or its step count changed under
   the rollout. */
#include "check/peer.h"

#include <inttypes.h>

struct churn {
	struct span session, episode, falls;
	int64_t count;    /* the environment's newest, once one was known */
	int64_t from, to; /* of the first fall */
	bool known;
};

static void note_event(struct churn *s, const struct line *l)
{
	struct str event = l->value[KEY_EVENT];
	if (peer_is(event, STR("session-id-changed")))
		span_add(&s->session, l->turn, -1);
	else if (peer_is(event, STR("episode-changed")))
		span_add(&s->episode, l->turn, -1);
}

static void note_count(struct churn *s, const struct moment *m)
{
	if (m->env_steps < 0 || m->after_terminal)
		return;
	if (s->known && m->env_steps < s->count) {
		if (s->falls.count == 0) {
			s->from = s->count;
			s->to = m->env_steps;
		}
		span_add(&s->falls, m->line->turn, m->line->step);
	}
	s->count = m->env_steps;
	s->known = true;
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)r, (void)out;
	struct churn *s = state;
	if (m->is_step)
		note_count(s, m);
	else if (m->line->type == LINE_EVENT)
		note_event(s, m->line);
	else
		s->known = false;
}

static void say_changed(const char *what, const struct span *when, struct findings *out)
{
	if (when->count == 1)
		finding_say(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed without a reset of ours", what);
	else if (when->count > 1)
		finding_say(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed %" PRId64 " times without a reset of ours",
		            what, when->count);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)r, (void)m;
	const struct churn *s = state;
	say_changed("session", &s->session, out);
	say_changed("episode", &s->episode, out);
	if (s->falls.count > 0)
		finding_say(out, SEVERITY_ERROR, &s->falls, "/env_steps",
		            "the environment's own step count fell from %" PRId64
		            " to %" PRId64
		            " without a reset of ours; falls in all: %" PRId64,
		            s->from, s->to, s->falls.count);
}

const struct check check_session_churn = {
	.id = "session-churn",
	.title = "session or episode changed, or the step count fell, without our reset",
	.why = "Between two steps of one rollout the server changed its session id "
	       "or episode id, or its own count of steps went down, though nobody "
	       "asked for a reset. What follows happened in another environment than "
	       "what came before: the rollout is not one trajectory, and its rewards "
	       "belong to several.\n"
	       "Look at the turn where it first happened and at the server's log "
	       "there: a restart, an expired or evicted session, a load balancer "
	       "without sticky sessions, an automatic reset when an episode ends, or "
	       "another client that resets the same environment.\n"
	       "Cure: keep one server process for one session; raise the idle "
	       "timeout; give every rollout a session id of its own.",
	.wants = WANT_RESET | WANT_OK | WANT_FAILED | WANT_EVENT,
	.state_size = sizeof(struct churn),
	.line = line,
	.end = end,
};
