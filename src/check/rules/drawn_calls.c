/* Rule drawn-calls: every call that a random policy drew was refused by the tool. */
#include "check/rule.h"

struct refused {
	struct span span;
	const char *error; /* of the first one */
};

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	struct refused *s = state;
	if (!r->draws || !p->failed || p->outside_episode)
		return;
	if (s->span.count == 0)
		s->error = p->error;
	span_add(&s->span, p->turn, p->step);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct refused *s = state;
	const struct episode_counts *e = &r->episode;
	if (drawn_calls_do_not_fit(r)) {
		finding_add(out, SEVERITY_WARNING, &s->span, "/tool_call/arguments",
		            "the drawn calls do not fit: %" PRId64 " of %" PRId64
		            " were refused; describe the values in the tool's schema, "
		            "or give calls as actions or in a policy file; first error: %s",
		            s->span.count, e->steps, s->error);
	}
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
	.state_size = sizeof(struct refused),
	.completed = completed,
	.end = end,
};
