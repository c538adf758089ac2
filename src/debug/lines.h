/* Where commands come from: a terminal, with a line editor, or a pipe. */
#ifndef ROLLDBG_DEBUG_LINES_H
#define ROLLDBG_DEBUG_LINES_H

#include "debug/debugger.h"

/* Reads and runs commands until they end, or quit. *failed: one of a pipe's commands failed. */
MUST_USE int lines_read(struct debugger *d, bool *failed, struct error *err);

/* ---- complete.c ---- */

/* What the last word of the line could be: calls back for each. `line` ends at the cursor. */
typedef void completion_fn(void *ctx, struct str candidate);
void complete_line(struct debugger *d, struct str line, completion_fn *take, void *ctx);

#endif
