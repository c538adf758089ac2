/* The table of provider profiles: see profile.h. */
#include "policy/llm/profile.h"

const struct profile profiles[] = {
#define PROFILE(...) {__VA_ARGS__},
#include "policy/llm/profiles.def"
#undef PROFILE
};
const size_t profiles_count = ARRAY_LEN(profiles);

const struct profile *profile_find(const char *name)
{
	for (size_t i = 0; i < profiles_count; i++) {
		if (strcmp(profiles[i].name, name) == 0) {
			return &profiles[i];
		}
	}
	return NULL;
}

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
