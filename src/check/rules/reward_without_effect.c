/* Rule reward-without-effect: a reward for a failed step, or for an episode in which nothing
   changed. */
#include "check/rule.h"

struct unearned {
	struct span failed;
	char reward[40]; /* of the first such step, as spelled */
};

/* A reward that repeats that of an earlier step is reported by stale-reward; a penalty for a
   failed step is legitimate. */
static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct unearned *s = state;

	if (m->outside_episode || m->reward <= 0 ||
	    (r->previous.reward_seen && m->reward == r->previous.reward)) {
		return;
	}
	if (s->failed.count == 0)
		peer_text(r->work, m->line->value[KEY_REWARD], s->reward, sizeof(s->reward));
	span_add(&s->failed, m->line->turn, m->line->step);
}

/* A question and its answer: the state need not change with the final answer. */
static bool is_answered(const struct rollout_facts *r)
{
	return r->source == SOURCE_OBSERVATION && r->episode.steps == 1 && r->ended_turn >= 0;
}

/* Steps that need not change anything earn their reward by what they read or say. The same may
   hold if no step reported the reward: a grader assigned it. */
static void report_no_effect(const struct rollout_facts *r, const struct derived_line *m,
                             struct findings *out)
{
	const struct episode_counts *e = &r->episode;
	double total = r->reward_sum;
	bool by_steps = r->reward_known && r->reward_sum > 0;

	if (e->steps == 0 || e->unchanged != e->steps || e->idle == e->steps || is_answered(r))
		return;
	if (m->line)
		json_double(m->line->value[KEY_TOTAL_REWARD], &total);
	if (total > 0) {
		finding_add(out, by_steps ? SEVERITY_WARNING : SEVERITY_INFO, NULL, "/total_reward",
		            "the rollout earned a reward of %.15g, but none of its %" PRId64
		            " steps changed the state%s",
		            total, e->steps,
		            by_steps ? ""
		                     : "; no step reported it, so it may be for what the policy "
		                       "read or wrote");
	}
}

static void close(void *state, const struct rollout_facts *r, const struct derived_line *m,
                  struct findings *out)
{
	const struct unearned *s = state;

	if (s->failed.count > 0) {
		finding_add(out, SEVERITY_WARNING, &s->failed, "/reward",
		            "%" PRId64 " failed step%s earned a reward (first: %s)",
		            s->failed.count, plural(s->failed.count), s->reward);
	} else {
		report_no_effect(r, m, out);
	}
}

const struct check check_reward_without_effect = {
	.id = "reward-without-effect",
	.title = "a failed step was rewarded, or a reward came although the state never changed",
	.severity = SEVERITY_WARNING,
	.lowered = "no step reported the reward",
	.why = "A step whose outcome is not ok reported its own positive reward, or the rollout "
	       "earned one although no step changed the state. A model trained on this learns to "
	       "fail or to do nothing.\n"
	       "Look at where the reward is computed: a default for missing values, a grader "
	       "that reads only the conversation, a task that is solved before it begins. If the "
	       "task is to change nothing, declare its tools with \1read_only\2.\n"
	       "Fix: give no reward for a failed step, let the grader compare states, or choose "
	       "a state source that shows the effect.",
	.needs = FACT(REWARD),
	.wants = KIND_FAILED,
	.state_size = sizeof(struct unearned),
	.line = line,
	.close = close,
};
