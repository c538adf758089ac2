/* Harmony (gpt-oss) and similar formats: a reply is a sequence of messages, each a header,
   <|message|>, and a body. If the header contains to=NAME, the body is a call, in any channel;
   the recipient follows the channel or is in the role's header. The analysis channel is
   reasoning. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

static const char *const ends[MARKS_MAX] = {"<|call|>",  "<|end|>", "<|return|>",
                                            "<|start|>", "<|eom|>", "<|eot|>"};

/* The header before <|message|>: starts after the end of the previous message. */
static struct str header_of(struct finder *f, struct str *before)
{
	struct str header = *before, s = *before;
	size_t bytes, at;

	while ((at = nearest_mark(f, s, ends, &bytes)) < s.n) {
		s = str_skip(s, at + bytes);
		header = s;
	}
	/* without a mark before it, the header is the first line: to=NAME */
	size_t channel = mark_at(f, header, "<|channel|>"), to = mark_at(f, header, "to=");
	size_t begin = channel < to ? channel : to;
	if (s.p == before->p)
		header = str_skip(header, begin);
	before->n -= header.n;
	return header;
}

static struct str recipient(struct finder *f, struct str header)
{
	struct str before, name;

	if (!cut_at(f, header, "to=", &before, &name))
		return STR_NONE;
	return leading_name(name);
}

static bool is_channel(struct finder *f, struct str header, const char *channel)
{
	struct str before, name;

	return cut_at(f, header, "<|channel|>", &before, &name) &&
	       str_starts(text_trim(name), str_from(channel));
}

static size_t body_end(struct finder *f, struct str s, size_t *bytes)
{
	return nearest_mark(f, s, ends, bytes);
}

/* The end of reasoning: its end mark, or the header of the next message, if the mark is missing. */
static size_t reasoning_end(struct finder *f, struct str s)
{
	size_t bytes, end = body_end(f, s, &bytes), to;

	s.n = end;
	to = mark_at(f, s, "<|message|>");
	if (to == end)
		return end;
	s.n = to;
	to = mark_at(f, s, "<|channel|>");
	if (to < s.n)
		return to;
	while (to > 0 && s.p[to - 1] != ' ' && s.p[to - 1] != '\n')
		to--;
	return str_starts(str_skip(s, to), STR("to=")) ? to : end;
}

/* Arguments as parameters with marks, in the body of a call. ended: an end mark follows. */
static void read_parameter_list(struct finder *f, const struct tool_format *row, struct str name,
                                struct str body, bool ended)
{
	struct str source = body;
	struct typed t;
	size_t bytes, at;

	typed_begin(f, name, &t);
	while ((at = nearest_mark(f, body, row->parameter, &bytes)) < body.n) {
		if (text_trim((struct str){body.p, at}).n)
			t.why = "unexpected text between its parameters";
		body = str_skip(body, at + bytes);
		if (!read_parameter(f, row, &t, &body)) {
			buf_release(&t.object);
			found_cut(f, name, source);
			return;
		}
	}
	if (mark_cut(text_trim(body), row->parameter) || (!ended && !typed_required(&t))) {
		buf_release(&t.object);
		found_cut(f, name, source);
		return;
	}
	if (text_trim(body).n)
		t.why = "unexpected text between its parameters";
	typed_end(&t, name, source);
}

static void read_call(struct finder *f, const struct tool_format *row, struct str name,
                      struct str *rest)
{
	struct found_call call = {.name = name};
	struct str value, s = skip_whitespace(*rest);
	size_t used = 0, bytes, end = body_end(f, s, &bytes);

	if (mark_here(s, row->parameter) && !bytes && f->conf->limited) {
		found_cut(f, name, s); /* possibly incomplete */
		*rest = str_skip(s, s.n);
		return;
	}
	if (mark_here(s, row->parameter)) {
		read_parameter_list(f, row, name, (struct str){s.p, end}, bytes > 0);
		*rest = str_skip(s, end);
		return;
	}
	if (bytes && end == 0) {
		found_add(f, call); /* without arguments */
		*rest = s;
		return;
	}
	call.how = json_at(f, row, s, &value, &used);
	if (call.how == FOUND_WHOLE) {
		call.arguments = value;
		s = str_skip(s, used);
		end = body_end(f, s, &bytes);
	} else {
		call.arguments = text_trim((struct str){s.p, end});
		call.why = "its arguments are not valid JSON";
	}
	if (call.how == FOUND_WHOLE && text_trim((struct str){s.p, end}).n) {
		call.how = FOUND_BAD;
		call.why = "unexpected text after its arguments";
	}
	found_add(f, call);
	*rest = str_skip(s, end);
}

static bool is_json_or_parameters(const struct tool_format *row, struct str body)
{
	body = skip_whitespace(body);
	return !body.n || body.p[0] == '{' || mark_here(body, row->parameter);
}

void grammar_messages(struct finder *f, const struct tool_format *row, struct str *rest)
{
	struct str header = header_of(f, &f->before), name = recipient(f, header);
	size_t bytes, end = body_end(f, *rest, &bytes);

	buf_str(&f->rest, f->before);
	f->before = STR_NONE;
	if (str_starts(name, STR("functions."))) {
		read_call(f, row, str_skip(name, strlen("functions.")), rest);
	} else if (name.n && !str_is(name, "self") && !str_is(name, "user")) {
		if (is_json_or_parameters(row, *rest)) {
			read_call(f, row, name, rest);
		} /* else the body contains the call, with its own marks */
	} else if (is_channel(f, header, "analysis") || str_is(name, "self")) {
		end = reasoning_end(f, *rest);
		buf_text(f->reasoning, f->reasoning->n ? "\n\n" : "");
		buf_str(f->reasoning, text_trim((struct str){rest->p, end}));
		*rest = str_skip(*rest, end);
	} else {
		buf_str(&f->rest, (struct str){rest->p, end});
		*rest = str_skip(*rest, end);
	}
}
