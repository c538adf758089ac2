/* The arguments of a call against the schema of its tool: properties, required,
   additionalProperties, and for each value what json/schema.h judges. Read once, asked
   often: what fits is told by keys and first bytes. */
#ifndef ROLLDBG_JSON_ARGUMENTS_H
#define ROLLDBG_JSON_ARGUMENTS_H

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"

struct arguments_schema;

/* From validated JSON, borrowed as long as the result is used; absent: every object fits.
   The result is in the arena. */
const struct arguments_schema *arguments_read(struct arena *a, struct str schema);

/* FAIL_USAGE says what does not fit, with the nearest name; peers' text in it is as they
   spelled it. */
MUST_USE int arguments_check(const struct arguments_schema *s, struct str arguments,
                             struct error *err);

#endif
