/* What is written about JSON-RPC messages that are not replies to a call. */
#ifndef ROLLDBG_ENV_MCP_MESSAGES_H
#define ROLLDBG_ENV_MCP_MESSAGES_H

#include "protocol/jsonrpc.h"
#include "recording/events.h"

/* Queues an event about a message: {"message"}; of a text that is none {"text"}, {"base64"} or, of a
   long one, {"bytes"}. raw: the text it was read from. */
void mcp_note_message(struct event_queue *q, enum event_kind kind, const struct jsonrpc_message *m,
                      struct str raw);

/* Why the message, which is JSON, is no JSON-RPC response: a clause. */
const char *mcp_message_fault(const struct jsonrpc_message *m);

#endif
