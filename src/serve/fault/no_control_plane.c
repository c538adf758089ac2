/* Fault no-control-plane: the endpoints below /control are missing, as on a plain MCP server. */
#include "serve/fault/hooks.h"

static bool reply_not_found(const struct request *q, struct reply *r)
{
	if (!str_starts(q->path, STR("/control/"))) {
		return false;
	}
	reply_text(r, 404, "Not Found");
	return true;
}

const struct fault_hooks fault_no_control_plane = {.request = reply_not_found};
