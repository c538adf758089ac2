/* The state directory, where recordings go without --out: $XDG_STATE_HOME/rolldbg (by default
   ~/.local/state/rolldbg). Each run creates a file there and sets the link `latest`, which commands
   read by default. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/options/policies.h"
#include "recording/reader.h"

#include <stdatomic.h>

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

/* ---- recordings by number ---- */

/* Appends the directory's path. FAIL_SYSTEM, with the fix, if no environment variable determines
   it. */
MUST_USE int store_directory(environment *variable, struct buf *path, struct error *err);

/* The recordings of the state directory, newest first: @1, @2, ... */
struct stored {
	struct buf directory;
	char **names; /* file names within the directory */
	size_t count;
};
/* A missing directory is an empty list. Call the release function in any case. */
MUST_USE int store_list(environment *variable, struct stored *out, struct error *err);
void stored_release(struct stored *s);
/* Appends the path of a recording. */
void stored_path(const struct stored *s, size_t index, struct buf *out);

/* Marks recordings that must be kept: the target of a link in the directory, one with a file that
   belongs to it (NAME.jsonl.masks), or one being written. */
MUST_USE int store_needed(const struct stored *s, bool *needed, struct error *err);

/* Replaces @N by the path of that recording, in the arena; other names are unchanged. (A file of
   that name is ./@N.) FAIL_INPUT if there are fewer. */
MUST_USE int store_name(environment *variable, const char **name, struct arena *arena,
                        struct error *err);
MUST_USE int store_name_operands(environment *variable, int argc, char **argv, struct arena *arena,
                                 struct error *err);

/* ---- a truncated last line ---- */

/* A reader_line_fn: warns that the line is ignored, and sets the atomic_bool *ctx (NULL: none). */
int torn_warn(void *ctx, const struct line *l, const struct reader_note *note, struct error *err);
