/* Rule arguments-schema: a call does not fit what the tool says it takes. */
#include "check/peer.h"
#include "json/arguments.h"

#include <inttypes.h>

/* Of one tool; read when it is first called. */
struct read_schema {
	const struct arguments_schema *of;
};

struct misfit {
	struct read_schema *schemas; /* by tool, in the rollout's arena */
	bool outdated;               /* the list of tools changed on the way */
	struct span calls;
	char tool[64], why[200]; /* of the first one */
};

static const struct arguments_schema *schema_of(struct misfit *s,
                                                const struct rollout_facts *r, int tool)
{
	if (!s->schemas)
		s->schemas = arena_new(r->arena, r->tool_count * sizeof(*s->schemas));
	if (!s->schemas[tool].of)
		s->schemas[tool].of = arguments_read(r->arena, r->tools[tool].schema);
	return s->schemas[tool].of;
}

static void note(struct misfit *s, const struct rollout_facts *r, const struct moment *m,
                 const struct error *err)
{
	if (s->calls.count == 0) {
		peer_name(r->work, m->tool_name, s->tool, sizeof(s->tool));
		peer_name(r->work, str_from(err->text), s->why, sizeof(s->why));
	}
	span_add(&s->calls, m->line->turn, m->line->step);
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)out;
	struct misfit *s = state;
	struct error err;
	if (m->line->type == LINE_EVENT) {
		s->outdated = s->outdated ||
		              peer_is(m->line->value[KEY_EVENT], STR("tools-changed"));
		return;
	}
	if (m->tool < 0 || s->outdated || !r->tools[m->tool].schema.p)
		return;
	struct str given = json_is_null(m->arguments) ? STR("{}") : m->arguments;
	if (arguments_check(schema_of(s, r, m->tool), given, &err))
		note(s, r, m, &err);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)r, (void)m;
	const struct misfit *s = state;
	if (s->calls.count > 0)
		finding_say(out, SEVERITY_WARNING, &s->calls, "/tool_call/arguments",
		            "%" PRId64
		            " call%s not fit the schema of the tool; the first "
		            "of %s: %s",
		            s->calls.count, s->calls.count == 1 ? " does" : "s do",
		            s->tool, s->why);
}

const struct check check_arguments_schema = {
	.id = "arguments-schema",
	.title = "a call's arguments do not fit the schema the tool advertises",
	.why = "The arguments of a call break the schema that the server gave for the "
	       "tool: a required one is missing, one has another type or a word that "
	       "is not allowed, or there is one the schema does not name. Some "
	       "servers refuse such a call; others drop what they do not know and go "
	       "on with a default, which looks like success.\n"
	       "Look at the call and at inputSchema in the header's tools. A call "
	       "that is a string holds arguments encoded twice. Only the outer "
	       "object is judged (type, required, enum, const, minimum, maximum and "
	       "names that are not there), not what stands deeper.\n"
	       "Cure: correct the script; give the model the schema as it is; mend "
	       "the schema where it is the schema that lies.",
	.wants = WANT_OK | WANT_FAILED | WANT_EVENT,
	.state_size = sizeof(struct misfit),
	.line = line,
	.end = end,
};
