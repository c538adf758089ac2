/* The recordings of the state directory, and their names @1, @2, ... on the command line. */
#ifndef ROLLDBG_CMD_STORE_STORED_H
#define ROLLDBG_CMD_STORE_STORED_H

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/options/policies.h"

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

#endif
