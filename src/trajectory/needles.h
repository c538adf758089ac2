/* Known texts and what stands in their place: secrets that must not be written, ids that
   differ from run to run. */
#ifndef ROLLDBG_TRAJECTORY_NEEDLES_H
#define ROLLDBG_TRAJECTORY_NEEDLES_H

#include "base/buf.h"

struct needle {
	char *text;
	size_t n;
	const char *put; /* what stands there instead: plain characters, borrowed */
	bool whole;      /* only as a whole string, not inside one */
	uint64_t age;    /* number in the order of adding */
};

/* A zeroed one is empty and, with max 0, holds any number. */
struct needles {
	struct needle *items; /* longest first */
	size_t count, max;    /* over max the oldest goes */
	uint64_t added;
	bool first[256]; /* bytes that a needle begins with */
};

void needles_add(struct needles *n, struct str text, const char *put,
                 bool whole); /* copies */
void needles_release(struct needles *n);

/* Is one of them in the text (or the whole text)? */
bool needles_found(const struct needles *n, struct str text);
/* Appends the text with each replaced, the longest first; true when there was one. */
bool needles_replace(const struct needles *n, struct str text, struct buf *out);

/* Appends validated JSON with each replaced in strings, however they are escaped there,
   also in keys; with `numbers` a number that holds one becomes a string. What has none is
   copied as it is. */
bool needles_replace_json(const struct needles *n, struct str json, bool numbers,
                          struct buf *scratch, struct buf *out);

#endif
