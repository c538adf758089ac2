/* A file that appears as a whole or not at all: written under a temporary name in the same folder,
   then renamed. */
#ifndef ROLLDBG_CMD_NEW_FILE_H
#define ROLLDBG_CMD_NEW_FILE_H

#include "cmd/output.h"

struct new_file {
	struct output out; /* append to out.text, then output_flush_some */
	struct buf path, temporary;
};

/* Creates it. FAIL_USAGE if there is one of that name and `force` is not set; "-" is standard
   output, which cannot be taken back. */
MUST_USE int new_file_open(struct new_file *f, const char *path, bool force, struct error *err);
/* Writes the rest and gives the file its name. Closes it in any case. */
MUST_USE int new_file_finish(struct new_file *f, struct error *err);
/* Removes what was written. A zeroed one, and one that was finished, is fine. */
void new_file_discard(struct new_file *f);

#endif
