/* Every value in a value, with its JSON Pointer. */
#ifndef ROLLDBG_JSON_WALK_H
#define ROLLDBG_JSON_WALK_H

#include "base/base.h"

/* Takes one value, valid during the call; return false to stop. */
typedef bool json_walk_fn(void *ctx, struct str pointer, struct str value);

/* Calls back for all that stands below a validated value, parents first, also inside strings
   that hold an object or array; not for the value itself. */
void json_walk(struct str value, json_walk_fn *take, void *ctx);

#endif
