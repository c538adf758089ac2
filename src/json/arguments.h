/* Checks the arguments of a call against its tool's schema: properties, required,
   additionalProperties, and each value as in json/schema.h. A schema is read once and used
   often. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"

struct arguments_schema;

/* Reads a schema, which must be validated JSON and outlive the result; if absent, every object
   matches. The result is in the arena. */
const struct arguments_schema *arguments_read(struct arena *a, struct str schema);

/* Fails with FAIL_USAGE and what does not match, with the nearest name; the peer's text is
   quoted as spelled. */
MUST_USE int arguments_check(const struct arguments_schema *s, struct str arguments,
                             struct error *err);
