/* The state directory, where recordings go without --out: $XDG_STATE_HOME/rolldbg (by default
   ~/.local/state/rolldbg). Each run creates a file there and sets the link `latest`, which commands
   read by default. */
#ifndef ROLLDBG_CMD_STORE_STORE_H
#define ROLLDBG_CMD_STORE_STORE_H

#include "cmd/cmd.h"
#include "cmd/store/stored.h"
#include "recording/reader.h"

/* Appends the path of a new file and creates its directory with mode 0700. FAIL_SYSTEM, with the
   fix. */
MUST_USE int store_new_file(const struct context *c, struct buf *path, struct error *err);
/* Creates a directory of the state directory and those above it. FAIL_SYSTEM, with the cure. */
MUST_USE int store_make_directories(struct buf *path, const char *cure, struct error *err);
/* Makes `latest` point to path, atomically. */
MUST_USE int store_set_latest(const struct context *c, const char *path, struct error *err);
/* Appends the path of `latest`. FAIL_INPUT if it does not exist yet. */
MUST_USE int store_latest(const struct context *c, struct buf *path, struct error *err);
/* Appends the paths of the two newest recordings. FAIL_INPUT if there are fewer. */
MUST_USE int store_last_two(const struct context *c, struct buf *older, struct buf *newer,
                            struct error *err);
/* The files named by operands, or `latest` if there are none. Free it with file_list_free. */
MUST_USE int store_operands(const struct context *c, int argc, char **argv, struct file_list *files,
                            struct error *err);

/* Called when a file cannot be used. True if it is one of several (FAIL_INPUT): reports and counts
   it; the command continues with the others and exits with code 3. False: the command ends. */
bool store_pass_over(const struct file_list *files, const struct error *err, size_t *unusable);

#endif
