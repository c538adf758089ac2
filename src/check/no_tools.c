/* Rule no-tools: there is nothing to call, or nothing of what is offered can be
   called. */
#include "check/peer.h"

#include <inttypes.h>

struct refusals {
	bool *refused; /* by tool, in the rollout's arena; NULL before the first one */
	size_t count;  /* tools refused */
	bool accepted; /* some offered tool was there */
	struct span calls;
};

static bool is_refused(const struct line *l)
{
	return l->outcome != OUTCOME_OK &&
	       peer_is(JSON_GET(l->value[KEY_ERROR], "class"), STR("unknown-tool"));
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)out;
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

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct refusals *s = state;
	if (r->tools_known != TOOLS_ALL)
		return;
	if (r->tool_count == 0)
		finding_say(out, SEVERITY_ERROR, NULL, "/tools",
		            "the server offers no tools");
	else if (!s->accepted && s->count == r->tool_count)
		finding_say(out, SEVERITY_ERROR, &s->calls, "/error",
		            "every tool the server offers (%zu) was refused as unknown "
		            "when called",
		            r->tool_count);
}

const struct check check_no_tools = {
	.id = "no-tools",
	.title = "the server offers no tools, or refuses every one it offers",
	.why = "Without a tool the policy cannot act: a model talks, a script has "
	       "nothing to call. Either the list of tools came back empty, or each "
	       "offered name was refused as unknown when it was called, which means "
	       "that the list and the calls are answered by different parts.\n"
	       "Look at the header's tools, at the log of the server's start (tools "
	       "that failed to register), and at a proxy that serves the list from "
	       "elsewhere. Some servers fill the list only after "
	       "notifications/initialized.\n"
	       "Cure: mend the registration; do not start a batch before tools/list "
	       "shows what the task needs.",
	.wants = WANT_OK | WANT_FAILED,
	.state_size = sizeof(struct refusals),
	.line = line,
	.end = end,
};
