/* Members in the order of their keys. Private to src/json/. */
#ifndef ROLLDBG_JSON_SORT_H
#define ROLLDBG_JSON_SORT_H

#include "base/base.h"

/* A member that was written: its text is out[at .. end). */
struct written_member {
	struct str key; /* decoded */
	size_t at, end;
};

/* Orders bytes as unsigned numbers, a prefix first. */
int sort_compare(struct str a, struct str b);

/* Stable; n log n comparisons. */
void sort_members(struct written_member *members, size_t n);

#endif
