/* Buffered results for a file descriptor. Write errors, such as a full disk, are reported. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

struct output {
	struct buf text; /* append results here */
	int fd;
	bool closed; /* the reader has closed its end: further results are discarded */
	bool json;   /* JSON lines, in which text_escape_json escapes peers' characters */
};

struct output output_to_stdout(void);
struct output output_to_stderr(void);
/* To standard output, as JSON lines or as text. */
struct output output_of_results(bool json);
/* Writes the buffered text. FAIL_SYSTEM on failure. A closed reader is not a failure: commands
   that ignore SIGPIPE (struct command.network) still have sessions to close. */
MUST_USE int output_flush(struct output *o, struct error *err);
/* Like output_flush, but only if the buffer is large. */
MUST_USE int output_flush_some(struct output *o, struct error *err);
/* Flushes and releases: 0 or -1, for use as `return output_close(..)`. */
MUST_USE int output_close(struct output *o, struct error *err);
void output_release(struct output *o); /* does not write; may be called twice */
