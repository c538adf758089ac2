/* Differences between two values, as JSON Pointers: for display and for comparing recordings. */
#pragma once

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

/* A value prepared for comparison: its canonical form, in which what `ignore` selects is masked, and
   all values within it. Zeroed is empty, and may be read again. */
struct json_form {
	struct buf text;
	struct json_node *nodes;
	size_t count;
};

void json_form_read(struct json_form *f, struct str value, const struct json_paths *ignore);
void json_form_release(struct json_form *f);
/* The same as json_diff() for a value that is compared twice. */
void json_diff_forms(const struct json_form *before, const struct json_form *after,
                     json_difference_fn *take, void *ctx);

/* Decides which arrays are compared without regard to order. If elements are matched by one of
   their members, *key is set to that member's name; for a set, whose elements are matched as a
   whole, to "". */
struct json_unordered {
	bool (*is)(void *ctx, struct str pointer, struct str *key);
	void *ctx; /* also passed to `take` */
};

/* The same, but an unordered array is read as an object: pointers into it use the text of the
   key member, or of the whole element, in place of an index. */
void json_diff_unordered(struct str before, struct str after, const struct json_unordered *how,
                         json_difference_fn *take);
