/* Does every tool always give the same reply, whatever its arguments? Then replies acknowledge calls
   or refuse them, and cannot show that anything moved. */
#ifndef ROLLDBG_FACTS_TOOL_REPLIES_H
#define ROLLDBG_FACTS_TOOL_REPLIES_H

#include "base/mem.h"

#define TOOL_REPLIES_TOOLS     16 /* with more tools: no */
#define TOOL_REPLIES_CALLS_MIN 3  /* calls of one tool, not all the same */

struct one_tool {
	uint64_t tool, call, reply; /* hashes: its name, its first call, the reply to it */
	int64_t others;             /* calls that are not the first one again */
};

/* Ready for use if zeroed. */
struct tool_replies {
	struct one_tool *list;
	size_t count;
	bool differ; /* some tool gave two replies, or there are too many tools */
};

struct answered_call {
	struct str tool; /* its name */
	uint64_t id;     /* distinguishes calls */
};

/* Adds the reply to a call. Replies are compared as they are spelled. */
void tool_replies_add(struct tool_replies *t, struct arena *arena, const struct answered_call *call,
                      struct str reply);

/* At least one tool was called TOOL_REPLIES_CALLS_MIN times, and all gave one reply each. */
bool tool_replies_are_alike(const struct tool_replies *t);

#endif
