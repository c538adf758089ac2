/* Executes tool calls and applies faults to them: see call.h. */
#include "serve/gym/call.h"

#include "json/scan.h"
#include "serve/fault/fault.h"
#include "serve/playback/playback.h"

struct str call_tools(const struct gym *g)
{
	if (g->conf.playback) {
		struct str recorded = playback_sample(g->conf.playback)->tools;

		return recorded.p ? recorded : STR("[]");
	}
	return g->traits & FAULT_HAS_NO_TOOLS ? STR("[]") : g->conf.world->tools;
}

/* An unknown tool is reported before faults are applied. */
static void refuse_unknown(const struct gym *g, struct call *c)
{
	struct str tools = call_tools(g), tool;

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		if (json_is(c->world_call.tool, json_inner(JSON_GET(tool, "name")))) {
			return;
		}
	}
	world_call_unknown_tool(&c->world_call);
	c->done = true;
}

void call_execute(struct gym *g, struct transport *t, struct str tool, struct str arguments,
                  struct call *c)
{
	const struct fault *f;

	*c = (struct call){.transport = t, .env = t->env};
	c->world_call = (struct world_call){.tool = tool,
	                                    .arguments = arguments,
	                                    .text = BUF(BUF_MAX_MESSAGE),
	                                    .structured = BUF(BUF_MAX_MESSAGE)};
	refuse_unknown(g, c);
	for (size_t cursor = 0; !c->done && (f = fault_of(&g->conf, &cursor));) {
		if (f->before_call) {
			f->before_call(g, c);
		}
	}
	if (!c->done) {
		gym_env_act(g, c->env, &c->world_call);
	}
	t->calls++;
	for (size_t cursor = 0; (f = fault_of(&g->conf, &cursor));) {
		if (f->after_call) {
			f->after_call(g, c);
		}
	}
}

void call_release(struct call *c)
{
	buf_release(&c->world_call.text);
	buf_release(&c->world_call.structured);
}
