/* Substring search: see find.h. */
#define _GNU_SOURCE /* memmem */
#include "base/find.h"

bool find_in(struct str text, struct str part)
{
	return text.n >= part.n && memmem(text.p, text.n, part.p, part.n) != NULL;
}

size_t find_at(struct str text, struct str part)
{
	const char *at = text.n < part.n ? NULL : memmem(text.p, text.n, part.p, part.n);

	return at ? (size_t)(at - text.p) : text.n;
}
