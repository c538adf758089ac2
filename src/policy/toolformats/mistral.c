/* Mistral: [TOOL_CALLS][{"name":..,"arguments":..}] in old versions,
   [TOOL_CALLS]NAME[CALL_ID]id[ARGS]{..} from version 11 of its tokenizer on, repeated. */
#include "policy/toolformats/format.h"

static void read_new(struct finder *f, struct str call)
{
	struct str head, name, arguments, id;

	bool whole = cut_at(call, "[ARGS]", &head, &arguments);
	cut_at(head, "[CALL_ID]", &name, &id);
	if (!whole) {
		found_add(f, (struct found_call){.how = FOUND_CUT,
		                                 .name = trimmed(name),
		                                 .arguments = call});
		return;
	}
	found_named(f, trimmed(id), trimmed(name), trimmed(arguments), false);
}

static void read_one(struct finder *f, struct str call)
{
	struct str value;
	enum found_how how;

	call = trimmed(call);
	if (!call.n || (call.p[0] != '[' && call.p[0] != '{')) {
		read_new(f, call);
		return;
	}
	how = json_all(f, call, false, &value);
	if (how == FOUND_CUT) {
		found_add(f, (struct found_call){.how = FOUND_CUT, .arguments = call});
	} else if (how == FOUND_BAD || !found_objects(f, value)) {
		found_bad(f, (struct str){NULL, 0}, call, "it is no list of calls");
	}
}

static void find(struct finder *f, struct str text)
{
	struct str call, rest = text;

	cut_at(rest, "[TOOL_CALLS]", &call, &rest);
	found_text(f, call);
	while (rest.n) {
		cut_at(rest, "[TOOL_CALLS]", &call, &rest);
		read_one(f, call);
	}
}

const struct tool_format tool_format_mistral = {
	.name = "mistral",
	.help = "[TOOL_CALLS]..: Mistral, old and new",
	.marks = {"[TOOL_CALLS]"},
	.find = find,
};
