/* Rule failed-run: several steps failed in a row, then the rollout recovered. */
#include "check/rule.h"
#include "check/streak.h"

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct streak now = {.error = NULL}, ended;

	for (int64_t i = 0; i < r->steps && !drawn_calls_do_not_fit(r); i++) {
		if (!streak_add(&now, &r->completed[i], &ended))
			continue;
		finding_add(out, SEVERITY_WARNING, &ended.span, "/outcome",
		            "%" PRId64 " steps failed in a row before the rollout recovered; %s; "
		            "first error: %s",
		            ended.span.count, streak_state(ended.unchanged), ended.error);
	}
}

const struct check check_failed_run = {
	.id = "failed-run",
	.title = "three or more steps failed in a row, then the rollout recovered",
	.severity = SEVERITY_WARNING,
	.why = "Three or more consecutive steps failed without any change of state; later a step "
	       "succeeded or the state changed. In 9,435 public episodes about one in three such "
	       "rollouts still succeeded, so this is a warning: the turns were wasted, and their "
	       "rewards and observations do not belong to the task.\n"
	       "Look at the first error of the run: wrong arguments point to the policy or to a "
	       "misleading tool description; timeouts and capacity point to the server.\n"
	       "Fix the cause if it repeats across rollouts: the same error in many of them is not "
	       "exploration.",
	.end = end,
};
