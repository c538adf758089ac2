/* Harmony (gpt-oss): a message to=functions.NAME, <|message|>, JSON, <|call|>. The
   recipient stands behind the channel or in the role's header; what is said in the
   analysis channel is no call. */
#include "policy/toolformats/format.h"

static struct str recipient(struct str header)
{
	struct str before, name;

	if (!cut_at(header, "to=functions.", &before, &name)) {
		return (struct str){NULL, 0};
	}
	return leading_name(name);
}

static bool is_analysis(struct str header)
{
	struct str before, channel;

	return cut_at(header, "<|channel|>", &before, &channel) &&
	       str_starts(trimmed(channel), STR("analysis"));
}

/* The nearest mark that ends a message, and what is behind it. */
static bool end_of(struct str s, struct str *body, struct str *rest)
{
	static const char *const ends[] = {"<|call|>", "<|end|>", "<|return|>",
	                                   "<|start|>"};
	size_t at = s.n, bytes = 0;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t here = mark_at(s, ends[i]);

		if (here < at) {
			at = here;
			bytes = strlen(ends[i]);
		}
	}
	*body = (struct str){s.p, at};
	*rest = str_skip(s, at + bytes);
	return bytes > 0;
}

static void find(struct finder *f, struct str text)
{
	struct str header, body, rest = text;

	while (cut_at(rest, "<|message|>", &header, &rest)) {
		bool closed = end_of(rest, &body, &rest);
		struct str name = recipient(header);

		if (is_analysis(header)) {
			continue;
		}
		if (name.n) {
			found_named(f, (struct str){NULL, 0}, name, trimmed(body),
			            closed);
		} else {
			found_text(f, body);
		}
	}
}

const struct tool_format tool_format_harmony = {
	.name = "harmony",
	.help = "to=functions.NAME<|message|>..: gpt-oss",
	.marks = {"to=functions."},
	.find = find,
};
