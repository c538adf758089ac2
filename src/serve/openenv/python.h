/* JSON values and errors as Python prints them, for messages of a Python server. */
#ifndef ROLLDBG_SERVE_OPENENV_PYTHON_H
#define ROLLDBG_SERVE_OPENENV_PYTHON_H

#include "base/buf.h"

/* dict, list, str, int, float, bool, NoneType. value: validated JSON. */
const char *python_type(struct str value);
/* repr(), shortened as Pydantic does: of more than 50 characters the first 25 and the last 24.
   Numbers stay as spelled. */
void python_repr_cut(struct str value, struct buf *out);
/* The message of json.loads() about text that is not JSON, without the position: "Expecting
   value". *at: the byte it refers to. */
struct json_fault;
const char *python_json_error(struct str text, const struct json_fault *fault, size_t *at);
/* str(): the text of a string, else repr(). */
void python_str(struct str value, struct buf *out);
/* The value as parsed by Python and serialized by Pydantic: no whitespace, integers as spelled,
   other numbers as doubles. */
void python_json(struct str value, struct buf *out);

#endif
