/* What a step changed in the state, as text: the most informative difference first. */
#pragma once

#include "base/mem.h"
#include "json/canon.h"
#include "recording/line.h"

#define CHANGES_KEPT 4

/* One difference in its shortest form; not escaped yet. */
struct change {
	struct str name; /* "agent/position": the pointer; empty: the whole state */
	/* absent `before`: the value was added; absent `after`: removed */
	struct str before, after;
	bool whole; /* the values are too long to show */
	int rank;   /* lower is more informative */
};

/* Zeroed is empty. */
struct changes {
	struct change top[CHANGES_KEPT]; /* most informative first */
	size_t kept, count;              /* `count` includes those not kept */
	struct arena arena;              /* owns the text of `top` */
};

/* Replaces c by the differences between two states, except at the ignored pointers (may be NULL).
   If a state is absent there are none. */
void changes_find(struct changes *c, struct str before, struct str after,
                  const struct json_paths *ignored);
void changes_release(struct changes *c);

/* The pointers that the header says to ignore in states; may be NULL. The caller frees it. */
struct json_paths *changes_ignored(const struct line *header);

/* Appends one line per difference, at most `most`. Escaped. */
void changes_list(struct buf *out, struct str before, struct str after,
                  const struct json_paths *ignored, size_t most);

/* Appends "position 4 -> 8, +3 more", or "changed" if nothing fits, in at most `columns`
   terminal cells. Escaped. Returns the cells used. */
size_t changes_add(struct buf *out, const struct changes *c, size_t columns);

/* The cells needed for the most informative change and the number of the others. */
size_t changes_want(const struct changes *c);
