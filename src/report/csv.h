/* Comma-separated values, RFC 4180, with line feeds. */
#pragma once

#include "base/buf.h"

/* Appends a field, after a comma unless it is the first of its line, quoted if necessary. Absent: an empty
   field; an empty text is quoted. */
void csv_field(struct buf *out, struct str text);
/* A line of the members of an object, except its type: of their keys or their values. */
void csv_line(struct buf *out, struct str object, bool title);
