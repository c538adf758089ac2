/* <invoke name="NAME"><parameter name="K">value</parameter></invoke>, as MiniMax M2 and,
   with marks of its own, DeepSeek V3.2 write it; values typed by the schema. */
#include "policy/toolformats/format.h"

#define DSML                                                                             \
	"<\xef\xbd\x9c"                                                                  \
	"DSML\xef\xbd\x9c"

/* name="VALUE" in a tag. */
static struct str attribute(struct str tag, const char *name)
{
	struct str before, rest, value;

	if (!cut_at(tag, name, &before, &rest) || !cut_at(rest, "\"", &before, &rest) ||
	    !cut_at(rest, "\"", &value, &rest)) {
		return (struct str){NULL, 0};
	}
	return value;
}

static void read_invoke(struct finder *f, struct str body, bool closed)
{
	struct str tag, key, value, before, rest;
	struct typed t;

	bool whole = cut_at(body, ">", &tag, &rest) && closed;
	struct str name = attribute(tag, "name=");
	if (!whole) {
		found_add(f, (struct found_call){
				     .how = FOUND_CUT, .name = name, .arguments = body});
		return;
	}
	typed_begin(f, name, &t);
	while (cut_at(rest, "parameter name=", &before, &rest)) {
		cut_at(rest, "\"", &before, &rest);
		cut_at(rest, "\"", &key, &rest);
		cut_at(rest, ">", &tag, &rest);
		bool text = str_is(attribute(tag, "string="), "true");

		cut_at(rest, "</", &value, &rest);
		cut_at(rest, ">", &before, &rest);
		typed_add(&t, key, value, text);
	}
	found_add(f, (struct found_call){.name = name, .arguments = typed_end(f, &t)});
}

static void find(struct finder *f, struct str text)
{
	struct str before, body, ignored, rest = text;
	bool dsml = mark_at(text, DSML) < text.n;
	const char *begin = dsml ? DSML "invoke" : "<invoke";
	const char *end = dsml ? "</\xef\xbd\x9c"
	                         "DSML\xef\xbd\x9cinvoke>"
	                       : "</invoke>";

	cut_at(text, dsml ? DSML : "<minimax:tool_call>", &before, &ignored);
	found_text(f, before);
	while (cut_at(rest, begin, &before, &rest)) {
		bool closed = cut_at(rest, end, &body, &rest);

		read_invoke(f, body, closed);
	}
}

const struct tool_format tool_format_invoke = {
	.name = "invoke",
	.help = "<invoke name=..><parameter name=..>: MiniMax M2, DeepSeek V3.2",
	.marks = {"<minimax:tool_call>", DSML "invoke"},
	.find = find,
};
