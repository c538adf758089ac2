/* Iterates two values at once, without recursion: see member_walk.h. */
#include "facts/member_walk.h"

#include "json/scan.h"

bool member_walk_comparable(struct str before, struct str after)
{
	enum json_type type = json_type(before);
	size_t n;

	if ((type != JSON_OBJECT && type != JSON_ARRAY) || type != json_type(after)) {
		return false;
	}
	n = json_count(before);
	return n == json_count(after) && (type == JSON_OBJECT || n <= MEMBER_WALK_ELEMENTS);
}

void member_walk_descend(struct member_walk *w, struct str before, struct str after)
{
	w->levels[w->depth++] =
		(struct walk_level){.before = before, .after = after, .pointer_n = w->pointer.n};
}

void member_walk_put_token(struct buf *pointer, struct str key)
{
	buf_char(pointer, '/');
	if (!memchr(key.p, '~', key.n) && !memchr(key.p, '/', key.n)) {
		buf_str(pointer, key);
		return;
	}
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] == '~' || key.p[i] == '/') {
			buf_text(pointer, key.p[i] == '~' ? "~0" : "~1");
		} else {
			buf_char(pointer, key.p[i]);
		}
	}
}

/* Writers keep the order of keys, so the other side's member is only searched for if it is not the
   next one. */
bool member_walk_next(struct member_walk *w, struct str *before, struct str *after)
{
	struct walk_level *l = &w->levels[w->depth - 1];
	struct json_member a, b;

	buf_cut(&w->pointer, l->pointer_n);
	if (json_type(l->after) == JSON_ARRAY) {
		buf_char(&w->pointer, '/');
		buf_char(&w->pointer, (char)('0' + l->index++)); /* below MEMBER_WALK_ELEMENTS */
		return json_next(l->before, &l->before_at, before) &&
		       json_next(l->after, &l->after_at, after);
	}
	if (!json_next_member(l->after, &l->after_at, &a)) {
		return false;
	}
	bool next = json_next_member(l->before, &l->before_at, &b) && str_eq(a.key, b.key);
	*before = next ? b.value : json_get(l->before, a.key);
	*after = a.value;
	member_walk_put_token(&w->pointer, a.key);
	return true;
}
