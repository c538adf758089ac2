/* JSON values as Python prints them, for error messages worded as a Python server words
 * them. */
#ifndef ROLLDBG_SERVE_PYTHON_H
#define ROLLDBG_SERVE_PYTHON_H

#include "base/buf.h"

/* dict, list, str, int, float, bool, NoneType. value: validated JSON. */
const char *python_type(struct str value);
/* repr(), cut as Pydantic cuts it: of more than 50 characters the first 25 and the
   last 24. Numbers stay as spelled. */
void python_repr_cut(struct str value, struct buf *out);

#endif
