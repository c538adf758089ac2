/* Checks of Origin and Host: see origin.h. */
#include "serve/host/origin.h"

/* "http://HOST[:PORT]" -> "HOST[:PORT]"; absent: no origin. */
static struct str authority_of(struct str origin)
{
	static const struct str schemes[] = {STR_INIT("http://"), STR_INIT("https://")};

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		struct str authority = str_skip(origin, schemes[i].n);

		if (str_starts(origin, schemes[i]) && authority.n &&
		    !memchr(authority.p, '/', authority.n)) {
			return authority;
		}
	}
	return STR_NONE;
}

/* "HOST:PORT" -> "HOST", "[::1]:PORT" -> "[::1]" */
static struct str without_port(struct str authority)
{
	size_t n = authority.n;

	while (n && authority.p[n - 1] >= '0' && authority.p[n - 1] <= '9')
		n--;
	return n && n < authority.n && authority.p[n - 1] == ':' ? (struct str){authority.p, n - 1}
	                                                         : authority;
}

/* A name or address of this host: "localhost", 127.0.0.1, ::1. */
static bool is_local(struct str host)
{
	static const struct str names[] = {STR_INIT("localhost"), STR_INIT("127.0.0.1"),
	                                   STR_INIT("[::1]")};
	bool local = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		local = local || str_eq_nocase(host, names[i]);
	return local;
}

/* DNS rebinding needs a name, so a literal address is safe. */
static bool is_address(struct str host)
{
	size_t digits = 0;

	if (host.n && host.p[0] == '[')
		return true;
	while (digits < host.n &&
	       (host.p[digits] == '.' || (host.p[digits] >= '0' && host.p[digits] <= '9'))) {
		digits++;
	}
	return digits && digits == host.n;
}

/* Compares with each entry, or only with its HOST[:PORT]. */
static bool is_allowed(const struct allowed_origins *allowed, struct str text, bool authority_only)
{
	for (size_t i = 0; i < allowed->count; i++) {
		struct str one = str_from(allowed->items[i]);

		if (str_is(one, "*") ||
		    str_eq_nocase(text, authority_only ? authority_of(one) : one))
			return true;
	}
	return false;
}

int allowed_origins_check(const struct allowed_origins *allowed, struct error *err)
{
	for (size_t i = 0; i < allowed->count; i++) {
		const char *one = allowed->items[i];

		if (strcmp(one, "*") != 0 && !authority_of(str_from(one)).p) {
			return error_set(
				err, FAIL_USAGE,
				"\1allow_origin\2: expected http://HOST[:PORT] or *, got '%s'",
				one);
		}
	}
	return 0;
}

struct origin_refusal origin_refuse(const struct allowed_origins *allowed, struct str origin,
                                    struct str host)
{
	struct str name = without_port(host);

	if (origin.p && !is_local(without_port(authority_of(origin))) &&
	    !is_allowed(allowed, origin, false)) {
		return (struct origin_refusal){403, "Invalid Origin header"};
	}
	if (host.p && !is_local(name) && !is_address(name) && !is_allowed(allowed, host, true))
		return (struct origin_refusal){421, "Invalid Host header"};
	return (struct origin_refusal){0, NULL};
}
