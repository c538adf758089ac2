/* The canonical form of the values of an object, made while it is validated. */
#ifndef ROLLDBG_JSON_CANON_OBJECT_H
#define ROLLDBG_JSON_CANON_OBJECT_H

#include "json/scan.h"

/* What is known about the keys of an object. */
struct json_canon_keys {
	const struct str *ordered; /* of objects whose members keep their order */
	size_t ordered_count;
	struct json_leads leads; /* as for json_validate_known; may be empty */
};

#define JSON_CANON_MEMBERS 40
#define JSON_CANON_PARTS   64

/* An object in canonical form, except that its members, and the members of some of its values, are
   in recorded order. */
struct json_canon_object {
	struct json_member members[JSON_CANON_MEMBERS];
	size_t count, used;
	/* the members of members[i], if its order was kept: parts[inner[i].first] .. */
	struct json_member parts[JSON_CANON_PARTS];
	struct json_inner {
		size_t first, count;
	} inner[JSON_CANON_MEMBERS];
};

/* Validates an object from a peer at the start of the text, like json_validate_known, and appends
   its canonical form to `out` in the same pass; those of its members that are objects and `ordered`
   keep their order. The values in *o are slices of `out`, the keys of `text`; o->used: its bytes.
   False, with nothing appended, if it is not valid, or not supported (a line feed between its
   tokens, deep nesting, very many members, keys with escapes): validate it then to learn why, and
   use json_canon. One pass instead of two takes a sixth of the CPU time off strip. */
bool json_canon_members(struct str text, const struct json_canon_keys *keys,
                        struct json_canon_object *o, struct buf *out);

#endif
