/* Where recordings go without --out: $XDG_STATE_HOME/rolldbg (by default
   ~/.local/state/rolldbg), with a new file for each run and a link `latest`, which commands read
   by default. */
#ifndef ROLLDBG_CMD_STORE_H
#define ROLLDBG_CMD_STORE_H

#include "cmd/cmd.h"
#include "cmd/stored.h"
#include "trajectory/reader.h"

/* Appends the path of a new file; creates its folder, for the user alone. FAIL_SYSTEM, with the
   fix. */
MUST_USE int store_new_file(const struct context *c, struct buf *path, struct error *err);
/* Makes `latest` point to path, atomically. */
MUST_USE int store_set_latest(const struct context *c, const char *path, struct error *err);
/* Appends the path of `latest`. FAIL_INPUT if there is none yet. */
MUST_USE int store_latest(const struct context *c, struct buf *path, struct error *err);
/* Appends the paths of the two newest recordings, the older one first. FAIL_INPUT when there
   are fewer. */
MUST_USE int store_last_two(const struct context *c, struct buf *older, struct buf *newer,
                            struct error *err);
/* The files named by operands, or `latest` if there are none. Free it with file_list_free. */
MUST_USE int store_operands(const struct context *c, int argc, char **argv, struct file_list *files,
                            struct error *err);

/* One of many files cannot be used (FAIL_INPUT): reports and counts it, true; the command goes
   on with the others and ends with exit code 3. False: that is the end. */
bool store_pass_over(const struct file_list *files, const struct error *err, size_t *unusable);

#endif
