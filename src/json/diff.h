/* Where two values differ, as JSON Pointers: for people and for comparisons of recordings. */
#ifndef ROLLDBG_JSON_DIFF_H
#define ROLLDBG_JSON_DIFF_H

#include "json/canon.h"

struct json_difference {
	struct str pointer; /* RFC 6901 */
	/* in canonical form; absent if the value was added or removed */
	struct str before, after;
};

/* Called with one difference, valid during the call; return false to stop. */
typedef bool json_difference_fn(void *ctx, const struct json_difference *d);

/* Calls back for each value that differs, in the order of the canonical form. Descends into
   objects and arrays if both sides have one, and into strings that hold one. In arrays of
   different lengths equal elements at the beginning and the end are skipped; the pointer of an
   added element refers to `after`. Values selected by `ignore` (may be NULL) count as equal.
   Both values must be validated; an absent one differs from all others. */
void json_diff(struct str before, struct str after, const struct json_paths *ignore,
               json_difference_fn *take, void *ctx);

/* Which arrays are compared without their order. Of one whose elements are matched by one of their
   members it sets *key to that member's name, of a set, whose elements are matched whole, to "". */
struct json_unordered {
	bool (*is)(void *ctx, struct str pointer, struct str *key);
	void *ctx; /* also of take */
};

/* The same, where such an array is read as an object: what stands below it is named by the text
   of that member, or of the element. */
void json_diff_unordered(struct str before, struct str after, const struct json_unordered *how,
                         json_difference_fn *take);

#endif
