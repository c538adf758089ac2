/* Fault http-500: the session opens, and every tool call ends in a bare HTTP error. */
#include "serve/fault/hooks.h"

#include "protocol/jsonrpc.h"

static bool error_instead(const struct request *q, struct reply *r)
{
	struct jsonrpc_message m;

	jsonrpc_read(q->body, &m);
	if (!str_is(q->path, "/mcp") || !str_is(m.method, "tools/call")) {
		return false;
	}
	reply_text(r, 500, "Internal Server Error");
	return true;
}

const struct fault_hooks fault_http_500 = {.request = error_instead};
