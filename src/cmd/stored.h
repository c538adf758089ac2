/* The recordings of the state folder, and the names @1, @2, ... that commands take for them. */
#ifndef ROLLDBG_CMD_STORED_H
#define ROLLDBG_CMD_STORED_H

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/policies.h"

/* Appends its path. FAIL_SYSTEM, with the fix, if no variable says where it is. */
MUST_USE int store_folder(environment *variable, struct buf *path, struct error *err);

/* The recordings of the state folder, the newest one first: @1, @2, ... */
struct stored {
	struct buf folder;
	char **names; /* of files, within the folder */
	size_t count;
};
/* A folder that is not there holds none. Release it in any case. */
MUST_USE int store_list(environment *variable, struct stored *out, struct error *err);
void stored_release(struct stored *s);
/* Appends the path of one. */
void stored_path(const struct stored *s, size_t index, struct buf *out);

/* Marks those that must stay: a link in the folder points to it, a file beside it belongs to it
   (NAME.jsonl.masks), or somebody is writing it. */
MUST_USE int store_needed(const struct stored *s, bool *needed, struct error *err);

/* Replaces @N by the path of that recording, in the arena; other texts stay. (A file of such a name
   is ./@N.) FAIL_INPUT if there are fewer. */
MUST_USE int store_name(environment *variable, const char **name, struct arena *arena,
                        struct error *err);
MUST_USE int store_name_operands(environment *variable, int argc, char **argv, struct arena *arena,
                                 struct error *err);

#endif
