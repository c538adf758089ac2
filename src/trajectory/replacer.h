/* Known texts and their replacements: ids that differ from run to run. */
#ifndef ROLLDBG_TRAJECTORY_REPLACER_H
#define ROLLDBG_TRAJECTORY_REPLACER_H

#include "base/buf.h"

struct replacement {
	char *text;
	size_t n;
	const char *put; /* the replacement, which needs no escapes; borrowed */
	bool whole;      /* only if it is the whole string */
	bool plain;      /* JSON does not escape it, except as \u */
	uint64_t age;    /* sequence number of its addition */
};

/* Empty if zeroed; max 0 means unlimited. */
struct replacer {
	struct replacement *items; /* longest first */
	size_t count, max;         /* beyond max the oldest item is dropped */
	uint64_t added;
	bool first[256]; /* bytes that some item begins with */
};

void replacer_add(struct replacer *n, struct str text, const char *put,
                  bool whole); /* copies the text */
void replacer_release(struct replacer *n);

/* Is there none of them in this JSON? False also where that is not certain. */
bool replacer_is_free(const struct replacer *n, struct str json);
/* The same for JSON in canonical form, where escapes hide nothing. */
bool replacer_is_free_canonical(const struct replacer *n, struct str json);
/* Appends validated JSON with each replaced in strings, the longest first, however they are
   escaped there, also in keys; true when there was one. What has none is copied as it is. */
bool replacer_replace_json(const struct replacer *n, struct str json, struct buf *scratch,
                           struct buf *out);

#endif
