/* Members of an object, or strings of an array, found by name: for values that a peer made, which
   may have a hundred thousand of them. Few are scanned, many get a map; either way the names are
   compared decoded, and the last of equal ones counts, as with json_get. */
#ifndef ROLLDBG_JSON_INDEX_H
#define ROLLDBG_JSON_INDEX_H

#include "base/map.h"
#include "base/mem.h"
#include "json/scan.h"

struct json_index {
	struct str value; /* what is indexed; a value of another kind has no names */
	bool mapped;
	struct map names;
	struct arena arena;
};

/* Borrows the value. */
void json_index_begin(struct json_index *x, struct str value);
void json_index_release(struct json_index *x); /* zeroed is fine */

/* The member of that decoded name; or the array's string itself, or its object with that
   "name". Absent: none. */
struct str json_index_find(const struct json_index *x, struct str name);

#endif
