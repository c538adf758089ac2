/* Answers a server's question to the user (MCP elicitation): as there is no user, the form's
   defaults are sent (SEP-1034), if every required field has one. No I/O. */
#ifndef ROLLDBG_ENV_MCP_ELICIT_H
#define ROLLDBG_ENV_MCP_ELICIT_H

#include "base/buf.h"

/* The client capability that announces this. */
#define ELICIT_CAPABILITY "\"elicitation\":{}"

/* Appends the result of `elicitation/create`: {"action":"accept","content":{..}}, or
   {"action":"decline"} with the reason in `why`. params: the request's, valid JSON. Returns true
   if accepted. */
bool elicit_answer(struct str params, struct buf *result, struct buf *why);

#endif
