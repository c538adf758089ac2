/* DeepSeek V3 and R1: a call is "function", a separator, the name and a fenced JSON
   object; V3.1: the name, a separator and the object. The bars are U+FF5C, the blanks
   U+2581. */
#include "policy/toolformats/format.h"

#define BAR   "\xef\xbd\x9c"
#define BLANK "\xe2\x96\x81"
#define BEGIN "<" BAR "tool" BLANK "calls" BLANK "begin" BAR ">"
#define END   "<" BAR "tool" BLANK "calls" BLANK "end" BAR ">"
#define CALL  "<" BAR "tool" BLANK "call" BLANK "begin" BAR ">"
#define STOP  "<" BAR "tool" BLANK "call" BLANK "end" BAR ">"
#define SEP   "<" BAR "tool" BLANK "sep" BAR ">"

static void read_one(struct finder *f, struct str call, bool closed)
{
	struct str head, tail, name, ignored;

	if (!cut_at(call, SEP, &head, &tail)) {
		found_add(f, (struct found_call){.how = FOUND_CUT, .arguments = call});
		return;
	}
	name = trimmed(head);
	if (str_is(name, "function")) {
		cut_at(tail, "\n", &name, &tail);
		name = trimmed(name);
	}
	if (cut_at(tail, "```json", &ignored, &head)) {
		closed = cut_at(head, "```", &tail, &ignored);
	}
	found_named(f, (struct str){NULL, 0}, name, trimmed(tail), closed);
}

static void find(struct finder *f, struct str text)
{
	struct str call, rest = text, calls, after;

	cut_at(text, BEGIN, &call, &rest);
	found_text(f, call);
	cut_at(rest, END, &calls, &after);
	while (cut_at(calls, CALL, &call, &calls)) {
		bool closed = cut_at(calls, STOP, &call, &calls);

		read_one(f, call, closed);
	}
	found_text(f, after);
}

const struct tool_format tool_format_deepseek = {
	.name = "deepseek",
	.help = "DeepSeek V3, R1 and V3.1",
	.marks = {BEGIN},
	.find = find,
};
