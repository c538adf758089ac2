/* Compares the answers of each tool: see tool_answers.h. */
#include "facts/tool_answers.h"

#include "facts/fingerprint.h"

void tool_answers_add(struct tool_answers *t, struct arena *arena, const struct answered_call *call,
                      struct str answer)
{
	struct one_tool now = {
		.tool = fingerprint(call->tool), .call = call->id, .answer = fingerprint(answer)};
	size_t i = 0;

	while (i < t->count && t->list[i].tool != now.tool) {
		i++;
	}
	if (i < t->count) {
		t->differ = t->differ || t->list[i].answer != now.answer;
		t->list[i].others += t->list[i].call != now.call;
	} else if (i < TOOL_ANSWERS_TOOLS) {
		t->list = arena_grow(arena, t->list, t->count, sizeof(*t->list));
		t->list[t->count++] = now;
	} else {
		t->differ = true;
	}
}

bool tool_answers_are_alike(const struct tool_answers *t)
{
	bool many = false;

	for (size_t i = 0; i < t->count; i++) {
		many = many || t->list[i].others >= TOOL_ANSWERS_CALLS_MIN - 1;
	}
	return many && !t->differ;
}
