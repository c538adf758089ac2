/* Looks up members of an object, or strings of an array, by name: for values from peers, which
   may have a hundred thousand of them. Short values are scanned, others get a map; either way
   names are compared decoded, and the last of equal names wins, as in json_get. */
#pragma once

#include "base/map.h"
#include "base/mem.h"
#include "json/scan.h"

struct json_index {
	struct str value; /* the indexed value; other types than object and array have no names */
	bool mapped;
	struct map names; /* in the arena */
	struct arena *arena;
};

/* Borrows the value. */
void json_index_begin(struct json_index *x, struct str value, struct arena *arena);

/* The member with that decoded name; in an array the equal string, or the object with that
   "name". Absent if there is none. */
struct str json_index_find(const struct json_index *x, struct str name);
