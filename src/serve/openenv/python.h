/* JSON values and errors as Python prints them, for messages worded as a Python server
   words them. */
#ifndef ROLLDBG_SERVE_OPENENV_PYTHON_H
#define ROLLDBG_SERVE_OPENENV_PYTHON_H

#include "base/buf.h"

/* dict, list, str, int, float, bool, NoneType. value: validated JSON. */
const char *python_type(struct str value);
/* repr(), cut as Pydantic cuts it: of more than 50 characters the first 25 and the
   last 24. Numbers stay as spelled. */
void python_repr_cut(struct str value, struct buf *out);
/* What json.loads() says to a text that is not JSON, without the place: "Expecting
   value". *at: the byte it means. */
struct json_fault;
const char *python_json_error(struct str text, const struct json_fault *fault, size_t *at);
/* str(): a string's own text, or the whole repr(). */
void python_str(struct str value, struct buf *out);
/* The value as Python reads it and Pydantic writes it again: without blanks, whole
   numbers as spelled, others as the double they are. */
void python_json(struct str value, struct buf *out);

#endif
