/* Values as Python prints them: {'position': 0, 'done': False, 'grid': '\x1b[41mS'}. Prompts and
   error texts of Python programs are full of them. */
#ifndef ROLLDBG_CONVERT_PYTHON_H
#define ROLLDBG_CONVERT_PYTHON_H

#include "base/buf.h"

/* Appends the literal at the start of the text as JSON, and sets *used to its length: dict, list,
   tuple and set (as arrays), string, number, True, False, None, and numpy's array(..) and scalars
   (as their value). False for anything else; `out` is then as before. */
bool python_literal(struct str text, size_t *used, struct buf *out);

/* The first dict or list in a text that is one of Python's or JSON: for prompts such as "Current
   state: {'position': 0}. Choose". */
bool python_find(struct str text, struct buf *out);

#endif
