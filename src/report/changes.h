/* What a step changed in the state, for people: the most informative difference first. */
#ifndef ROLLDBG_REPORT_CHANGES_H
#define ROLLDBG_REPORT_CHANGES_H

#include "base/mem.h"
#include "json/canon.h"
#include "trajectory/line.h"

#define CHANGES_KEPT 4

/* One difference in its shortest form; not escaped yet. */
struct change {
	struct str name;          /* "agent/position": the pointer; empty: the whole state */
	struct str before, after; /* absent: the value was added, or removed */
	bool whole;               /* the values are too long to be shown */
	int rank;                 /* lower is more informative */
};

/* Empty if zeroed. */
struct changes {
	struct change top[CHANGES_KEPT]; /* most informative first */
	size_t kept, count;              /* `count` includes those not kept */
	struct arena arena;              /* owns their text */
};

/* Replaces c by the differences between two states, without the ignored pointers (may be NULL).
   An absent state has no differences. */
void changes_find(struct changes *c, struct str before, struct str after,
                  const struct json_paths *ignored);
void changes_release(struct changes *c);

/* The pointers ignored in states according to the header; may be NULL. Free it. */
struct json_paths *changes_ignored(const struct line *header);

/* Appends a line for each difference, at most `most` of them. Escaped. */
void changes_list(struct buf *out, struct str before, struct str after,
                  const struct json_paths *ignored, size_t most);

/* Appends "position 4 -> 8, +3 more", or "changed" if nothing fits, in at most `columns`
   terminal cells. Escaped. Returns the cells used. */
size_t changes_add(struct buf *out, const struct changes *c, size_t columns);

/* The cells needed to show the most informative change and the number of others. */
size_t changes_want(const struct changes *c);

#endif
