/* Recorded answers as an MCP server sends them, such that a client that reads them records what was
   recorded. Independent of HTTP and JSON-RPC envelopes: gym/ has those. */
#ifndef ROLLDBG_SERVE_PLAYBACK_MCP_H
#define ROLLDBG_SERVE_PLAYBACK_MCP_H

#include "serve/playback/playback.h"

enum played_kind {
	PLAYED_RESULT,  /* body: the result, raw JSON */
	PLAYED_ERROR,   /* body: the error object of JSON-RPC */
	PLAYED_REFUSAL, /* the same, with HTTP status `status` */
	PLAYED_HTTP,    /* HTTP status `status` with these bytes */
	PLAYED_CLOSE,   /* the connection is closed without an answer */
	PLAYED_NEVER,   /* no answer comes */
};

struct played_answer {
	enum played_kind kind;
	unsigned status;
	const char *type; /* content type of PLAYED_HTTP; NULL: no body */
	bool renames;     /* the reply names another session */
	struct buf body;  /* the caller sets its cap and releases it */
};

/* The answer to tools/call: a recorded one; the state, where the recording read its states with that
   tool; or a tool error that shows the nearest recorded call. name: a raw JSON string. */
void played_call(struct played *s, struct str name, struct str arguments,
                 struct played_answer *out);
/* Did the server refuse the recorded session? Then *out is how. */
bool played_refuses(const struct played *s, struct played_answer *out);

/* What the control plane shows as the state: the reset's observation until somebody has seen it.
   Absent: not recorded. */
struct str played_control_state(struct played *s);
/* Appends the text of a state as a resource has it: that of a string, else JSON. */
void played_state_text(const struct played *s, struct buf *out);

#endif
