/* Rule unknown-tool: a called tool is not offered by the server. */
#include "check/rule.h"

struct unknown {
	struct span calls;
	char name[64], nearest[64];
	bool beyond; /* a called tool is beyond the tools kept */
};

/* If the server's list is unknown, its error decides. */
static bool is_unknown(const struct rollout_facts *r, const struct derived_line *m)
{
	if (r->tools_known == TOOLS_ALL)
		return r->tool_count > 0; /* an empty list is left to no-tools */
	return r->tools_known == TOOLS_UNKNOWN && line_error_class(m->line) == CLASS_UNKNOWN_TOOL;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct unknown *s = state;
	bool cut = !m->tool_name.n && m->line->step < 0; /* cut off before its name */

	s->beyond = s->beyond || (!cut && r->tools_known == TOOLS_SOME);
	if (cut || !is_unknown(r, m))
		return;
	if (s->calls.count == 0) {
		peer_name(r->work, m->tool_name, s->name, sizeof(s->name));
		peer_nearest_tool(r, m->tool_name, s->nearest, sizeof(s->nearest));
	}
	span_add(&s->calls, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct unknown *s = state;

	if (s->beyond)
		rule_not_judged(out);
	char offered[64] = "the tool list is unknown";
	if (r->tools_known == TOOLS_ALL) {
		snprintf(offered, sizeof(offered), "it offers %zu tool%s", r->tool_count,
		         plural((int64_t)r->tool_count));
	}
	finding_add(out, SEVERITY_ERROR, &s->calls, "/tool_call/name",
	            "%" PRId64 " call%s to a tool that the server does not offer: %s%s%s (%s)",
	            s->calls.count, plural(s->calls.count), s->name,
	            s->nearest[0] ? "; the nearest name is " : "", s->nearest, offered);
}

const struct check check_unknown_tool = {
	.id = "unknown-tool",
	.title = "a call names a tool that the server does not offer",
	.severity = SEVERITY_ERROR,
	.explains = {&check_multi_step_illusion, &check_all_steps_failed, &check_failed_run,
                     &check_retry_same_error},
	.why = "The policy called a name that is not in the server's tool list. The environment "
	       "never sees such a call, but some clients still count it as a step.\n"
	       "Look at the header's tools and at where the policy got the name from: a script or "
	       "task file written for another version, a prompt that names tools by hand, a "
	       "recording without the assistant's messages (whose calls become \"unknown\"), or a "
	       "model that made it up.\n"
	       "Fix: correct the name, or build the prompt from the server's list.",
	.wants = KIND_UNLISTED,
	.state_size = sizeof(struct unknown),
	.line = line,
	.end = end,
};
