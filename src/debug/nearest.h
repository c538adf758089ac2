/* Suggestions for a pointer that has no value. */
#ifndef ROLLDBG_DEBUG_NEAREST_H
#define ROLLDBG_DEBUG_NEAREST_H

#include "debug/expression.h"

/* Sets FAIL_USAGE: "state has no member /posit here; did you mean '/position'?". Returns -1. */
int nearest_pointer(const struct path *p, const struct known *k, struct error *err);

#endif
