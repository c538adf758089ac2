/* What a tool says about itself: its arguments in words, and whether it could show the state. */
#ifndef ROLLDBG_POLICY_TOOL_ABOUT_H
#define ROLLDBG_POLICY_TOOL_ABOUT_H

#include "json/schema.h"

/* Why the tool could serve as state; NULL: it could not, or nothing says so. */
const char *tool_why_state(const char *protocol, struct str tool, struct str name);

struct tool_argument {
	struct str key, schema, description, fallback; /* raw JSON, except the key, as spelled */
	bool required;
};

/* The next property of a tool's schema. */
bool tool_next_argument(struct str schema, size_t *cursor, struct tool_argument *out);

/* Appends "string", "integer 1..10", "up|down", "array of string", "string or null". */
void tool_put_type(struct references *r, struct str schema, struct buf *out);

#endif
