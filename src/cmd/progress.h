/* One line on a terminal that is written again and again, and gives way to whatever else
   is said there. Safe for several threads; NULL everywhere: there is no such line. */
#ifndef ROLLDBG_CMD_PROGRESS_H
#define ROLLDBG_CMD_PROGRESS_H

#include "cmd/cmd.h"

struct progress;

/* NULL where standard error is no terminal, or the user wants it quiet. While it lives
   the log makes room for itself. */
struct progress *progress_new(const struct context *c);
void progress_free(struct progress *p); /* takes the line away */

/* Cut to the terminal's width. */
void progress_show(struct progress *p, struct str text);

/* Takes the line away and keeps it away until progress_go_on: around writing to a
   terminal. */
void progress_give_way(struct progress *p);
void progress_go_on(struct progress *p);

#endif
