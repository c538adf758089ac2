/* Reads recordings as a stream, from files or standard input: constant memory whatever
   the file's size. Torn, fused and foreign lines are told apart. */
#ifndef ROLLDBG_TRAJECTORY_READER_H
#define ROLLDBG_TRAJECTORY_READER_H

#include "trajectory/line.h"

struct reader;

/* What one line was, beside its facts. */
struct reader_note {
	uint64_t line;   /* number in its file, from 1 */
	uint64_t offset; /* byte offset of the object in its file */
	bool fused;      /* not the first object on its line */
	bool torn; /* the unterminated last line was not a whole object: out->type is
	              LINE_UNKNOWN */
};

/* path "-" is standard input. FAIL_INPUT when it is not there or not readable. */
MUST_USE int reader_open(const char *path, struct reader **out, struct error *err);
void reader_close(struct reader *r); /* NULL is fine */

/* 1: a line (slices valid until the next call). 0: the end. -1: FAIL_INPUT "path:LINE:
   ... at byte N" for a terminated line that is not a recording line, a line over the cap,
   a version above ours; FAIL_SYSTEM when reading failed. Blank lines are skipped. */
MUST_USE int reader_next(struct reader *r, struct line *out, struct reader_note *note,
                         struct error *err);

/* Takes one line, which is gone when it returns: -1 with err set ends the reading. */
typedef int reader_line_fn(void *ctx, const struct line *l,
                           const struct reader_note *note, struct error *err);
/* Hands over each line that is left, and closes the reader in every case. -1: reader_next
   or take failed. */
MUST_USE int reader_each(struct reader *r, reader_line_fn *take, void *ctx,
                         struct error *err);

/* All files named by operands: a directory gives its *.jsonl. Free with file_list_free.
 */
struct file_list {
	char **paths;
	size_t count;
};
MUST_USE int file_list_new(char *const *operands, size_t count, struct file_list *out,
                           struct error *err);
void file_list_free(struct file_list *l);

#endif
