/* FunctionGemma: <start_function_call>call:NAME{k:<escape>text<escape>,n:3}
   <end_function_call>; what stands between <escape> is text, the rest typed by the
   schema. */
#include "policy/toolformats/format.h"

static void read_arguments(struct finder *f, struct str name, struct str body)
{
	struct str key, value, ignored, rest = body;
	struct typed t;

	typed_begin(f, name, &t);
	while (cut_at(rest, ":", &key, &rest)) {
		bool text = str_starts(rest, STR("<escape>"));

		if (text) {
			cut_at(rest, "<escape>", &ignored, &rest);
			cut_at(rest, "<escape>", &value, &rest);
			cut_at(rest, ",", &ignored, &rest);
		} else {
			cut_at(rest, ",", &value, &rest);
		}
		typed_add(&t, trimmed(key), value, text);
	}
	found_add(f, (struct found_call){.name = name, .arguments = typed_end(f, &t)});
}

static void find(struct finder *f, struct str text)
{
	struct str before, call, name, body, rest = text;

	while (cut_at(rest, "<start_function_call>", &before, &rest)) {
		found_text(f, before);
		bool closed = cut_at(rest, "<end_function_call>", &call, &rest);

		cut_at(call, "call:", &before, &call);
		closed &= cut_at(call, "{", &name, &body) && body.n &&
		          body.p[body.n - 1] == '}';
		if (closed) {
			body.n--;
			read_arguments(f, trimmed(name), body);
		} else {
			found_add(f, (struct found_call){.how = FOUND_CUT,
			                                 .name = trimmed(name),
			                                 .arguments = call});
		}
	}
	found_text(f, before);
}

const struct tool_format tool_format_function_gemma = {
	.name = "function-gemma",
	.help = "<start_function_call>call:NAME{..}: FunctionGemma",
	.marks = {"<start_function_call>"},
	.find = find,
};
