/* Servers as MCP clients list them: the mcpServers (or servers) of an mcp.json. */
#ifndef ROLLDBG_CMD_MCP_SERVERS_H
#define ROLLDBG_CMD_MCP_SERVERS_H

#include "cmd/config_values.h"

struct mcp_server {
	const char *target;      /* a URL or stdio:COMMAND */
	struct str headers, env; /* objects as in the file; absent: none */
};

/* The server of that name in the text of k, which keyed_parse took. FAIL_INPUT, with the names that
   there are. */
MUST_USE int mcp_servers_find(struct keyed *k, environment *variable, const char *name,
                              struct mcp_server *out);

#endif
