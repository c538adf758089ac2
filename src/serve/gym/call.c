/* From the session to the world and back, past the faults: see call.h. */
#include "serve/gym/call.h"

#include "json/scan.h"
#include "serve/fault/fault.h"
#include "serve/playback/playback.h"

static bool no_tools(const struct gym *g)
{
	size_t cursor = 0;

	for (const struct fault_hooks *f; (f = fault_next(g, &cursor));) {
		if (f->no_tools) {
			return true;
		}
	}
	return false;
}

struct str call_tools(const struct gym *g)
{
	if (g->conf.playback) {
		struct str recorded = playback_sample(g->conf.playback)->tools;

		return recorded.p ? recorded : STR("[]");
	}
	return no_tools(g) ? STR("[]") : g->conf.world->tools;
}

/* What is not on offer is unknown before any fault looks at the call. */
static void refuse_unknown(const struct gym *g, struct call *c)
{
	struct str tools = call_tools(g), tool;

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		if (json_is(c->act.tool, json_inner(JSON_GET(tool, "name")))) {
			return;
		}
	}
	act_unknown_tool(&c->act);
	c->done = true;
}

void call_execute(struct gym *g, struct transport *t, struct str tool, struct str arguments,
                  struct call *c)
{
	const struct fault_hooks *f;

	*c = (struct call){.transport = t, .env = t->env};
	c->act = (struct act){.tool = tool,
	                      .arguments = arguments,
	                      .text = BUF(BUF_MAX_MESSAGE),
	                      .structured = BUF(BUF_MAX_MESSAGE)};
	refuse_unknown(g, c);
	for (size_t cursor = 0; !c->done && (f = fault_next(g, &cursor));) {
		if (f->before_call) {
			f->before_call(g, c);
		}
	}
	if (!c->done) {
		gym_env_act(g, c->env, &c->act);
	}
	t->calls++;
	for (size_t cursor = 0; (f = fault_next(g, &cursor));) {
		if (f->after_call) {
			f->after_call(g, c);
		}
	}
}

void call_release(struct call *c)
{
	buf_release(&c->act.text);
	buf_release(&c->act.structured);
}
