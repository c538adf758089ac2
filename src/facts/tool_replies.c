/* Compares the replies of each tool: see tool_replies.h. */
#include "facts/tool_replies.h"

#include "facts/fingerprint.h"

void tool_replies_add(struct tool_replies *t, struct arena *arena, const struct answered_call *call,
                      struct str reply)
{
	struct one_tool now = {
		.tool = fingerprint(call->tool), .call = call->id, .reply = fingerprint(reply)};
	size_t i = 0;

	while (i < t->count && t->list[i].tool != now.tool) {
		i++;
	}
	if (i < t->count) {
		t->differ = t->differ || t->list[i].reply != now.reply;
		t->list[i].others += t->list[i].call != now.call;
	} else if (i < TOOL_REPLIES_TOOLS) {
		t->list = arena_grow(arena, t->list, t->count, sizeof(*t->list));
		t->list[t->count++] = now;
	} else {
		t->differ = true;
	}
}

bool tool_replies_are_alike(const struct tool_replies *t)
{
	bool many = false;

	for (size_t i = 0; i < t->count; i++) {
		many = many || t->list[i].others >= TOOL_REPLIES_CALLS_MIN - 1;
	}
	return many && !t->differ;
}
