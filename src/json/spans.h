/* Where the containers of one value end, for going down into it level by level: otherwise each level
   looks at all bytes below it again, and a value may be five hundred levels deep. Private to this
   folder. */
#ifndef ROLLDBG_JSON_SPANS_H
#define ROLLDBG_JSON_SPANS_H

#include "json/scan.h"

struct json_span {
	uint32_t at,
		end;    /* offsets of the opening bracket, and of what is behind the closing one */
	uint32_t count; /* of elements or members */
};

struct json_spans {
	struct str value;
	struct json_span *items; /* by `at`; NULL: none are kept, everything is scanned */
	size_t count;
};

/* Borrows a validated value. A short one is not looked at. */
void json_spans_begin(struct json_spans *x, struct str value);
void json_spans_release(struct json_spans *x); /* zeroed is fine */

/* As json_next, json_next_member and json_count, for the value and everything in it. */
bool json_spans_next(const struct json_spans *x, struct str array, size_t *cursor,
                     struct str *element);
bool json_spans_next_member(const struct json_spans *x, struct str object, size_t *cursor,
                            struct json_member *member);
size_t json_spans_count(const struct json_spans *x, struct str container);

#endif
