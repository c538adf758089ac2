/* The table of all rules, made from checks.def. */
#include "check/check.h"

#include "base/buf.h"

const struct check *const checks[] = {
#define CHECK(x) &check_##x,
#include "check/checks.def"
#undef CHECK
};
const size_t checks_count = ARRAY_LEN(checks);
_Static_assert(ARRAY_LEN(checks) <= CHECKS_MAX, "CHECKS_MAX is too small");

const struct check *check_find(struct str id)
{
	for (size_t i = 0; i < checks_count; i++) {
		if (str_is(id, checks[i]->id)) {
			return checks[i];
		}
	}
	return NULL;
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = {"info", "warning", "error"};

	return names[s];
}

void check_describe_severity(const struct check *c, struct buf *out)
{
	buf_text(out, severity_name(c->severity));
	if (c->raised) {
		buf_printf(out, "; %s when %s", severity_name(c->severity + 1), c->raised);
	}
	if (c->lowered) {
		buf_printf(out, "; %s when %s", severity_name(c->severity - 1), c->lowered);
	}
}
