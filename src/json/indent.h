/* Lays JSON out for people. */
#ifndef ROLLDBG_JSON_INDENT_H
#define ROLLDBG_JSON_INDENT_H

#include "base/buf.h"

/* Appends valid JSON without whitespace between its tokens with a line for each member and
   element, indented by two blanks a level; strings and numbers as spelled. */
void json_indent(struct buf *out, struct str valid_json);

#endif
