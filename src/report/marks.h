/* Shows the colors of an environment's text as marks that any terminal, pipe or file can
   display. */
#ifndef ROLLDBG_REPORT_MARKS_H
#define ROLLDBG_REPORT_MARKS_H

#include "base/buf.h"

/* Appends text with SGR sequences (ESC [ .. m, the escape character raw or escaped as in JSON)
   replaced by marks: [x] for a colored or reversed background, <x> for a colored foreground,
   nothing for bold and the like. All other escape sequences are kept; text_escape makes them
   visible. */
void marks_add(struct buf *out, struct str text);

#endif
