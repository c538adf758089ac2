/* Reads recordings as a stream, from files or standard input, in memory independent of the
   file's size. Recordings of other programs are converted while reading (recording/foreign.h).
   Truncated lines and several objects on one line are reported in the note. */
#pragma once

#include "recording/line.h"

#include <stdio.h>

struct reader;
struct format; /* recording/foreign.h */

/* Facts about a line besides its content. */
struct reader_note {
	const char *file; /* file name, for messages */
	uint64_t line;    /* number in its file, from 1 */
	uint64_t offset;  /* byte offset of the object in its file */
	bool fused;       /* not the first object on its line */
	/* the unterminated last line is not a complete object: out->type is LINE_UNKNOWN */
	bool torn;
};

/* Path "-" is standard input. Fails with FAIL_INPUT if the file does not exist or is not
   readable. */
MUST_USE int reader_open(const char *path, struct reader **out, struct error *err);
/* The same for an open file, which is not closed; `name` is for messages. */
MUST_USE int reader_open_fd(int fd, const char *name, struct reader **out, struct error *err);
void reader_close(struct reader *r); /* NULL is fine */

/* Sets the format of the file regardless of its content; call before the first line is read. */
void reader_set_format(struct reader *r, const struct format *format);
/* Returns 1 for a line (slices valid until the next call; of another format, the note has the line number
   of its source value, and no offset), 0 at the end, -1 on failure:
   FAIL_INPUT "path:LINE: ... at byte N" for a terminated line that is invalid, too long, or of a
   version above ours; FAIL_SYSTEM if reading failed. Blank lines are skipped. */
MUST_USE int reader_next(struct reader *r, struct line *out, struct reader_note *note,
                         struct error *err);

/* The same, to locate lines only: for most lines only type, rollout and text are set, and their
   content is not checked (line_skim). */
MUST_USE int reader_skim(struct reader *r, struct line *out, struct reader_note *note,
                         struct error *err);

/* Seeks to an object by its note's offset and line, and treats `end` as the end of the file. For
   regular files in our own format: of others, recording_copy makes one. */
void reader_seek(struct reader *r, uint64_t offset, uint64_t end, uint64_t line);

/* Receives one line, valid during the call; returning -1 with err set stops the reading. */
typedef int reader_line_fn(void *ctx, const struct line *l, const struct reader_note *note,
                           struct error *err);
/* Prepends the place of a line to a FAIL_INPUT about it; returns -1. */
int reader_place_error(struct error *err, const struct reader_note *note);
/* Passes all remaining lines to take and always closes the reader. Returns -1 if reader_next or
   take failed. */
MUST_USE int reader_each(struct reader *r, reader_line_fn *take, void *ctx, struct error *err);

/* The same for a whole file. If take fails with FAIL_INPUT, file and line are prepended to the
   message. A file without any line is FAIL_INPUT: a run that died before its first line must not
   count as a valid recording. */
MUST_USE int reader_file(const char *path, reader_line_fn *take, void *ctx, struct error *err);

/* The same, but a file without any line is not an error: *any is set if there was a line. */
MUST_USE int reader_file_lines(const char *path, reader_line_fn *take, void *ctx, bool *any,
                               struct error *err);

/* A seekable copy of a recording that cannot be read by position: of a pipe, or of a recording
   in another format, whose imported lines are copied. Otherwise *out is NULL. format NULL:
   detected from the content. Close it with fclose. */
MUST_USE int recording_copy(const char *path, const struct format *format, FILE **out,
                            struct error *err);

/* All files named by operands: a directory is replaced by its recordings. Free with file_list_free. */
struct file_list {
	char **paths;
	size_t count;
	/* several files, or from a directory: an unusable file does not end the command */
	bool many;
	bool may_be_empty; /* a directory without recordings is no error */
};
MUST_USE int file_list_new(char *const *operands, size_t count, struct file_list *out,
                           struct error *err);
/* Adds to a list, which may be zeroed but for may_be_empty. An error empties it. */
MUST_USE int file_list_add(char *const *operands, size_t count, struct file_list *out,
                           struct error *err);
void file_list_free(struct file_list *l);
