/* Sorts members by key. Private to src/json/. */
#ifndef ROLLDBG_JSON_SORT_H
#define ROLLDBG_JSON_SORT_H

#include "base/base.h"

/* A written member: its text is out[at .. end). */
struct written_member {
	struct str key; /* decoded */
	size_t at, end;
};

/* Stable; n log n comparisons. */
void sort_members(struct written_member *members, size_t n);

#endif
