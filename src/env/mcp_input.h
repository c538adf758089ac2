/* Results that are none yet (MCP revision 2026-07-28, "Multi Round-Trip Requests"): what
   the server asks before it acts, and what it is told. Pure: JSON in, JSON out. */
#ifndef ROLLDBG_ENV_MCP_INPUT_H
#define ROLLDBG_ENV_MCP_INPUT_H

#include "env/mcp_session.h"

/* What we offer to be asked for: clientCapabilities of each request. */
#define MCP_INPUT_CAPABILITIES "{\"roots\":{},\"elicitation\":{}}"

/* By its resultType; one without is complete. */
enum mcp_result_kind {
	MCP_RESULT_COMPLETE,
	MCP_RESULT_INPUT_REQUIRED,
	MCP_RESULT_UNKNOWN,
};

enum mcp_result_kind mcp_result_kind(struct str result);

/* Answers a result that requires input: what the request is sent again with, raw JSON,
   empty where there is none; requestState byte for byte as it came. False, with a
   sentence in `why`, when it asks for what was not offered, or for nothing. */
bool mcp_input_answer(struct str result, struct buf *responses, struct buf *state,
                      struct buf *why);

/* Is the result of a tool call none, and why? */
bool mcp_result_is_none(const struct mcp_reply *r, struct buf *why);

#endif
