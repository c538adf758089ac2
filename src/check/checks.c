/* The table of all rules, made from checks.def. */
#include "check/check.h"

#define CHECK(x) extern const struct check check_##x;
#include "check/checks.def"
#undef CHECK

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
		if (str_is(id, checks[i]->id))
			return checks[i];
	}
	return NULL;
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = {"info", "warning", "error"};
	return names[s];
}
