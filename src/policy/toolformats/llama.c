/* Llama 3: {"name":..,"parameters":{..}}, several with ';' between, behind
   <|python_tag|> or as the whole reply. */
#include "policy/toolformats/format.h"

static void read_calls(struct finder *f, struct str text)
{
	struct str value, rest = trimmed(text);

	while (rest.n) {
		size_t used = 0;
		enum found_how how = json_at(f, rest, false, &value, &used);

		if (how == FOUND_CUT) {
			found_add(f, (struct found_call){.how = FOUND_CUT,
			                                 .arguments = rest});
			return;
		}
		if (how == FOUND_BAD || !found_objects(f, value)) {
			found_bad(f, (struct str){NULL, 0}, rest, "it is no call");
			return;
		}
		rest = trimmed(str_skip(rest, used));
		if (rest.n && rest.p[0] == ';') {
			rest = trimmed(str_skip(rest, 1));
		}
	}
}

static void find_marked(struct finder *f, struct str text)
{
	struct str before, rest;

	cut_at(text, "<|python_tag|>", &before, &rest);
	found_text(f, before);
	read_calls(f, rest);
}

/* Only what is calls from its first byte to its last; anything else is prose. */
static void find_whole(struct finder *f, struct str text)
{
	struct str all = trimmed(text);

	if (all.n && all.p[0] == '{' && mark_at(all, ";") < all.n) {
		read_calls(f, all);
	}
}

static bool is_object(struct str after)
{
	return after.n && after.p[0] == '{';
}

const struct tool_format tool_format_llama_marked = {
	.name = "llama",
	.help = "<|python_tag|>{..};{..}: Llama 3",
	.marks = {"<|python_tag|>"},
	.is_ours = is_object,
	.find = find_marked,
};

const struct tool_format tool_format_llama = {
	.name = "llama",
	.help = "{\"name\":..,\"parameters\":{..}};{..} as the whole reply: Llama 3",
	.find = find_whole,
};
