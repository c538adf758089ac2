/* Rule no-tools: the server offers no tools, or refuses all that it offers. */
#include "check/rule.h"

struct refusals {
	bool *refused; /* by tool, in the rollout's arena; NULL before the first one */
	size_t count;  /* number of tool lists that were refused */
	bool accepted; /* some tool was offered */
	struct span calls;
};

static bool is_refused(const struct line *l)
{
	return l->outcome != OUTCOME_OK && line_error_class(l) == CLASS_UNKNOWN_TOOL;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct refusals *s = state;

	if (m->tool < 0 || s->accepted)
		return;
	if (!is_refused(m->line)) {
		s->accepted = true;
		return;
	}
	if (!s->refused)
		s->refused = arena_new(r->arena, r->tool_count * sizeof(*s->refused));
	s->count += !s->refused[m->tool];
	s->refused[m->tool] = true;
	span_add(&s->calls, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct refusals *s = state;

	if (r->tools_known == TOOLS_SOME && s->count && !s->accepted)
		rule_not_judged(out);
	if (r->tools_known != TOOLS_ALL)
		return;
	if (r->tool_count == 0) {
		finding_add(out, SEVERITY_ERROR, NULL, "/tools", "the server offers no tools");
	} else if (!s->accepted && s->count == r->tool_count) {
		finding_add(out, SEVERITY_ERROR, &s->calls, "/error",
		            "every tool that the server offers (%zu) was refused as unknown when "
		            "called",
		            r->tool_count);
	}
}

const struct check check_no_tools = {
	.id = "no-tools",
	.title = "the server offers no tools, or refuses all the tools it offers",
	.severity = SEVERITY_ERROR,
	.explains = {&check_unknown_tool, &check_no_tool_call, &check_multi_step_illusion,
                     &check_all_steps_failed, &check_failed_run, &check_retry_same_error},
	.why = "Without a tool the policy cannot act. Either tools/list returned an empty list, "
	       "or every listed tool was refused as unknown when called: different components "
	       "handle lists and calls.\n"
	       "Look at the header's tools, at the server's startup log (tools that failed to "
	       "register), and at a proxy that serves the list from elsewhere. Some servers fill "
	       "the list only after notifications/initialized.\n"
	       "Fix: correct the registration, and start a batch only when tools/list shows the "
	       "tools the task needs.",
	.needs = FACT(TOOLS),
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct refusals),
	.line = line,
	.end = end,
};
