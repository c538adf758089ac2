/* References within one schema ("#/$defs/Way"): the container that a reference points into is
   looked through once, however many references there are. */
#ifndef ROLLDBG_JSON_REFERENCES_H
#define ROLLDBG_JSON_REFERENCES_H

#include "base/map.h"
#include "base/mem.h"
#include "json/scan.h"

#define REFERENCES_PARENTS_MAX 64 /* containers; references into others do not resolve */

/* Of one schema; kept in the arena, nothing to release. */
struct references {
	struct str root;
	struct arena *arena;
	struct map parents;
};

/* Borrows both. */
void references_begin(struct references *r, struct str root, struct arena *arena);

/* The value at a JSON Pointer, but not inside a string; absent if there is none. */
struct str references_point(struct references *r, struct str pointer);

#endif
