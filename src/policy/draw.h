/* Draws arguments that fit the schema of a tool, from seeded random numbers. What a schema
   leaves open is filled with what the server itself names: defaults, examples, words of
   descriptions. */
#ifndef ROLLDBG_POLICY_DRAW_H
#define ROLLDBG_POLICY_DRAW_H

#include "base/rng.h"
#include "json/scan.h"
#include "policy/action_candidates.h"

/* One element of an array; absent when it has none. */
struct str draw_any(struct rng *r, struct str array);

/* Appends an object: required arguments always, the others every second time; arrays and
   objects inside are not empty where they need not be. words: for strings whose schema
   names none. */
void draw_arguments(struct rng *r, struct str schema, const struct action_candidates *words,
                    struct buf *out);

#endif
