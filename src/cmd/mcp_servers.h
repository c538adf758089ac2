/* Servers in the file format of MCP clients: mcpServers (or servers) of an mcp.json. */
#ifndef ROLLDBG_CMD_MCP_SERVERS_H
#define ROLLDBG_CMD_MCP_SERVERS_H

#include "cmd/config_keys.h"
#include "cmd/config_values.h"

struct mcp_server {
	const char *target;      /* a URL or stdio:COMMAND */
	struct str headers, env; /* objects as in the file; absent: none */
	const char *key;         /* url or command, with its value and class */
	struct str value;
	enum opt_class class;
	struct config_variables secret; /* in the target */
};

/* Has the file servers, and no key of a project file? */
bool mcp_servers_given(struct str file);
/* Visits every setting of every server in the text of k, parsed by keyed_parse. FAIL_INPUT. */
MUST_USE int mcp_servers_visit(struct keyed *k, const struct config_visitor *v);

/* Finds the server by name in the text of k, parsed by keyed_parse. FAIL_INPUT, with the available
   names. */
MUST_USE int mcp_servers_find(struct keyed *k, environment *variable, const char *name,
                              struct mcp_server *out);

#endif
