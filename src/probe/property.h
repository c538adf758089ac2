/* A judged property of a server or model: status, value, evidence and fix. */
#pragma once

#include "base/buf.h"

enum property_status {
	PROPERTY_OK,
	PROPERTY_FAIL,    /* training on this server will go wrong */
	PROPERTY_UNKNOWN, /* could not be judged; the evidence has the reason */
	PROPERTY_SKIPPED, /* does not apply to this server */
	PROPERTY_STATUSES,
};
const char *property_status_name(enum property_status s);

/* One judged property of the server. The texts may contain peers' bytes. */
struct property {
	const char *name;
	enum property_status status;
	struct buf value;    /* a few words */
	struct buf evidence; /* what was observed */
	struct buf fix;      /* what to do; empty: nothing */
};

/* A property with status unknown and empty texts. */
struct property property_begin(const char *name);
void property_end(struct property *p);

void property_judge(struct property *out, enum property_status status, const char *fmt, ...)
	PRINTF_LIKE(3, 4); /* status and value */
/* The same with texts as they are; evidence and fix may be NULL. Returns 0. */
int property_say(struct property *out, enum property_status status, const char *value,
                 const char *evidence, const char *fix);
void property_evidence(struct property *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
void property_fix(struct property *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
