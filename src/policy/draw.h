/* Random arguments that match a tool's schema, from a seed. Where the schema allows anything,
   values come from the server's own texts: defaults, examples, words in descriptions. */
#ifndef ROLLDBG_POLICY_DRAW_H
#define ROLLDBG_POLICY_DRAW_H

#include "base/rng.h"
#include "json/scan.h"
#include "policy/action_candidates.h"

/* Returns one element of an array; absent if it is empty. */
struct str draw_any(struct rng *r, struct str array);

/* Appends an object with all required arguments and each optional one with probability 1/2;
   arrays and objects in it are not empty unless the schema requires it. words: values for
   strings whose schema names none. */
void draw_arguments(struct rng *r, struct str schema, const struct action_candidates *words,
                    struct buf *out);

#endif
