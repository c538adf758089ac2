/* The words of the record format for outcomes, error classes and layers, both ways. */
#include "trajectory/outcome.h"

static const char *const outcome_names[] = {
	[OUTCOME_OK] = "ok",
	[OUTCOME_TOOL_ERROR] = "tool-error",
	[OUTCOME_PROTOCOL_ERROR] = "protocol-error",
	[OUTCOME_TRANSPORT_ERROR] = "transport-error",
	[OUTCOME_TIMEOUT] = "timeout",
	[OUTCOME_CAPACITY] = "capacity",
	[OUTCOME_SESSION_LOST] = "session-lost",
	[OUTCOME_UNPARSED] = "unparsed",
	[OUTCOME_NOT_SENT] = "not-sent",
};

static const char *const class_names[] = {
	[CLASS_CAPACITY] = "capacity",
	[CLASS_SESSION] = "session",
	[CLASS_UNKNOWN_TOOL] = "unknown-tool",
	[CLASS_ARGUMENTS] = "arguments",
	[CLASS_TOOL] = "tool",
	[CLASS_ENVIRONMENT] = "environment",
	[CLASS_TIMEOUT] = "timeout",
	[CLASS_TRANSPORT] = "transport",
	[CLASS_PROTOCOL] = "protocol",
	[CLASS_AUTH] = "auth",
	[CLASS_OTHER] = "other",
};

static const char *const layer_names[] = {
	[LAYER_TRANSPORT] = "transport",
	[LAYER_HTTP] = "http",
	[LAYER_WEBSOCKET] = "websocket",
	[LAYER_JSONRPC] = "jsonrpc",
	[LAYER_MCP] = "mcp",
	[LAYER_FRAMEWORK] = "framework",
	[LAYER_BODY] = "body",
	[LAYER_TEXT] = "text",
};

/* 0, the *_NONE of each enum, when the word is not there. */
static size_t word_index(const char *const *words, size_t count, struct str word)
{
	for (size_t i = 1; i < count; i++) {
		if (str_is(word, words[i]))
			return i;
	}
	return 0;
}

const char *outcome_name(enum outcome o)
{
	return (size_t)o < ARRAY_LEN(outcome_names) ? outcome_names[o] : NULL;
}

const char *error_class_name(enum error_class c)
{
	return (size_t)c < ARRAY_LEN(class_names) ? class_names[c] : NULL;
}

const char *error_layer_name(enum error_layer l)
{
	return (size_t)l < ARRAY_LEN(layer_names) ? layer_names[l] : NULL;
}

enum outcome outcome_parse(struct str word)
{
	return (enum outcome)word_index(outcome_names, ARRAY_LEN(outcome_names), word);
}
