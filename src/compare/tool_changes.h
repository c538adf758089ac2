/* Sorts what differs between two lists of tools: what breaks calls that worked, what does not, and texts. A
   pure function of the two lists. */
#pragma once

#include "json/scan.h"

enum tool_change_class {
	TOOL_BREAKING, /* a call that fitted may be refused now: removed, renamed, narrowed */
	TOOL_COMPATIBLE,
	TOOL_TEXT, /* descriptions, titles; also $schema and additionalProperties */
};
#define TOOL_CHANGE_CLASSES 3
const char *tool_change_class_name(enum tool_change_class c); /* "breaking" */

/* Valid during the call. */
struct tool_change {
	enum tool_change_class class;
	const char *what;         /* "an argument is required now" */
	struct str pointer;       /* "/tools/NAME/inputSchema/required/key": RFC 6901, by name */
	struct str expected, got; /* raw JSON; absent: removed, added */
};

typedef void tool_change_fn(void *ctx, const struct tool_change *c);

/* Reports each difference of two arrays of tools, in the order of the first. The order of tools, members,
   required arguments and allowed values does not count. Absent lists: nothing. */
void tool_changes(struct str before, struct str now, tool_change_fn *take, void *ctx);
