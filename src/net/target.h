/* Where a request goes: a URL taken apart once. Inside net/ only. */
#ifndef ROLLDBG_NET_TARGET_H
#define ROLLDBG_NET_TARGET_H

#include "base/buf.h"
#include "base/error.h"

struct target {
	struct buf url;    /* as given */
	struct buf scheme; /* lower case */
	struct buf place;  /* "host:port", for sentences and for telling origins apart */
	struct buf path;   /* without query, which may hold secrets */
	bool loopback;
};

void target_init(struct target *t);
void target_release(struct target *t);

/* -1: FAIL_USAGE, and t is as it was. Nothing to do when t holds that URL already. */
MUST_USE int target_set(struct target *t, const char *url, struct error *err);

/* Goes where a Location header says, when that is on the same origin: scheme, host and
 * port. */
bool target_redirect(struct target *t, struct str location);

#endif
