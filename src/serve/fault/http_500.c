/* Fault http-500: the session opens, but every tool call returns HTTP 500 without JSON. */
#include "serve/fault/hooks.h"

#include "protocol/jsonrpc.h"

static bool reply_error(const struct request *q, struct reply *r)
{
	struct jsonrpc_message m;

	jsonrpc_read(q->body, &m);
	if (!str_is(q->path, "/mcp") || !str_is(m.method, "tools/call")) {
		return false;
	}
	reply_text(r, 500, "Internal Server Error");
	return true;
}

const struct fault_hooks fault_http_500 = {.request = reply_error};
