/* Routing of requests by path, and common replies: see exchange.h. */
#include "serve/gym/exchange.h"

#include "json/write.h"
#include "serve/fault/fault.h"

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
	json_put(&r->body, "{jsonrpc:'2.0',id:'server-error',error:{code:%d,message:%t}}", code,
	         message);
}

void exchange_answer(struct gym *g, const struct request *q, struct reply *r)
{
	size_t cursor = 0;

	for (const struct fault *f; (f = fault_of(&g->conf, &cursor));) {
		if (f->request && f->request(q, r)) {
			return;
		}
	}
	if (str_is(q->path, "/mcp")) {
		mcp_answer(g, q, r);
	} else if (str_is(q->path, "/mcp/")) {
		r->status = 307;
		r->redirect = true;
	} else {
		control_answer(g, q, r);
	}
}
