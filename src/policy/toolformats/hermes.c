/* Hermes (Qwen 2.5 and 3, Granite 4 and many others):
   <tool_call>{"name":..,"arguments":{..}}</tool_call>, repeated. A stop string or a limit
   may have taken the last end mark: complete JSON is a call without it. */
#include "policy/toolformats/format.h"

static bool is_object(struct str after)
{
	return after.n && (after.p[0] == '{' || after.p[0] == '`');
}

/* The body may hold the end mark inside a string, so JSON is looked for first. */
static struct str read_one(struct finder *f, struct str body)
{
	struct json_fault fault;
	struct str object, value, rest;
	size_t used;
	bool closed;

	if (json_validate_first(body, &used, &fault) == 0) {
		object = (struct str){body.p, used};
		rest = str_skip(body, used);
		closed = str_starts(trimmed(rest), STR("</tool_call>"));
		if (closed) {
			cut_at(rest, "</tool_call>", &value, &rest);
		} else if (trimmed(rest).n) {
			cut_at(body, "</tool_call>", &object, &rest);
		} else {
			call_note(f->notes, "end-mark-missing");
		}
	} else {
		closed = cut_at(body, "</tool_call>", &object, &rest);
	}
	enum found_how how = json_all(f, object, closed, &value);
	if (how == FOUND_CUT) {
		found_add(f, (struct found_call){.how = FOUND_CUT,
		                                 .arguments = trimmed(object)});
	} else if (how == FOUND_BAD) {
		found_bad(f, (struct str){NULL, 0}, object, "it is not JSON");
	} else if (!found_objects(f, value)) {
		found_bad(f, (struct str){NULL, 0}, object, "it names no tool");
	}
	return rest;
}

static void find(struct finder *f, struct str text)
{
	struct str before, rest = text;

	while (cut_at(rest, "<tool_call>", &before, &rest)) {
		found_text(f, before);
		rest = read_one(f, rest);
	}
	found_text(f, before);
}

const struct tool_format tool_format_hermes = {
	.name = "hermes",
	.help = "<tool_call>{..}</tool_call>: Hermes, Qwen 2.5 and 3, Granite 4",
	.marks = {"<tool_call>"},
	.is_ours = is_object,
	.find = find,
};
