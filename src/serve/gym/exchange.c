/* Routing of requests by path, and common replies: see exchange.h. */
#include "serve/gym/exchange.h"

#include "json/scan.h"
#include "json/write.h"
#include "serve/fault/fault.h"
#include "serve/playback/playback.h"

void reply_text(struct reply *r, unsigned status, const char *text)
{
	r->status = status;
	r->type = "text/plain; charset=utf-8";
	buf_text(&r->body, text);
}

void reply_json(struct reply *r, unsigned status, const char *json)
{
	r->status = status;
	r->type = "application/json";
	buf_text(&r->body, json);
}

void reply_refusal(struct reply *r, unsigned status, int code, const char *message)
{
	reply_json(r, status, "");
	json_pack(&r->body, "{jsonrpc:'2.0',id:'server-error',error:{code:%d,message:%t}}", code,
	          message);
}

void exchange_answer(struct gym *g, const struct request *q, struct reply *r)
{
	size_t cursor = 0;

	for (const struct fault *f; (f = fault_of(&g->conf, &cursor));)
		if (f->request && f->request(q, r))
			return;
	if (str_is(q->path, "/mcp")) {
		mcp_answer(g, q, r);
	} else if (str_is(q->path, "/mcp/")) {
		r->status = 307;
		r->redirect = true;
	} else {
		control_answer(g, q, r);
	}
}

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
	if (!json_named(call_tools(g), c->world_call.tool).p) {
		world_call_unknown_tool(&c->world_call);
		c->done = true;
	}
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
	for (size_t cursor = 0; !c->done && (f = fault_of(&g->conf, &cursor));)
		if (f->before_call)
			f->before_call(g, c);
	if (!c->done)
		gym_env_act(g, c->env, &c->world_call);
	t->calls++;
	for (size_t cursor = 0; (f = fault_of(&g->conf, &cursor));)
		if (f->after_call)
			f->after_call(g, c);
}

void call_release(struct call *c)
{
	BUFS_RELEASE(&c->world_call.text, &c->world_call.structured);
}
