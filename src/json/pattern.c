/* Writes and matches JSON Pointers: see pattern.h. Patterns are matched token by token; on a
   mismatch the last "**" takes one more token, as with the star of a glob. */
#include "json/pattern.h"

#include "json/scan.h"

void json_pointer_add(struct buf *pointer, struct str token)
{
	buf_char(pointer, '/');
	if (!token.n || (!memchr(token.p, '~', token.n) && !memchr(token.p, '/', token.n))) {
		buf_str(pointer, token);
		return;
	}
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] == '~' || token.p[i] == '/') {
			buf_text(pointer, token.p[i] == '~' ? "~0" : "~1");
		} else {
			buf_char(pointer, token.p[i]);
		}
	}
}

void json_pointer_add_key(struct buf *pointer, struct str key)
{
	struct buf text = BUF(2 * key.n + 8);

	if (!json_has_escape(key)) {
		json_pointer_add(pointer, key);
		return;
	}
	json_decode_key(key, &text);
	json_pointer_add(pointer, buf_view(&text));
	buf_release(&text);
}

/* Removes and returns the first token of *rest, with its slash. */
static struct str cut_token(struct str *rest)
{
	size_t n = rest->n > 0;

	while (n < rest->n && rest->p[n] != '/') {
		n++;
	}
	struct str token = {rest->p, n};
	*rest = str_skip(*rest, n);
	return token;
}

static bool token_fits(struct str pattern, struct str token)
{
	size_t at = 0;

	if (str_eq(pattern, STR("/*"))) {
		return true;
	}
	for (size_t i = 0; i < pattern.n; i++, at++) {
		char c = pattern.p[i];

		if (c == '~' && i + 1 < pattern.n && pattern.p[i + 1] == '2') {
			c = '*';
			i++;
		}
		if (at == token.n || token.p[at] != c) {
			return false;
		}
	}
	return at == token.n;
}

bool json_pattern_fits(struct str pattern, struct str pointer)
{
	struct str after_deep = STR_NONE, taken = STR_NONE; /* since the last "**" */

	while (pattern.n || pointer.n) {
		struct str rest = pattern, left = pointer, want = cut_token(&rest);

		if (str_eq(want, STR("/**"))) {
			pattern = rest;
			after_deep = rest.n ? rest : STR("");
			taken = pointer;
			continue;
		}
		if (want.n && pointer.n && token_fits(want, cut_token(&left))) {
			pattern = rest;
			pointer = left;
			continue;
		}
		if (!after_deep.p || !taken.n) {
			return false;
		}
		cut_token(&taken);
		pattern = after_deep;
		pointer = taken;
	}
	return true;
}
