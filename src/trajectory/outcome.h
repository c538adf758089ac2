/* How the environment answered one step, and who said so. A peer's misbehaviour is data:
   adapters classify every reply once, into these words, and nobody below or above looks
   at the text again. */
#ifndef ROLLDBG_TRAJECTORY_OUTCOME_H
#define ROLLDBG_TRAJECTORY_OUTCOME_H

#include "base/base.h"

enum outcome {
	OUTCOME_NONE, /* no call in this turn: null in a recording */
	OUTCOME_OK,
	OUTCOME_TOOL_ERROR,
	OUTCOME_PROTOCOL_ERROR,
	OUTCOME_TRANSPORT_ERROR,
	OUTCOME_TIMEOUT,
	OUTCOME_CAPACITY,
	OUTCOME_SESSION_LOST,
	OUTCOME_UNPARSED,
	OUTCOME_NOT_SENT,
};

enum error_class {
	CLASS_NONE,
	CLASS_CAPACITY,
	CLASS_SESSION,
	CLASS_UNKNOWN_TOOL,
	CLASS_ARGUMENTS,
	CLASS_TOOL,
	CLASS_ENVIRONMENT,
	CLASS_TIMEOUT,
	CLASS_TRANSPORT,
	CLASS_PROTOCOL,
	CLASS_AUTH,
	CLASS_OTHER,
};

/* Who said so; the first that applies wins. */
enum error_layer {
	LAYER_NONE,
	LAYER_TRANSPORT,
	LAYER_HTTP,
	LAYER_WEBSOCKET,
	LAYER_JSONRPC,
	LAYER_MCP,
	LAYER_FRAMEWORK,
	LAYER_BODY,
	LAYER_TEXT,
};

/* The words of the record format ("tool-error", "unknown-tool", "jsonrpc"); NULL for
 * *_NONE. */
const char *outcome_name(enum outcome o);
const char *error_class_name(enum error_class c);
const char *error_layer_name(enum error_layer l);

/* The other way; OUTCOME_NONE for an unknown word. */
enum outcome outcome_parse(struct str word);

#endif
