/* Recorded replies in the form of MCP, so that a client that records them gets the same
   recording. Independent of HTTP and the JSON-RPC envelope, which are in gym/. */
#ifndef ROLLDBG_SERVE_PLAYBACK_MCP_H
#define ROLLDBG_SERVE_PLAYBACK_MCP_H

#include "serve/playback/playback.h"

enum playback_reply_kind {
	PLAYBACK_RESULT,   /* body: the result, raw JSON */
	PLAYBACK_ERROR,    /* body: the error object of JSON-RPC */
	PLAYBACK_REFUSAL,  /* the same, with an HTTP status */
	PLAYBACK_HTTP,     /* an HTTP response with these bytes */
	PLAYBACK_CLOSE,    /* close the connection without a reply */
	PLAYBACK_NO_REPLY, /* no reply is sent */
};

struct playback_reply {
	enum playback_reply_kind kind;
	unsigned status;
	const char *type;     /* content type of PLAYBACK_HTTP; NULL: no body */
	bool changes_session; /* the reply names another session */
	struct buf body;      /* cap set and memory released by the caller */
};

/* The reply to tools/call: the recorded one; the state, if the recording's states were read with
   that tool; or a tool error that shows the nearest recorded call. name: a raw JSON string. */
void playback_mcp_call(struct playback_session *s, struct str name, struct str arguments,
                       struct playback_reply *out);
/* Was the recorded session refused by the server? Then *out is the refusal. */
bool playback_mcp_refusal(const struct playback_session *s, struct playback_reply *out);

/* The state on the control plane: until it was read once, the observation of the reset. Absent:
   not recorded. */
struct str playback_control_state(struct playback_session *s);
/* Appends a state as the text of a resource: a string's text, else JSON. */
void playback_state_text(const struct playback_session *s, struct buf *out);

#endif
