/* References within one schema ("#/$defs/Way"): each container that they point into is indexed
   once, however many references there are. */
#ifndef ROLLDBG_JSON_REFERENCES_H
#define ROLLDBG_JSON_REFERENCES_H

#include "base/map.h"
#include "base/mem.h"
#include "json/scan.h"

/* indexed containers; references into further ones do not resolve */
#define REFERENCES_PARENTS_MAX 64

/* For one schema; allocated in the arena, nothing to release. */
struct references {
	struct str root;
	struct arena *arena;
	struct map parents;
};

/* Borrows root and arena. */
void references_begin(struct references *r, struct str root, struct arena *arena);

/* The value at a JSON Pointer, which may not lead into a string; absent if there is none. */
struct str references_point(struct references *r, struct str pointer);

#endif
