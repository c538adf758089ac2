/* Which clients may send requests: programs, and web pages of this host. A page of another
   origin could otherwise use the server from the user's browser, directly (checked by Origin) or
   through a DNS name that resolves to our address (DNS rebinding, checked by Host). */
#pragma once

#include "base/base.h"
#include "base/error.h"

/* Additional allowed origins: "http://HOST[:PORT]", or "*" for all. Borrowed. */
struct allowed_origins {
	const char *const *items;
	size_t count;
};

/* FAIL_USAGE: an entry is invalid. */
MUST_USE int allowed_origins_check(const struct allowed_origins *allowed, struct error *err);

/* The HTTP response to a refused request; status 0: not refused. */
struct origin_refusal {
	unsigned status;
	const char *why;
};
/* Checks the headers; absent ones are fine. */
struct origin_refusal origin_refuse(const struct allowed_origins *allowed, struct str origin,
                                    struct str host);
