/* The part of JSON Schema that tools use, for one value: type, enum, const, minimum, maximum,
   local $ref, and anyOf and oneOf of those. Other keywords and the content of containers are
   left to the server. */
#pragma once

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "json/scan.h"

/* References within one schema ("#/$defs/Way"): each container that they point into is indexed
   once, however many references there are. */

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

/* Follows local references ("#/$defs/Way") in root; the schema itself if it is not a reference;
   absent if a reference does not resolve. */
struct str schema_resolve(struct str root, struct str schema);

/* The same for repeated look-ups in one root, which are cached in r. */
struct str schema_resolve_in(struct references *r, struct str schema);

/* The alternatives of a resolved schema (anyOf or oneOf); absent if it has none. */
struct str schema_alternatives(struct str schema);

/* Does the resolved schema allow that type, itself or in an alternative? */
bool schema_names(struct references *r, struct str schema, const char *type);

/* Does the resolved schema name any type? If so, a bare word is only a string if "string" is
   among them. */
bool schema_names_any(struct references *r, struct str schema);

/* Fails with FAIL_USAGE and what does not match, with the nearest allowed word. `key` is the
   name of the value, as spelled. */
MUST_USE int schema_check(struct references *r, struct str schema, struct str key, struct str value,
                          struct error *err);

/* Sets the error that the value is not in the enum; returns -1. */
int schema_wrong_word(struct str key, struct str value, struct str list, struct error *err);
