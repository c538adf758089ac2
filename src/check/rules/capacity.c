/* Rule capacity: a session or a step was refused because of capacity. */
#include "check/rule.h"

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	failed_lines_add(state, r, m, OUTCOME_CAPACITY, CLASS_CAPACITY);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct failed_lines *s = state;

	if (s->reset) {
		finding_add(out, SEVERITY_ERROR, NULL, "/error",
		            "the server refused the session: %s", s->error);
	} else if (s->steps.count > 0) {
		finding_add(out, SEVERITY_ERROR, &s->steps, "/error",
		            "the server refused %" PRId64 " of %" PRId64 " steps: %s",
		            s->steps.count, r->steps, s->error);
	}
}

const struct check check_capacity = {
	.id = "capacity",
	.title = "the server refused a session or a step because its capacity was exhausted",
	.severity = SEVERITY_ERROR,
	.explains = {&check_multi_step_illusion, &check_all_steps_failed, &check_failed_run,
                     &check_retry_same_error, &check_missing_state, &check_one_step_episode},
	.more = "rolldbg probe \1env\2 URL \1sessions\2 8",
	.why = "The server limits concurrent environments or sessions, and this rollout hit the "
	       "limit. The refused steps had no effect on the environment.\n"
	       "Look at the limit in the message, at how many rollouts ran at once, and at "
	       "whether sessions are released: a server that opens an environment per call "
	       "(fallback-session) or does not free sessions on DELETE fills up at any limit.\n"
	       "Fix: run fewer rollouts at once, raise the server's limit (such as "
	       "MAX_CONCURRENT_ENVS), or repair the proxy that loses the session.",
	.wants = KIND_RESET | KIND_FAILED,
	.state_size = sizeof(struct failed_lines),
	.line = line,
	.end = end,
};
