/* Fault no-control-plane: a plain MCP server, as far as a client can see. */
#include "serve/fault/hooks.h"

static bool nothing_there(const struct request *q, struct reply *r)
{
	if (!str_starts(q->path, STR("/control/"))) {
		return false;
	}
	reply_text(r, 404, "Not Found");
	return true;
}

const struct fault_hooks fault_no_control_plane = {.request = nothing_there};
