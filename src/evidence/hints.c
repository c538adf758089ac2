/* The user's declarations about tools and errors: see hints.h. */
#include "evidence/hints.h"

#include "base/text.h"
#include "json/scan.h"

static struct str only_argument(struct str arguments)
{
	struct json_member m;
	size_t cursor = 0;

	if (json_count(arguments) != 1 || !json_next_member(arguments, &cursor, &m))
		return STR_NONE;
	return json_type(m.value) == JSON_STRING ? json_inner(m.value) : m.value;
}

bool hints_idle(const struct hints *t, struct str name, struct str arguments)
{
	if (t->read_only && name.p && text_globs(t->read_only, name))
		return true;
	if (!t->noop)
		return false;
	struct str word = json_type(arguments) == JSON_OBJECT ? only_argument(arguments) : STR_NONE;
	return (name.p && text_globs(t->noop, name)) || (word.p && text_globs(t->noop, word));
}

bool hints_expect_error(const struct hints *t, int64_t turn, struct str message, bool *came)
{
	bool expected = false;
	int64_t number;

	for (size_t i = 0; i < t->error_count; i++) {
		struct str one = str_from(t->errors[i]);

		if (text_i64(one, &number) ? number == turn : text_glob(one, message))
			expected = came[i] = true;
	}
	return expected;
}
