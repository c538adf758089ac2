/* Rule timeout: a step or the reset timed out. */
#include "check/rule.h"

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	failed_lines_add(state, r, m, OUTCOME_TIMEOUT, CLASS_TIMEOUT);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct failed_lines *s = state;

	if (s->reset) {
		finding_add(out, SEVERITY_ERROR, NULL, "/error", "the reset timed out: %s",
		            s->error);
	} else if (s->steps.count > 0) {
		finding_add(out, SEVERITY_WARNING, &s->steps, "/outcome",
		            "%" PRId64 " of %" PRId64 " steps timed out: %s", s->steps.count,
		            r->steps, s->error);
	}
}

const struct check check_timeout = {
	.id = "timeout",
	.title = "a step or the reset got no reply in time",
	.severity = SEVERITY_WARNING,
	.raised = "it was the reset",
	.explains = {&check_multi_step_illusion, &check_all_steps_failed, &check_failed_run,
                     &check_retry_same_error, &check_effect_despite_error, &check_missing_state},
	.why = "No reply came within \1timeout\2, or a server or gateway in between reported a "
	       "timeout. The environment may have executed the call: a policy that repeats it "
	       "then makes the step twice.\n"
	       "Look at meta.latency_ms of the steps before, the state of the next line, and a "
	       "late-reply event. Slow first calls mean a slow start; replies that get slower "
	       "with more rollouts at once, too few workers.\n"
	       "Fix: raise \1timeout\2 above the slowest step, add workers, or let the server "
	       "create its environments before the first call.",
	.needs = FACT(OUTCOME),
	.wants = KIND_RESET | KIND_FAILED,
	.state_size = sizeof(struct failed_lines),
	.line = line,
	.end = end,
};
