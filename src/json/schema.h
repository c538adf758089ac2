/* The part of JSON Schema that tools use, for one value: type, enum, const, minimum,
   maximum, local $ref, anyOf and oneOf of those. What a schema says beyond that, and what
   is inside containers, is left to the server. */
#ifndef ROLLDBG_JSON_SCHEMA_H
#define ROLLDBG_JSON_SCHEMA_H

#include "base/error.h"
#include "json/scan.h"

/* The schema that a chain of local references ("#/$defs/Way") leads to in root; the
   schema itself when it is none; absent when the chain leads nowhere. */
struct str schema_resolve(struct str root, struct str schema);

/* The alternatives of a resolved schema: anyOf or oneOf; absent: it has none. */
struct str schema_alternatives(struct str schema);

/* Does the resolved schema name that type, itself or in one of its alternatives? */
bool schema_names(struct str root, struct str schema, const char *type);

/* Does it name any type? Then a word is only text when "string" is among them. */
bool schema_names_any(struct str root, struct str schema);

/* FAIL_USAGE says what does not fit, with the nearest of the allowed words. `key` names
   the value, as spelled. */
MUST_USE int schema_check(struct str root, struct str schema, struct str key,
                          struct str value, struct error *err);

#endif
