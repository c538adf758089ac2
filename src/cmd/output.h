/* Results on their way to a file descriptor: nothing is lost in silence, a full disk is
 * an error. */
#ifndef ROLLDBG_CMD_OUTPUT_H
#define ROLLDBG_CMD_OUTPUT_H

#include "base/buf.h"
#include "base/error.h"

struct output {
	struct buf text; /* write into this */
	int fd;
};

struct output output_to_stdout(void);
struct output output_to_stderr(void);
/* Writes what is there. FAIL_SYSTEM. A reader that has gone away is no failure: whoever
   runs on without SIGPIPE (struct command.network) has more to do than to print. */
MUST_USE int output_flush(struct output *o, struct error *err);
/* Only when much has gathered. */
MUST_USE int output_flush_some(struct output *o, struct error *err);
/* Flushes, releases: 0 or -1, usable as `return output_close(..)` of a command. */
MUST_USE int output_close(struct output *o, struct error *err);
void output_release(struct output *o); /* without writing; twice is fine */

#endif
