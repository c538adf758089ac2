/* A reply that is one call, or an array of calls, as JSON, perhaps in a code fence:
   models that are told to in words. */
#include "policy/toolformats/format.h"

/* The inside of ```json .. ```; s itself when there is no fence. */
static struct str unfenced(struct finder *f, struct str s)
{
	struct str before, inside, rest;

	if (!cut_at(s, "```", &before, &rest)) {
		return s;
	}
	cut_at(rest, "\n", &inside, &rest);
	if (!cut_at(rest, "```", &inside, &rest)) {
		return s;
	}
	found_text(f, trimmed(before));
	found_text(f, trimmed(rest));
	call_note(f->notes, "code-fence");
	return trimmed(inside);
}

static void find(struct finder *f, struct str text)
{
	struct str value, all = unfenced(f, trimmed(text));

	if (!all.n || (all.p[0] != '{' && all.p[0] != '[')) {
		return;
	}
	enum found_how how = json_all(f, all, false, &value);
	if (how == FOUND_WHOLE) {
		found_objects(f, value);
	} else if (how == FOUND_CUT && mark_at(all, "\"name\"") < all.n) {
		found_add(f, (struct found_call){.how = FOUND_CUT, .arguments = all});
	}
}

const struct tool_format tool_format_json = {
	.name = "json",
	.help = "{\"name\":..,\"arguments\":{..}} as the whole reply, or in a fence",
	.find = find,
};
