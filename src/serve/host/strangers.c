/* Origin and Host of a request: see strangers.h. */
#include "serve/host/strangers.h"

#include <strings.h>

static bool same(struct str a, struct str b)
{
	return a.n == b.n && (!a.n || strncasecmp(a.p, b.p, a.n) == 0);
}

/* "http://HOST[:PORT]" -> "HOST[:PORT]"; absent: no origin. */
static struct str place_of(struct str origin)
{
	static const struct str schemes[] = {STR_INIT("http://"), STR_INIT("https://")};

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		struct str place = str_skip(origin, schemes[i].n);

		if (str_starts(origin, schemes[i]) && place.n && !memchr(place.p, '/', place.n)) {
			return place;
		}
	}
	return STR_NONE;
}

/* "HOST:PORT" -> "HOST", "[::1]:PORT" -> "[::1]" */
static struct str without_port(struct str place)
{
	size_t n = place.n;

	while (n && place.p[n - 1] >= '0' && place.p[n - 1] <= '9') {
		n--;
	}
	return n && n < place.n && place.p[n - 1] == ':' ? (struct str){place.p, n - 1} : place;
}

/* Of this host, by any of its addresses: "localhost", 127.0.0.1, ::1. */
static bool is_local(struct str host)
{
	static const struct str names[] = {STR_INIT("localhost"), STR_INIT("127.0.0.1"),
	                                   STR_INIT("[::1]")};
	bool local = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		local = local || same(host, names[i]);
	}
	return local;
}

/* An address is no name that somebody else could let resolve to ours. */
static bool is_address(struct str host)
{
	size_t digits = 0;

	if (host.n && host.p[0] == '[') {
		return true;
	}
	while (digits < host.n &&
	       (host.p[digits] == '.' || (host.p[digits] >= '0' && host.p[digits] <= '9'))) {
		digits++;
	}
	return digits && digits == host.n;
}

/* Is it in the list, as a whole origin, or by its place alone? */
static bool is_allowed(const struct allowed_origins *allowed, struct str text, bool place_alone)
{
	for (size_t i = 0; i < allowed->count; i++) {
		struct str one = str_from(allowed->items[i]);

		if (str_is(one, "*") || same(text, place_alone ? place_of(one) : one)) {
			return true;
		}
	}
	return false;
}

int allowed_origins_check(const struct allowed_origins *allowed, struct error *err)
{
	for (size_t i = 0; i < allowed->count; i++) {
		const char *one = allowed->items[i];

		if (strcmp(one, "*") != 0 && !place_of(str_from(one)).p) {
			return error_set(
				err, FAIL_USAGE,
				"\1allow_origin\2: expected http://HOST[:PORT] or *, got '%s'",
				one);
		}
	}
	return 0;
}

struct refused strangers_refuse(const struct allowed_origins *allowed, struct str origin,
                                struct str host)
{
	struct str name = without_port(host);

	if (origin.p && !is_local(without_port(place_of(origin))) &&
	    !is_allowed(allowed, origin, false)) {
		return (struct refused){403, "Invalid Origin header"};
	}
	if (host.p && !is_local(name) && !is_address(name) && !is_allowed(allowed, host, true)) {
		return (struct refused){421, "Invalid Host header"};
	}
	return (struct refused){0, NULL};
}

bool strangers_named(const struct allowed_origins *allowed, struct str origin)
{
	return origin.n > 0 && is_allowed(allowed, origin, false);
}
