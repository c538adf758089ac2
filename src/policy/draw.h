/* Random arguments that match a tool's schema, from a seed. Where the schema leaves a value open,
   it comes from the server's texts, if those name some. */
#ifndef ROLLDBG_POLICY_DRAW_H
#define ROLLDBG_POLICY_DRAW_H

#include "base/rng.h"
#include "json/scan.h"
#include "policy/named_values.h"

/* Appends an object with all required arguments and each optional one with probability 1/2;
   arrays and objects in it are not empty unless the schema requires it. named: of the tool. r NULL: an
   example: the required arguments, the first values that the schema gives, TEXT where it gives none.
   Returns whether a text was made up, because neither the schema nor `named` gives one. */
bool draw_arguments(struct rng *r, struct str schema, const struct named_values *named,
                    struct buf *out);

#endif
