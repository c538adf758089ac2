/* Values and calls on one line, for table cells. The result is not escaped yet. */
#pragma once

#include "recording/line.h"

/* A value: JSON without whitespace; a string is unquoted if unambiguous. Long values are
   truncated. */
void brief_value(struct buf *out, struct str value);

/* The same for a value in a cell of its own: any string is unquoted, and an object's first members are
   left out if they are empty. */
void brief_text(struct buf *out, struct str value);

/* The call of a step: "lake_move action=DOWN". */
void brief_call(struct buf *out, const struct line *step);

/* Append a value, or a call, to a line of a terminal, escaped and cut to that many columns. */
void brief_put(struct buf *out, struct str value, size_t columns);
void brief_put_call(struct buf *out, const struct line *step, size_t columns);

/* Appends printed text with each long run of base64 replaced by its type and size:
   <base64 of a PNG image, 12345 bytes>. */
void brief_base64(struct buf *out, struct str text);

/* Appends text with SGR sequences (ESC [ .. m, the escape character raw or escaped as in JSON)
   replaced by marks: [x] for a colored or reversed background, <x> for a colored foreground,
   nothing for bold and the like. All other escape sequences are kept; text_escape makes them
   visible. */
void marks_add(struct buf *out, struct str text);
