/* Rule drawn-calls: every call that a random policy drew was refused by the tool. */
#include "check/rule.h"

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct span refused = {.count = 0};
	const char *error = ""; /* of the first one */

	if (!drawn_calls_do_not_fit(r))
		return;
	for (int64_t i = 0; i < r->steps; i++) {
		const struct completed_step *p = &r->completed[i];

		if (p->failed && !p->outside_episode) {
			error = refused.count ? error : p->error;
			span_add(&refused, p->turn, p->step);
		}
	}
	finding_add(out, SEVERITY_WARNING, &refused, "/tool_call/arguments",
	            "the drawn calls do not fit: %" PRId64 " of %" PRId64
	            " were refused; describe the values in the tool's schema, or give calls as "
	            "actions or in a policy file; first error: %s",
	            refused.count, r->episode.steps, error);
}

const struct check check_drawn_calls = {
	.id = "drawn-calls",
	.title = "every call that a random policy drew was refused",
	.severity = SEVERITY_WARNING,
	.explains = {&check_retry_same_error, &check_arguments_schema, &check_one_step_episode},
	.why = "The policy draws calls from the tools' schemas, which do not say which values there "
	       "are. The tools refused each call: because of its arguments (error.class is "
	       "arguments), or for any reason of their own where texts were made up "
	       "(policy.params.invents). That says nothing about the environment. As soon as one "
	       "call is accepted, the usual rules judge the failed ones.\n"
	       "Look at the first error, and compare the call's arguments with the schema in the "
	       "header's tools.\n"
	       "Fix: describe the values in the tool's schema (enum, minimum and maximum, "
	       "examples), or give calls that fit with \1actions\2 or a policy file.",
	.end = end,
};
