/* Qwen3-Coder and its kin: <tool_call><function=NAME><parameter=K>value</parameter>..
   </function></tool_call>; values are text, typed by the tool's schema, with one line
   feed on either side. */
#include "policy/toolformats/format.h"

static bool is_function(struct str after)
{
	return str_starts(after, STR("<function="));
}

static struct str without_feeds(struct str s)
{
	if (s.n && s.p[0] == '\n') {
		s = str_skip(s, 1);
	}
	if (s.n && s.p[s.n - 1] == '\n') {
		s.n--;
	}
	return s;
}

/* Both end marks may be missing before the next parameter. */
static struct str value_of(struct str *rest)
{
	struct str value = *rest, behind = *rest;
	size_t end = mark_at(*rest, "</parameter>"), next = mark_at(*rest, "<parameter=");

	if (end < rest->n && end < next) {
		cut_at(*rest, "</parameter>", &value, &behind);
	} else {
		value.n = next;
		behind = str_skip(*rest, next);
	}
	*rest = behind;
	return without_feeds(value);
}

static void read_function(struct finder *f, struct str body, bool closed)
{
	struct str name, key, ignored, rest;
	struct typed t;

	if (!cut_at(body, ">", &name, &rest) || !closed) {
		found_add(f, (struct found_call){
				     .how = FOUND_CUT, .name = name, .arguments = body});
		return;
	}
	name = trimmed(name);
	typed_begin(f, name, &t);
	while (cut_at(rest, "<parameter=", &ignored, &rest) &&
	       cut_at(rest, ">", &key, &rest)) {
		typed_add(&t, trimmed(key), value_of(&rest), false);
	}
	found_add(f, (struct found_call){.name = name, .arguments = typed_end(f, &t)});
}

static void find(struct finder *f, struct str text)
{
	struct str before, body, mark, rest = text;

	while (cut_at(rest, "<function=", &before, &rest)) {
		cut_at(before, "<tool_call>", &before, &mark);
		found_text(f, before);
		bool closed = cut_at(rest, "</function>", &body, &rest);

		read_function(f, body, closed);
		if (str_starts(trimmed(rest), STR("</tool_call>"))) {
			cut_at(rest, "</tool_call>", &before, &rest);
		}
	}
	found_text(f, before);
}

const struct tool_format tool_format_qwen_coder = {
	.name = "qwen-coder",
	.help = "<function=NAME><parameter=K>..: Qwen3-Coder, MiMo, Step-3.5",
	.marks = {"<tool_call>", "<function="},
	.is_ours = is_function,
	.find = find,
};
