/* Reads the entries of a zip archive in sequence (libarchive). Entries are never extracted to
   files. */
#ifndef ROLLDBG_CONVERT_ARCHIVE_H
#define ROLLDBG_CONVERT_ARCHIVE_H

#include "base/buf.h"
#include "base/error.h"

struct archive_file;

/* Opens the archive in a seekable file; the caller keeps and closes fd. FAIL_INPUT if the central
   directory is missing, as in a truncated file; FAIL_SYSTEM if libarchive cannot be loaded. */
MUST_USE int archive_file_open(int fd, struct archive_file **out, struct error *err);
void archive_file_close(struct archive_file *a); /* NULL is fine */

/* Returns 1 with the next entry's name in UTF-8, valid until the next call (empty if it has no
   readable name); 0 at the end; -1 with FAIL_INPUT. */
MUST_USE int archive_file_next(struct archive_file *a, struct str *name, struct error *err);
/* Replaces out with the entry's content. FAIL_INPUT if it is damaged, encrypted, compressed with an
   unknown method, or larger than out may grow. */
MUST_USE int archive_file_read(struct archive_file *a, struct buf *out, struct error *err);

#endif
