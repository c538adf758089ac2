/* Comma-separated values, RFC 4180, with line feeds. */
#pragma once

#include "base/buf.h"

/* Appends a field, after a comma unless it is the first of its line; quoted if necessary. */
void csv_field(struct buf *out, struct str text);
/* an unknown number is an empty field */
void csv_number(struct buf *out, bool known, double value);
