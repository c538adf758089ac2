/* The ends of all containers of one value, for descending into it level by level. Without them
   each level scans all bytes below it again, and a value may be five hundred levels deep.
   Private to src/json/. */
#ifndef ROLLDBG_JSON_SPANS_H
#define ROLLDBG_JSON_SPANS_H

#include "json/scan.h"

struct json_span {
	uint32_t at, end; /* offsets of the opening bracket and of the byte after the closing one */
	uint32_t count;   /* number of elements or members */
};

struct json_spans {
	struct str value;
	/* sorted by `at`; NULL: no spans are kept and values are scanned */
	struct json_span *items;
	size_t count;
};

/* Borrows a validated value. No spans are computed for a short one. */
void json_spans_begin(struct json_spans *x, struct str value);
void json_spans_release(struct json_spans *x); /* zeroed is fine */

/* Like json_next, json_next_member and json_count, for containers within the value. */
bool json_spans_next(const struct json_spans *x, struct str array, size_t *cursor,
                     struct str *element);
bool json_spans_next_member(const struct json_spans *x, struct str object, size_t *cursor,
                            struct json_member *member);
size_t json_spans_count(const struct json_spans *x, struct str container);

#endif
