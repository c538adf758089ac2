/* Where recordings go when nobody says --out: $XDG_STATE_HOME/rolldbg (by default
   ~/.local/state/rolldbg), a fresh file each run and a link `latest`, which commands take
   when no file is named. */
#ifndef ROLLDBG_CMD_STORE_H
#define ROLLDBG_CMD_STORE_H

#include "cmd/cmd.h"
#include "trajectory/reader.h"

/* Appends the path of a new file. FAIL_SYSTEM with the cure. */
MUST_USE int store_new_file(const struct context *c, struct buf *path, struct error *err);
/* Points `latest` to it, atomically. */
MUST_USE int store_set_latest(const struct context *c, const char *path,
                              struct error *err);
/* Appends the path of `latest`. FAIL_INPUT when there is none yet. */
MUST_USE int store_latest(const struct context *c, struct buf *path, struct error *err);
/* The files that operands name, or `latest` without any. Free with file_list_free. */
MUST_USE int store_operands(const struct context *c, int argc, char **argv,
                            struct file_list *files, struct error *err);

#endif
