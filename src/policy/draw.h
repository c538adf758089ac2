/* Draws arguments that fit a tool's schema, from seeded random numbers. What the schema leaves
   open is filled with what the server names elsewhere: defaults, examples, words in
   descriptions. */
#ifndef ROLLDBG_POLICY_DRAW_H
#define ROLLDBG_POLICY_DRAW_H

#include "base/rng.h"
#include "json/scan.h"
#include "policy/action_candidates.h"

/* Returns one element of an array; absent if it is empty. */
struct str draw_any(struct rng *r, struct str array);

/* Appends an object: all required arguments, each of the others with a chance of one half;
   arrays and objects in it are not empty unless the schema says so. words: values for strings
   whose schema names none. */
void draw_arguments(struct rng *r, struct str schema, const struct action_candidates *words,
                    struct buf *out);

#endif
