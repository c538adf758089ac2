/* Results that request input first (MCP revision 2026-07-28, "Multi Round-Trip Requests"): the
   server's request and our answer. Pure: JSON in, JSON out. */
#pragma once

#include "base/buf.h"

/* The kinds of input we support: clientCapabilities in each request. */
#define MCP_INPUT_CAPABILITIES "{\"roots\":{},\"elicitation\":{}}"

/* The kind, by resultType; without it: complete. */
enum mcp_result_kind {
	MCP_RESULT_COMPLETE,
	MCP_RESULT_INPUT_REQUIRED,
	MCP_RESULT_UNKNOWN,
};

enum mcp_result_kind mcp_result_kind(struct str result);

/* Answers a result that requires input. `responses` and `state` are to be sent with the repeated
   request: raw JSON, empty if none; requestState is copied byte for byte. False, with a reason
   in `why`, if the server requests unsupported input, or none. */
bool mcp_input_answer(struct str result, struct buf *responses, struct buf *state, struct buf *why);

/* Is the result of a tool call unusable, and why? given_up: see struct mcp_reply. */
bool mcp_result_is_unusable(struct str result, struct str given_up, struct buf *why);

/* The client capability that announces this. */
#define ELICIT_CAPABILITY "\"elicitation\":{}"

/* Answers a server's question to the user: as there is no user, the form's defaults are sent (SEP-1034),
   if every required field has one. Appends the result of `elicitation/create`: {"action":"accept","content":{..}}, or
   {"action":"decline"} with the reason in `why`. params: the request's, valid JSON. Returns true
   if accepted. */
bool elicit_answer(struct str params, struct buf *result, struct buf *why);

/* Appends the result of a server's request: ping, roots/list, elicitation/create. method: decoded. False: of another
   method. `why`: as for elicit_answer. */
bool mcp_answer_request(struct str method, struct str params, struct buf *result, struct buf *why);
