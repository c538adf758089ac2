/* Handling of a truncated last line, for commands that read a recording's contents. */
#ifndef ROLLDBG_CMD_STORE_TORN_H
#define ROLLDBG_CMD_STORE_TORN_H

#include "recording/reader.h"

#include <stdatomic.h>

/* A reader_line_fn: warns that the line is ignored, and sets the atomic_bool *ctx (NULL: none). */
int torn_warn(void *ctx, const struct line *l, const struct reader_note *note, struct error *err);

#endif
