/* Rule capacity: the server had no room for a session or a step. */
#include "check/peer.h"

#include <inttypes.h>

struct capacity {
	bool session; /* it was the session that was refused */
	struct span steps;
	char error[ERROR_TEXT];
};

static bool is_capacity(const struct line *l)
{
	return l->outcome == OUTCOME_CAPACITY ||
	       peer_is(JSON_GET(l->value[KEY_ERROR], "class"), STR("capacity"));
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)out;
	struct capacity *s = state;
	if (!is_capacity(m->line))
		return;
	if (!s->session && s->steps.count == 0)
		peer_error(r->work, m->line, s->error);
	if (m->is_step)
		span_add(&s->steps, m->line->turn, m->line->step);
	else
		s->session = true;
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct capacity *s = state;
	if (s->session)
		finding_say(out, SEVERITY_ERROR, NULL, "/error",
		            "the server refused the session for lack of room: %s",
		            s->error);
	else if (s->steps.count > 0)
		finding_say(out, SEVERITY_ERROR, &s->steps, "/error",
		            "the server refused %" PRId64 " of %" PRId64
		            " steps for lack of room: %s",
		            s->steps.count, r->steps, s->error);
}

const struct check check_capacity = {
	.id = "capacity",
	.title = "the server refused a session or a step for lack of room",
	.why = "The server has a limit of concurrent environments or sessions, and "
	       "this rollout ran into it. The environment behind the refused steps "
	       "was never touched.\n"
	       "Look at the limit that the message names, at how many rollouts ran "
	       "at once, and whether sessions are released: a server that "
	       "opens an environment for every call instead of one for every rollout "
	       "fills up at any limit (fallback-session fires then), and one that "
	       "does not free them on DELETE fills up over time.\n"
	       "Cure: fewer rollouts at once, a higher limit on the server (such as "
	       "MAX_CONCURRENT_ENVS), or mend the proxy that loses the session.",
	.wants = WANT_RESET | WANT_FAILED,
	.state_size = sizeof(struct capacity),
	.line = line,
	.end = end,
};
