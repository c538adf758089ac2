/* Rule arguments-schema: a call does not match the tool's schema. */
#include "check/rule.h"
#include "json/arguments.h"

/* The schema of one tool, parsed when the tool is first called. */
struct read_schema {
	const struct arguments_schema *of;
};

struct schema_violations {
	struct read_schema *schemas; /* by tool, in the rollout's arena */
	bool outdated;               /* the tool list changed during the rollout */
	bool beyond;                 /* a called tool's schema was not kept */
	struct span calls;
	char tool[64], why[200]; /* of the first violation */
};

static const struct arguments_schema *schema_of(struct schema_violations *s,
                                                const struct rollout_facts *r, int tool)
{
	if (!s->schemas)
		s->schemas = arena_new(r->arena, r->tool_count * sizeof(*s->schemas));
	if (!s->schemas[tool].of)
		s->schemas[tool].of = arguments_read(r->arena, r->tools[tool].schema);
	return s->schemas[tool].of;
}

static void note(struct schema_violations *s, const struct rollout_facts *r,
                 const struct derived_line *m, const struct error *err)
{
	if (s->calls.count == 0) {
		peer_name(r->work, m->tool_name, s->tool, sizeof(s->tool));
		peer_name(r->work, str_from(err->text), s->why, sizeof(s->why));
	}
	span_add(&s->calls, m->line->turn, m->line->step);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct schema_violations *s = state;
	struct error err;

	if (m->line->type == LINE_EVENT) {
		s->outdated = s->outdated || m->line->event == EVENT_TOOLS_CHANGED;
		return;
	}
	s->beyond = s->beyond || (m->tool >= 0 && r->tools[m->tool].schema_left_out) ||
	            (m->tool == TOOL_UNLISTED && r->tools_known == TOOLS_SOME);
	if (m->tool < 0 || s->outdated || !r->tools[m->tool].schema.p)
		return;
	struct str given = json_is_null(m->arguments) ? STR("{}") : m->arguments;
	if (arguments_check(schema_of(s, r, m->tool), given, &err))
		note(s, r, m, &err);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct schema_violations *s = state;

	if (s->beyond)
		rule_not_judged(out);
	finding_add(out, SEVERITY_WARNING, &s->calls, "/tool_call/arguments",
	            "%" PRId64 " call%s not match the tool's schema; first mismatch: %s: %s",
	            s->calls.count, s->calls.count == 1 ? " does" : "s do", s->tool, s->why);
}

const struct check check_arguments_schema = {
	.id = "arguments-schema",
	.title = "a call's arguments do not match the schema the tool advertises",
	.severity = SEVERITY_WARNING,
	.why = "The arguments of a call violate the tool's schema: one is required and missing, "
	       "has the wrong type or a value that is not allowed, or is not in the schema. Some "
	       "servers refuse such a call; others drop unknown arguments and continue with a "
	       "default, which looks like success.\n"
	       "Look at the call and at inputSchema in the header's tools; arguments that are a "
	       "string were encoded twice. Only top-level arguments are checked, not nested "
	       "values.\n"
	       "Fix: correct the script, give the model the unmodified schema, or correct the "
	       "schema if it is wrong.",
	.needs = FACT(TOOLS),
	.wants = KIND_OK | KIND_FAILED | KIND_EVENT,
	.state_size = sizeof(struct schema_violations),
	.line = line,
	.end = end,
};
