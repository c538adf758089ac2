/* Replaces texts in JSON, token by token: see replace_json.h. */
#include "recording/redact/replace_json.h"

#include "json/scan.h"
#include "json/write.h"

/* The position after the closing quote of the string that begins at json[at]. */
static size_t string_end(struct str json, size_t at)
{
	for (at++; at < json.n && json.p[at] != '"'; at++) {
		at += json.p[at] == '\\';
	}
	return at < json.n ? at + 1 : json.n;
}

static size_t number_end(struct str json, size_t at)
{
	while (at < json.n && strchr("+-.0123456789eE", json.p[at]) && json.p[at]) {
		at++;
	}
	return at;
}

/* A token to check, and the uncopied bytes before it. */
struct token {
	struct str before, text;
};

static bool replace_plain(const struct text_replacer *r, const struct token *t, struct buf *out)
{
	struct str inner = json_inner(t->text);

	if (!r->found(r->ctx, inner)) {
		return false;
	}
	buf_str(out, t->before);
	buf_char(out, '"');
	r->replace(r->ctx, inner, out);
	buf_char(out, '"');
	return true;
}

/* A lone surrogate has no decoded form, so the whole string is replaced. */
static bool replace_escaped(const struct text_replacer *r, const struct token *t,
                            struct buf *scratch, struct buf *out)
{
	buf_clear(scratch);
	bool exact = json_decode(t->text, scratch);
	const char *put = r->found(r->ctx, buf_view(scratch));
	if (!put) {
		return false;
	}
	struct buf replaced = BUF(scratch->max);
	if (exact) {
		r->replace(r->ctx, buf_view(scratch), &replaced);
	} else {
		buf_text(&replaced, put);
	}
	buf_str(out, t->before);
	json_quote(out, buf_view(&replaced));
	buf_release(&replaced);
	return true;
}

static bool replace_number(const struct text_replacer *r, const struct token *t, struct buf *out)
{
	const char *put = r->found(r->ctx, t->text);

	if (!put) {
		return false;
	}
	buf_str(out, t->before);
	json_quote(out, str_from(put));
	return true;
}

bool replace_json(const struct text_replacer *r, struct str json, struct buf *scratch,
                  struct buf *out)
{
	size_t from = 0;

	for (size_t at = 0; at < json.n;) {
		char c = json.p[at];
		bool string = c == '"';
		bool number = r->numbers && (c == '-' || (c >= '0' && c <= '9'));

		if (!string && !number) {
			at++;
			continue;
		}
		size_t end = string ? string_end(json, at) : number_end(json, at);
		struct token t = {{json.p + from, at - from}, {json.p + at, end - at}};
		if (number                    ? replace_number(r, &t, out)
		    : json_has_escape(t.text) ? replace_escaped(r, &t, scratch, out)
		                              : replace_plain(r, &t, out)) {
			from = end;
		}
		at = end;
	}
	buf_str(out, str_skip(json, from));
	return from > 0;
}
