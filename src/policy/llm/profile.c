/* The table of provider profiles: see profile.h. */
#include "policy/llm/profile.h"

const struct profile profiles[] = {
#define PROFILE(...) {__VA_ARGS__},
#include "policy/llm/profiles.def"
#undef PROFILE
};
const size_t profiles_count = ARRAY_LEN(profiles);

const char *const profile_names[] = {
#define PROFILE(name, ...) name,
#include "policy/llm/profiles.def"
#undef PROFILE
	NULL,
};

const char profile_bars[] =
#define PROFILE(name, ...) "|" name
#include "policy/llm/profiles.def"
#undef PROFILE
	;

bool profile_accepts(const struct profile *p, const char *field)
{
	size_t n = strlen(field);

	for (const char *at = p->accepts; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, field, n) == 0 && (at[n] == ',' || at[n] == '\0')) {
			return true;
		}
	}
	return false;
}
