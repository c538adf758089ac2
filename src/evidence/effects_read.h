/* Reads a file for the effects of its steps: the first of two passes, for those that print steps. */
#pragma once

#include "evidence/effects.h"

struct hints;
struct reader;
/* Reads all lines and closes the reader; what is no recording has no effects. hints may be NULL. */
struct effects *effects_read(struct reader *r, const struct hints *hints);
