/* What the replies of an MCP server mean. Bytes in, facts out; sends nothing. */
#pragma once

#include "env/mcp/mcp_session.h"
#include "env/reading.h"

/* Context of a call, used to read its reply. */
struct mcp_call_context {
	/* the requested environment session (may be empty): a server that only returns it as an
	   error has lost it */
	struct str env_session;
	struct hidden_error_context before;
	bool is_state; /* a state is requested, in which "error" may be an ordinary member */
	/* texts that are errors, see env/hidden_error.h */
	const char *const *error_texts;
	size_t error_text_count;
};

/* Sets outcome, error, observation, structured, raw, http_status and reply_session of out; the
   rest is not changed. A hidden error that is not certain is stored in m->suspected. Slices
   point into `reply` and `m`. */
void mcp_read_tool_reply(const struct mcp_reply *reply, const struct mcp_call_context *call,
                         struct reply_reading *m, struct env_reply *out);

/* Decides m->suspected afterwards. counted: did the environment count the step (1, 0; -1:
   unknown)? A confirmed error disagrees with isError:false. */
void mcp_settle_suspected(struct reply_reading *m, int counted, struct env_reply *out);

/* Like mcp_read_tool_reply, for a response that is not a tool result (initialize, tools/list): sets
   outcome and error only. */
void mcp_read_other(const struct mcp_reply *reply, struct reply_reading *m, struct env_reply *out);

struct state_source;

/* The state in the reply to a request for a resource or to the call of a tool, valid until the next
   one; absent: it has none, s->why has the reason (state.c). */
struct str mcp_take_state(struct state_source *s, const struct mcp_reply *reply,
                          struct reply_reading *reading);
