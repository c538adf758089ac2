/* Values in Python's notation: {'position': 0, 'done': False, 'grid': '\x1b[41mS'}. They are common
   in prompts, replies of models and error texts of Python programs. */
#pragma once

#include "base/buf.h"

/* Appends the literal at the start of the text as JSON, and sets *used to its length: dict, list,
   tuple and set (as arrays), string, number, True, False, None, and numpy's array(..) and scalars
   (as their value). Returns false for anything else and leaves `out` unchanged. */
bool python_literal(struct str text, size_t *used, struct buf *out);

/* Appends the first dict or list in a text, in Python's or JSON notation: for prompts such as
   "Current state: {'position': 0}. Choose". */
bool python_find(struct str text, struct buf *out);
