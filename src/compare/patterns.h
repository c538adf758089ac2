/* Finds user-supplied patterns that match nothing: one with a mistyped name would have no effect
   without any message. */
#ifndef ROLLDBG_COMPARE_PATTERNS_H
#define ROLLDBG_COMPARE_PATTERNS_H

#include "base/buf.h"
#include "base/names.h"

struct used_pattern {
	const char *origin; /* for messages: the option, or "lake.jsonl.masks:3" */
	const char *text;
	bool met;
};

/* Empty if zeroed. */
struct patterns {
	struct used_pattern *items;
	size_t count, room;
	size_t missed;     /* number of patterns without a match so far */
	size_t lines;      /* number of lines examined so far */
	struct names near; /* pointers seen, with * for array indexes */
	struct arena arena;
};

/* Copies both strings. */
void patterns_add(struct patterns *p, const char *origin, const char *text);
/* Examines one line of a recording, raw JSON. Costs nothing once all patterns have matched. */
void patterns_see(struct patterns *p, struct str line);
/* Appends a similar pattern that would have matched; false if there is none. */
bool patterns_suggest(const struct patterns *p, const struct used_pattern *missed, struct buf *out);
void patterns_release(struct patterns *p); /* ready for reuse */

#endif
