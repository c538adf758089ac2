/* A file that is written atomically: under a temporary name in the same folder, then renamed. */
#ifndef ROLLDBG_CMD_NEW_FILE_H
#define ROLLDBG_CMD_NEW_FILE_H

#include "cmd/output.h"

struct new_file {
	struct output out; /* append to out.text, then call output_flush_some */
	struct buf path, temporary;
};

/* Creates it. FAIL_USAGE if the file exists and `force` is not set. "-" is standard output, where
   nothing can be discarded. */
MUST_USE int new_file_open(struct new_file *f, const char *path, bool force, struct error *err);
/* Writes the rest and renames the file. Closes it in any case. */
MUST_USE int new_file_finish(struct new_file *f, struct error *err);
/* Removes an unfinished file. Does nothing if it is zeroed or finished. */
void new_file_discard(struct new_file *f);

#endif
