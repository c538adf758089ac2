/* Classifies an MCP server's response to a tool call. An error can be reported in a dozen ways,
   only two of which are protocol errors; they are all handled here. */
#ifndef ROLLDBG_ENV_MCP_REPLY_H
#define ROLLDBG_ENV_MCP_REPLY_H

#include "env/env.h"
#include "env/hidden_error.h"
#include "env/mcp/exchange.h"

/* Owns decoded parts of a reply that its slices point to. */
struct mcp_reading {
	struct buf observation, structured, message, session, canon[2];
	char code[16];
	/* the server says success, and this reads like an error: whether it is one the
	   environment's own count tells */
	struct hidden_error suspected;
	enum error_class suspected_class;
	bool denied; /* isError is false */
};

void mcp_reading_init(struct mcp_reading *m);
void mcp_reading_release(struct mcp_reading *m);

/* What is known about a call when its answer is read. */
struct mcp_call_context {
	/* the requested environment session (may be empty): a server that only echoes it as an
	   error has lost it */
	struct str env_session;
	struct hidden_error_context before;
	bool is_state; /* a state is requested, in which "error" may be an ordinary member */
	/* texts that are errors, see env/hidden_error.h */
	const char *const *error_texts;
	size_t error_text_count;
};

/* Fills outcome, error, observation, structured, raw, http_status and reply_session of
   out; the rest is left alone. A hidden error that is not certain is left in m->suspected.
   Slices point into `reply` and `m`. */
void mcp_read_tool_reply(const struct mcp_reply *reply, const struct mcp_call_context *call,
                         struct mcp_reading *m, struct env_reply *out);

/* Then: did the environment count the step (1, 0; -1: its count tells nothing)? Confirms or
   drops m->suspected accordingly; a confirmed one disagrees with isError:false. */
void mcp_believe_suspected(struct mcp_reading *m, int counted, struct env_reply *out);

/* The same for a response that is not a tool result (initialize, tools/list): outcome and error
   only. */
void mcp_read_other(const struct mcp_reply *reply, struct mcp_reading *m, struct env_reply *out);

#endif
