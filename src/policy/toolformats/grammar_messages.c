/* Harmony (gpt-oss) and similar formats: a reply is a sequence of messages, each a header,
   <|message|>, and a body. If the header contains to=NAME, the body is a call, in any channel;
   the recipient follows the channel or is in the role's header. The analysis channel is
   reasoning. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

/* The header before <|message|>: starts after the end of the previous message. */
static struct str header_of(struct finder *f, const struct tool_format *row, struct str *before)
{
	struct str header = *before, s = *before;
	size_t bytes, at, text = nearest_mark(f, s, row->close, &bytes);

	while ((at = nearest_mark(f, s, row->close, &bytes)) < s.n) {
		s = str_skip(s, at + bytes);
		header = s;
	}
	/* without a mark before it, the header is the first line: to=NAME */
	size_t channel = mark_at(f, header, "<|channel|>"), to = mark_at(f, header, "to=");
	size_t begin = channel < to ? channel : to;
	if (s.p == before->p)
		header = str_skip(header, begin);
	before->n = s.p == before->p ? before->n - header.n : text;
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

static void read_call(struct finder *f, const struct tool_format *row, struct str name,
                      struct str *rest)
{
	struct found_call call = {.name = name};
	struct str s = skip_whitespace(*rest);
	size_t bytes, end = nearest_mark(f, s, row->close, &bytes);

	if (mark_here(s, row->parameter)) {
		read_parameters(f, row, name, s, &s);
		*rest = s;
		return;
	}
	if (bytes && end == 0) {
		found_add(f, call); /* without arguments */
		*rest = s;
		return;
	}
	s = str_skip(s, json_arguments(f, row, s, &call));
	end = nearest_mark(f, s, row->close, &bytes);
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
	struct str header = header_of(f, row, &f->before), name = recipient(f, header);
	size_t bytes, end = nearest_mark(f, *rest, row->close, &bytes);

	buf_str(&f->rest, f->before);
	f->before = STR_NONE;
	if (str_starts(name, STR("functions."))) {
		read_call(f, row, str_skip(name, strlen("functions.")), rest);
	} else if (name.n && !str_is(name, "self") && !str_is(name, "user")) {
		if (is_json_or_parameters(row, *rest)) {
			read_call(f, row, name, rest);
		} /* else the body contains the call, with its own marks */
	} else if (is_channel(f, header, "analysis") || str_is(name, "self")) {
		buf_text(f->reasoning, f->reasoning->n ? "\n\n" : "");
		buf_str(f->reasoning, text_trim((struct str){rest->p, end}));
		*rest = str_skip(*rest, end);
	} else {
		buf_str(&f->rest, (struct str){rest->p, end});
		*rest = str_skip(*rest, end);
	}
	if (!str_starts(*rest, STR("<|start|>"))) /* which begins the next header */
		*rest = str_skip(*rest, mark_here(*rest, row->close));
}
