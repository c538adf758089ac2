/* Writes JSON Pointers: see pattern.h. (paths.c matches them.) */
#include "json/pattern.h"

#include "json/scan.h"

void json_pointer_add(struct buf *pointer, struct str token)
{
	size_t from = 0;

	buf_char(pointer, '/');
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] == '~' || token.p[i] == '/') {
			buf_add(pointer, token.p + from, i - from);
			buf_text(pointer, token.p[i] == '~' ? "~0" : "~1");
			from = i + 1;
		}
	}
	buf_str(pointer, str_skip(token, from));
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
