/* Classification: what an MCP server's answer to a tool call means. The ways in which "an
   error came back" are a dozen, and only two of them are errors on the wire; this is the
   one place that knows them. */
#ifndef ROLLDBG_ENV_MCP_REPLY_H
#define ROLLDBG_ENV_MCP_REPLY_H

#include "env/mcp_session.h"

/* Owns what a reply's slices point to when they had to be decoded. */
struct mcp_reading {
	struct buf observation, structured, message, session, canon[2];
	char code[16];
	/* the server says success, and this layer reads like an error; none: all is well
	 */
	enum error_layer suspected;
};

void mcp_reading_init(struct mcp_reading *m);
void mcp_reading_release(struct mcp_reading *m);

/* Fills outcome, error, observation, structured, raw, http_status and reply_session of
   out; the rest is left alone. `env_session` is the environment session we asked for (may
   be empty): a server that only echoes it as an error has lost it. Slices point into
   `reply` and `m`. */
void mcp_read_tool_reply(const struct mcp_reply *reply, struct str env_session,
                         struct mcp_reading *m, struct env_reply *out);

/* For a suspected reply whose environment did not count a step: then the text is
   or the body is believed, and isError:false is what disagrees. */
void mcp_confirm_suspicion(struct mcp_reading *m, struct env_reply *out);

/* The same for an answer that is no tool result (initialize, tools/list): outcome and
 * error only. */
void mcp_read_refusal(const struct mcp_reply *reply, struct mcp_reading *m,
                      struct env_reply *out);

#endif
