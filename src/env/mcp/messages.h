/* What is written about JSON-RPC messages that are not replies to a call. */
#ifndef ROLLDBG_ENV_MCP_MESSAGES_H
#define ROLLDBG_ENV_MCP_MESSAGES_H

#include "protocol/jsonrpc.h"

/* Writes the detail of an event about a message: {"message"}; of a text that is none {"text"},
   {"base64"} or, of a long one, {"bytes"}. raw: the text it was read from. */
void mcp_write_message(const struct jsonrpc_message *m, struct str raw, struct buf *detail);

/* Why the message, which is JSON, is no JSON-RPC response: a clause. */
const char *mcp_message_fault(const struct jsonrpc_message *m);

#endif
