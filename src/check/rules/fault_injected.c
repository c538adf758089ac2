/* Rule fault-injected: rolldbg tap changed what the client saw, as it was asked to. */
#include "check/rule.h"

struct injected {
	int64_t count;
	char first[32];
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct injected *s = state;

	if (m->line->event == EVENT_FAULT_INJECTED && s->count++ == 0)
		peer_text(r->work, JSON_GET(m->line->value[KEY_DETAIL], "what"), s->first,
		          sizeof(s->first));
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct injected *s = state;

	if (s->count) {
		finding_add(out, SEVERITY_INFO, NULL, "/event",
		            "rolldbg tap injected %" PRId64 " fault%s, first %s: what the client "
		            "saw is not what the server said",
		            s->count, plural(s->count), s->first);
	}
}

const struct check check_fault_injected = {
	.id = "fault-injected",
	.title = "rolldbg tap injected faults into the rollout",
	.severity = SEVERITY_INFO,
	.explains = {&check_session_replaced, &check_capacity, &check_timeout,
                     &check_effect_despite_error, &check_starts_over, &check_control_plane_blind,
                     &check_observation_frozen, &check_stale_reward, &check_all_steps_failed,
                     &check_failed_run, &check_post_terminal},
	.why = "The rollout was recorded by rolldbg tap with \1fault\2, to see how the client "
	       "copes. Findings about the same rollout may be consequences and say nothing "
	       "against the server.\n"
	       "Look at the events: each names the fault and stands before its step.\n"
	       "Fix: nothing here; judge the server by rollouts without faults.",
	.wants = KIND_EVENT,
	.state_size = sizeof(struct injected),
	.line = line,
	.end = end,
};
