/* Iterates over all values within a value, with their JSON Pointers. */
#pragma once

#include "base/base.h"

/* Receives one value, valid during the call; return false to stop. */
typedef bool json_walk_fn(void *ctx, struct str pointer, struct str value);

/* Calls back for each value below a validated value, but not for that value itself; parents
   first, and also inside strings that hold an object or array. */
void json_walk(struct str value, json_walk_fn *take, void *ctx);
