/* Who may ask a server of ours: programs, and pages of this host. A page of another origin could otherwise drive it from
   the user's browser, directly (Origin) or through a name that resolves to our address (Host: DNS rebinding). */
#ifndef ROLLDBG_SERVE_HOST_STRANGERS_H
#define ROLLDBG_SERVE_HOST_STRANGERS_H

#include "base/base.h"
#include "base/error.h"

/* Let in beside those: "http://HOST[:PORT]", or "*" for everybody. Borrowed. */
struct allowed_origins {
	const char *const *items;
	size_t count;
};

/* FAIL_USAGE: one is no origin. */
MUST_USE int allowed_origins_check(const struct allowed_origins *allowed, struct error *err);

/* What a request is refused with; status 0: it is not. */
struct refused {
	unsigned status;
	const char *why;
};
/* By its headers Origin and Host, absent ones too. */
struct refused strangers_refuse(const struct allowed_origins *allowed, struct str origin,
                                struct str host);

/* Was the origin let in by name or by a star? Pages of this host are let in, but not by that. */
bool strangers_named(const struct allowed_origins *allowed, struct str origin);

#endif
