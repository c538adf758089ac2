/* Which of the patterns that users write meets anything at all: one with a mistyped name hides
   nothing, in silence. */
#ifndef ROLLDBG_COMPARE_PATTERNS_H
#define ROLLDBG_COMPARE_PATTERNS_H

#include "base/buf.h"
#include "base/names.h"

struct used_pattern {
	const char *origin; /* for messages: the option, or "lake.jsonl.masks:3" */
	const char *text;
	bool met;
};

/* Zeroed is empty. */
struct patterns {
	struct used_pattern *items;
	size_t count, room;
	size_t missed;     /* have met nothing so far */
	size_t lines;      /* that were seen meanwhile */
	struct names near; /* pointers that there are, with * for an array's indexes */
	struct arena arena;
};

/* Copies both. */
void patterns_add(struct patterns *p, const char *origin, const char *text);
/* One line of a recording, raw JSON. Costs nothing once all have met something. */
void patterns_see(struct patterns *p, struct str line);
/* Appends a pattern that is like this one and would have met something; false: none is near. */
bool patterns_suggest(const struct patterns *p, const struct used_pattern *missed, struct buf *out);
void patterns_release(struct patterns *p); /* empty again */

#endif
