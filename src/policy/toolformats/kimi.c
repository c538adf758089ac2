/* Kimi K2: <|tool_call_begin|>functions.NAME:IDX<|tool_call_argument_begin|>{..}
   <|tool_call_end|>. The id goes back to the model as it is. */
#include "policy/toolformats/format.h"

static void read_one(struct finder *f, struct str call, bool closed)
{
	struct str id, arguments, name;

	bool whole = cut_at(call, "<|tool_call_argument_begin|>", &id, &arguments);
	id = trimmed(id);
	name = id;
	if (str_starts(name, STR("functions."))) {
		name = str_skip(name, strlen("functions."));
	}
	name.n = mark_at(name, ":");
	if (!whole) {
		found_add(f, (struct found_call){.how = FOUND_CUT,
		                                 .id = id,
		                                 .name = name,
		                                 .arguments = call});
		return;
	}
	found_named(f, id, name, trimmed(arguments), closed);
}

static void find(struct finder *f, struct str text)
{
	struct str call, rest = text, calls, after;

	cut_at(text, "<|tool_calls_section_begin|>", &call, &rest);
	found_text(f, call);
	cut_at(rest, "<|tool_calls_section_end|>", &calls, &after);
	while (cut_at(calls, "<|tool_call_begin|>", &call, &calls)) {
		bool closed = cut_at(calls, "<|tool_call_end|>", &call, &calls);

		read_one(f, call, closed);
	}
	found_text(f, after);
}

const struct tool_format tool_format_kimi = {
	.name = "kimi",
	.help = "<|tool_calls_section_begin|>..: Kimi K2",
	.marks = {"<|tool_calls_section_begin|>"},
	.find = find,
};
