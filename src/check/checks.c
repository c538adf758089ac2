/* The table of all rules, made from checks.def. */
#include "check/check.h"

#include "base/buf.h"
#include "base/names.h"

const struct check *const checks[] = {
#define CHECK(x) &check_##x,
#include "check/checks.def"
#undef CHECK
};
const size_t checks_count = ARRAY_LEN(checks);
_Static_assert(ARRAY_LEN(checks) <= CHECKS_MAX, "CHECKS_MAX is too small");

const struct check *check_find(struct str id)
{
	for (size_t i = 0; i < checks_count; i++)
		if (str_is(id, checks[i]->id))
			return checks[i];
	return NULL;
}

int check_unknown(struct str id, struct error *err)
{
	const char *names[CHECKS_MAX];

	for (size_t i = 0; i < checks_count; i++)
		names[i] = checks[i]->id;
	error_set(err, FAIL_USAGE, "unknown rule '%.*s'", STR_ARG(id));
	return names_suggest(err, id, names, checks_count);
}

int checks_read_list(const char *list, bool named[CHECKS_MAX], struct error *err)
{
	struct str rest = str_from(list);

	for (;;) {
		const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
		struct str name = {rest.p, comma ? (size_t)(comma - rest.p) : rest.n};
		size_t i = 0;

		while (i < checks_count && !str_is(name, checks[i]->id))
			i++;
		if (i == checks_count)
			return check_unknown(name, err);
		named[i] = true;
		if (!comma)
			return 0;
		rest = str_skip(rest, name.n + 1);
	}
}

int checks_choose(const char *only, const char *without, bool chosen[CHECKS_MAX], struct error *err)
{
	bool left_out[CHECKS_MAX] = {false}, any = false;

	memset(chosen, !only, CHECKS_MAX * sizeof(*chosen));
	if (only && checks_read_list(only, chosen, err))
		return error_wrap(err, "\1only\2");
	if (without && checks_read_list(without, left_out, err))
		return error_wrap(err, "\1without\2");
	for (size_t i = 0; i < checks_count; i++) {
		chosen[i] = chosen[i] && !left_out[i];
		any = any || chosen[i];
	}
	return any ? 0
	           : error_set(err, FAIL_USAGE, "\1only\2 and \1without\2 leave no rule to apply");
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = {"info", "warning", "error"};

	return names[s];
}

void check_describe_severity(const struct check *c, struct buf *out)
{
	buf_text(out, severity_name(c->severity));
	if (c->raised)
		buf_printf(out, "; %s when %s", severity_name(c->severity + 1), c->raised);
	if (c->lowered)
		buf_printf(out, "; %s when %s", severity_name(c->severity - 1), c->lowered);
}
