/* Verification of hashes: see verify.h. */
#include "check/verify.h"

static int add_ignored(struct json_paths *paths, struct str list, struct workspace *w,
                       struct error *err)
{
	struct str one;

	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		buf_clear(&w->text);
		json_decode(one, &w->text);
		if (json_paths_add(paths, buf_view(&w->text), err))
			return error_wrap(err, "state_source.ignore");
	}
	return 0;
}

int verify_ignored(const struct line *header, struct workspace *w, struct json_paths **out,
                   struct error *err)
{
	struct str list = JSON_GET(header->value[KEY_STATE_SOURCE], "ignore");

	*out = NULL;
	if (json_type(list) != JSON_ARRAY || json_count(list) == 0)
		return 0;
	*out = json_paths_new(false);
	if (add_ignored(*out, list, w, err)) {
		json_paths_free(*out);
		*out = NULL;
		return -1;
	}
	return 0;
}

int verify_state(const struct line *l, const struct json_paths *ignored, struct workspace *w,
                 struct error *err)
{
	struct str state = l->value[KEY_STATE], hash = line_state_hash(l);
	char now[HASH_HEX + 1];

	if (json_is_null(state) || hash.n == 0)
		return 0;
	json_hash(w->hasher, state, ignored, &w->canon, now);
	if (str_is(hash, now))
		return 0;
	return error_set(err, FAIL_INPUT,
	                 "state_hash is %.*s, but the state's hash is %s: one of them was "
	                 "changed after recording",
	                 (int)(hash.n < HASH_HEX ? hash.n : HASH_HEX), hash.p, now);
}
