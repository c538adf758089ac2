/* Rule one-step-episode: it was over after one step, and nobody said why. */
#include "check/peer.h"

struct one_step {
	struct span step;
	int8_t terminated, truncated;
};

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)r, (void)out;
	struct one_step *s = state;
	span_add(&s->step, m->line->turn, m->line->step);
	s->terminated = m->line->terminated;
	s->truncated = m->line->truncated;
}

/* Did the environment, the policy's script, a limit or a plain failure end it? */
static bool is_explained(const struct one_step *s, const struct rollout_facts *r,
                         struct str status)
{
	static const struct str reasons[] = {STR_INIT("stopped"), STR_INIT("refused"),
	                                     STR_INIT("unreachable"),
	                                     STR_INIT("interrupted"), STR_INIT("failed")};
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		if (peer_is(status, reasons[i]))
			return true;
	}
	if (s->terminated == 1 || s->truncated == 1)
		return true;
	if (peer_is(status, STR("terminated")))
		return s->terminated < 0;
	if (peer_is(status, STR("truncated")))
		return s->truncated < 0;
	if (peer_is(status, STR("max-turns")))
		return r->max_turns < 0 || r->turns >= r->max_turns;
	return str_eq(r->policy, STR("script")) || str_eq(r->policy, STR("replay"));
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	const struct one_step *s = state;
	if (!m->line || r->steps != 1 || r->last_turn > s->step.first_turn + 1)
		return;
	struct str status = m->line->value[KEY_STATUS];
	if (is_explained(s, r, status))
		return;
	char word[32];
	peer_text(r->work, status, word, sizeof(word));
	finding_say(out, SEVERITY_WARNING, &s->step, "/terminated",
	            "the rollout ended after one step with status \"%s\", though neither "
	            "the environment nor a script or limit said so",
	            word);
}

const struct check check_one_step_episode = {
	.id = "one-step-episode",
	.title = "the rollout ended after one step though nothing said so",
	.why = "One step was taken and the rollout was over, but the environment did "
	       "not say terminated or truncated, no script had come to its end, and "
	       "the limit of turns was not reached. Typical causes: the client takes "
	       "an unknown reply for the end, the model's first answer after the "
	       "step holds no call (a stop token, a cut-off answer), or a harness "
	       "that makes one step and calls it an episode.\n"
	       "Look at end.status and end.reason, and at the model's last message.\n"
	       "Cure: end episodes on terminated or truncated only; nudge a model "
	       "that stops calling tools.",
	.wants = WANT_FIRST,
	.state_size = sizeof(struct one_step),
	.line = line,
	.end = end,
};
