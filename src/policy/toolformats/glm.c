/* GLM 4.5 to 4.7: <tool_call>NAME<arg_key>K</arg_key><arg_value>V</arg_value>..
   </tool_call>, with or without line feeds between; values typed by the schema. */
#include "policy/toolformats/format.h"

static bool is_name(struct str after)
{
	return leading_name(after).n > 0;
}

static void read_one(struct finder *f, struct str body, bool closed)
{
	struct str name = leading_name(trimmed(body)), key, value, ignored, rest = body;
	struct typed t;

	if (!closed) {
		found_add(f, (struct found_call){
				     .how = FOUND_CUT, .name = name, .arguments = body});
		return;
	}
	typed_begin(f, name, &t);
	while (cut_at(rest, "<arg_key>", &ignored, &rest) &&
	       cut_at(rest, "</arg_key>", &key, &rest) &&
	       cut_at(rest, "<arg_value>", &ignored, &rest)) {
		cut_at(rest, "</arg_value>", &value, &rest);
		typed_add(&t, trimmed(key), value, false);
	}
	found_add(f, (struct found_call){.name = name, .arguments = typed_end(f, &t)});
}

static void find(struct finder *f, struct str text)
{
	struct str before, body, rest = text;

	while (cut_at(rest, "<tool_call>", &before, &rest)) {
		found_text(f, before);
		bool closed = cut_at(rest, "</tool_call>", &body, &rest);

		read_one(f, body, closed);
	}
	found_text(f, before);
}

const struct tool_format tool_format_glm = {
	.name = "glm",
	.help = "<tool_call>NAME<arg_key>..: GLM 4.5 to 4.7",
	.marks = {"<tool_call>"},
	.is_ours = is_name,
	.find = find,
};
