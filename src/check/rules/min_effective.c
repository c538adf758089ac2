/* Rule min-effective: fewer effective steps than required by the user. */
#include "check/rule.h"

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	bool known = r->effective >= 0;
	int64_t effective = known ? r->effective : 0;

	if (effective < r->min_effective) {
		finding_add(out, SEVERITY_ERROR, NULL, "/state",
		            "%" PRId64 " of %" PRId64 " steps %s effective%s; at least %" PRId64
		            " %s required",
		            effective, r->steps, effective == 1 ? "was" : "were",
		            known || r->steps == 0 ? "" : " (the effect of every step is unknown)",
		            r->min_effective, r->min_effective == 1 ? "is" : "are");
	}
}

const struct check check_min_effective = {
	.id = "min-effective",
	.title = "fewer steps were effective than \1min_effective\2 requires",
	.severity = SEVERITY_ERROR,
	.why = "A step is effective when the state after it differs from the one before it. "
	       "\1min_effective\2 N sets the minimum for each rollout: a smoke test of an "
	       "environment, or of the connection to it, in one number. Without the option the "
	       "rule reports nothing.\n"
	       "Look at the steps (rolldbg show): which failed, which left the state unchanged, "
	       "and which have an unknown effect. Those count as not effective, so a rollout "
	       "without a state source never has enough.\n"
	       "Fix the environment or the calls; or name a state source that shows what the "
	       "calls change (\1state\2).",
	.end = end,
};
