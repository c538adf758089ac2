/* Pythonic calls: [f(a=1, b='x'), g()], bare or between marks (Llama 4, Olmo 3, LFM 2).
   Values are Python literals. */
#include "policy/toolformats/format.h"

#include "json/write.h"

/* Length up to the first of `stops` outside quotes and brackets; s.n: there is none.
 *cut: it ends inside of quotes or brackets. */
static size_t literal_length(struct str s, const char *stops, bool *cut)
{
	int depth = 0;
	char quote = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (quote) {
			i += c == '\\';
			quote = c == quote ? 0 : quote;
		} else if (depth == 0 && c && strchr(stops, c)) {
			*cut = false;
			return i;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else {
			depth += (c == '(' || c == '[' || c == '{') -
			         (c == ')' || c == ']' || c == '}');
		}
	}
	*cut = quote || depth > 0;
	return s.n;
}

/* A Python literal is JSON after mending, --no-repair or not: this is the format. */
static bool put_literal(struct buf *out, struct str literal)
{
	struct call_notes ignored = {.count = 0};
	struct buf value = BUF(CHAT_REPLY_MAX);
	size_t used;
	bool good = json_mend(literal, &value, &used, &ignored) &&
	            !trimmed(str_skip(literal, used)).n;

	buf_str(out, buf_view(&value));
	buf_release(&value);
	return good;
}

/* a=1, b='x' as {"a":1,"b":"x"} */
static bool put_keywords(struct buf *out, struct str keywords)
{
	struct str rest = trimmed(keywords), key;
	bool good = true, cut = false;

	buf_char(out, '{');
	while (rest.n && good) {
		good = cut_at(rest, "=", &key, &rest);
		size_t n = literal_length(rest, ",", &cut);

		buf_text(out, out->n > 1 ? "," : "");
		json_quote(out, trimmed(key));
		buf_char(out, ':');
		good = good && put_literal(out, trimmed((struct str){rest.p, n}));
		rest = trimmed(str_skip(rest, n + 1));
	}
	buf_char(out, '}');
	return good && !cut;
}

static void read_keywords(struct finder *f, struct str name, struct str keywords)
{
	struct buf object = BUF(CHAT_REPLY_MAX);

	if (put_keywords(&object, keywords)) {
		found_add(f, (struct found_call){.name = name,
		                                 .arguments = arena_str(
							 f->arena, buf_view(&object))});
	} else {
		found_bad(f, name, keywords, "its arguments are no Python keywords");
	}
	buf_release(&object);
}

/* f(..), g(..): false when it is something else. */
static bool read_calls(struct finder *f, struct str text)
{
	struct str rest = trimmed(text), name;
	bool cut = false;

	while (rest.n) {
		name = leading_name(rest);
		struct str behind = str_skip(rest, name.n);

		if (!name.n || !behind.n || behind.p[0] != '(') {
			return false;
		}
		behind = str_skip(behind, 1);
		size_t n = literal_length(behind, ")", &cut);
		if (n == behind.n) {
			found_add(f, (struct found_call){.how = FOUND_CUT,
			                                 .name = name,
			                                 .arguments = rest});
			return true;
		}
		read_keywords(f, name, (struct str){behind.p, n});
		rest = trimmed(str_skip(behind, n + 1));
		if (rest.n && rest.p[0] == ',') {
			rest = trimmed(str_skip(rest, 1));
		}
	}
	return true;
}

static struct str unbracketed(struct str s)
{
	s = trimmed(s);
	if (s.n && s.p[0] == '[') {
		s = str_skip(s, 1);
		s.n -= s.n && s.p[s.n - 1] == ']';
	}
	return s;
}

static void find_marked(struct finder *f, struct str text)
{
	static const char *const marks[][2] = {
		{"<|python_start|>", "<|python_end|>"},
		{"<function_calls>", "</function_calls>"},
		{"<|tool_call_start|>", "<|tool_call_end|>"},
	};
	struct str before, calls, after;

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		if (!cut_at(text, marks[i][0], &before, &calls)) {
			continue;
		}
		cut_at(calls, marks[i][1], &calls, &after);
		found_text(f, before);
		if (!read_calls(f, unbracketed(calls))) {
			found_bad(f, (struct str){NULL, 0}, calls, "it is no call");
		}
		found_text(f, after);
		return;
	}
}

/* A whole reply of calls in brackets; anything else is prose. */
static void find_whole(struct finder *f, struct str text)
{
	struct str all = trimmed(text);
	size_t before = f->count;

	if (all.n > 2 && all.p[0] == '[' && leading_name(trimmed(str_skip(all, 1))).n &&
	    !read_calls(f, unbracketed(all))) {
		f->count = before;
	}
}

const struct tool_format tool_format_pythonic_marked = {
	.name = "pythonic",
	.help = "f(a=1) between marks: Llama 4, Olmo 3, LFM 2",
	.marks = {"<|python_start|>", "<function_calls>", "<|tool_call_start|>"},
	.find = find_marked,
};

const struct tool_format tool_format_pythonic = {
	.name = "pythonic",
	.help = "[f(a=1), g()] as the whole reply: Llama 3.2 and 4, ToolACE",
	.find = find_whole,
};
