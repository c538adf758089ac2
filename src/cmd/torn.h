/* A truncated last line, for commands that read a recording for what is in it. */
#ifndef ROLLDBG_CMD_TORN_H
#define ROLLDBG_CMD_TORN_H

#include "trajectory/reader.h"

/* A reader_line_fn: warns that the line is left out. */
int torn_warn(void *ctx, const struct line *l, const struct reader_note *note, struct error *err);

#endif
