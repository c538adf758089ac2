/* Rule one-step-episode: the rollout ended after one step for an unknown reason. */
#include "check/rule.h"

struct one_step {
	struct span step;
	int8_t terminated, truncated;
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct one_step *s = state;

	span_add(&s->step, m->line->turn, m->line->step);
	s->terminated = m->line->terminated;
	s->truncated = m->line->truncated;
}

/* Was it ended by the environment, the policy's script, a limit or a failure, or does nothing say how it ended? */
static bool is_explained(const struct one_step *s, const struct rollout_facts *r,
                         enum end_status status)
{
	if (status == END_UNKNOWN || status == END_STOPPED || status == END_REFUSED ||
	    status == END_UNREACHABLE || status == END_INTERRUPTED || status == END_FAILED) {
		return true;
	}
	if (s->terminated == 1 || s->truncated == 1)
		return true;
	if (status == END_TERMINATED)
		return s->terminated < 0;
	if (status == END_TRUNCATED)
		return s->truncated < 0;
	if (status == END_MAX_TURNS)
		return r->max_turns < 0 || r->turns >= r->max_turns;
	return r->policy == POLICY_SCRIPT || r->policy == POLICY_REPLAY;
}

static void close(void *state, const struct rollout_facts *r, const struct derived_line *m,
                  struct findings *out)
{
	const struct one_step *s = state;

	if (!m->line || r->steps != 1 || r->last_turn > s->step.first_turn + 1)
		return;
	if (is_explained(s, r, m->line->status))
		return;
	finding_add(out, SEVERITY_WARNING, &s->step, "/terminated",
	            "the rollout ended after one step with status \"%s\", although neither the "
	            "environment, a script nor a limit ended it",
	            end_status_name(m->line->status));
}

const struct check check_one_step_episode = {
	.id = "one-step-episode",
	.title = "the rollout ended after one step for no known reason",
	.severity = SEVERITY_WARNING,
	.why = "The rollout ended after one step, but the environment did not report terminated "
	       "or truncated, the script had not ended, and the turn limit was not reached. "
	       "Typical causes: the client takes an unknown reply for the end of the episode, the "
	       "model's first reply after the step contains no call (a stop token, a truncated "
	       "reply), or a harness makes one step and calls it an episode.\n"
	       "Look at end.status and end.reason, and at the model's last message.\n"
	       "Fix: end episodes only on terminated or truncated, and prompt a model that stops "
	       "calling tools to continue.",
	.needs = FACT(STATUS),
	.wants = KIND_FIRST,
	.state_size = sizeof(struct one_step),
	.line = line,
	.close = close,
};
