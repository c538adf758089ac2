/* Indents JSON for display. */
#ifndef ROLLDBG_JSON_INDENT_H
#define ROLLDBG_JSON_INDENT_H

#include "base/buf.h"

/* Appends valid JSON that has no whitespace between tokens, with one line per member and
   element, indented by two spaces per level. Strings and numbers are copied as spelled. */
void json_indent(struct buf *out, struct str valid_json);

#endif
