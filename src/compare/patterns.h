/* Finds user-supplied patterns that match nothing: one with a mistyped name would have no effect
   without any message. */
#pragma once

#include "base/buf.h"
#include "base/names.h"
#include "recording/rollout_copy.h"

struct used_pattern {
	const char *origin; /* for messages: the option, or "lake.jsonl.masks:3" */
	const char *text;
	bool matched;
};

/* Empty if zeroed. */
struct patterns {
	struct used_pattern *items;
	size_t count;
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

/* Appends the pattern that matches a pointer, and those that differ from it in array indexes. */
void pattern_generalize(struct buf *out, struct str pointer);
/* The length of a pointer without its last token, and without the slash before that. */
size_t pointer_parent(struct str pointer);
