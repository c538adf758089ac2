/* Servers in the file format of MCP clients: mcpServers (or servers) of an mcp.json. */
#ifndef ROLLDBG_CMD_OPTIONS_MCP_SERVERS_H
#define ROLLDBG_CMD_OPTIONS_MCP_SERVERS_H

#include "cmd/options/config_keys.h"
#include "cmd/options/config_values.h"

struct mcp_server {
	const char *target;         /* a URL or stdio:COMMAND */
	const cJSON *headers, *env; /* objects of the file; NULL: none */
	const char *key;            /* url or command, with its value and class */
	const cJSON *value;
	enum opt_class class;
	struct config_variables secret; /* in the target */
};

/* Has the file servers, and no key of a project file? */
bool mcp_servers_given(const cJSON *file);
/* Visits every setting of every server in the file, parsed by tree_parse. FAIL_INPUT. */
MUST_USE int mcp_servers_visit(struct keyed *k, const cJSON *file, const struct config_visitor *v);

/* Finds the server by name in the same. FAIL_INPUT, with the available names. */
MUST_USE int mcp_servers_find(struct keyed *k, const cJSON *file, environment *variable,
                              const char *name, struct mcp_server *out);

#endif
