/* Lists of rules: see rule_list.h. */
#include "check/rule_list.h"

#include "base/names.h"

static int unknown_rule(struct str name, struct error *err)
{
	const char *names[CHECKS_MAX];

	for (size_t i = 0; i < checks_count; i++) {
		names[i] = checks[i]->id;
	}
	error_set(err, FAIL_USAGE, "unknown rule \"%.*s\"", STR_ARG(name));
	return names_suggest(err, name, names, checks_count);
}

int rule_list_read(const char *list, bool named[CHECKS_MAX], struct error *err)
{
	struct str rest = str_from(list);

	for (;;) {
		const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
		struct str name = {rest.p, comma ? (size_t)(comma - rest.p) : rest.n};
		size_t i = 0;

		while (i < checks_count && !str_is(name, checks[i]->id)) {
			i++;
		}
		if (i == checks_count) {
			return unknown_rule(name, err);
		}
		named[i] = true;
		if (!comma) {
			return 0;
		}
		rest = str_skip(rest, name.n + 1);
	}
}
