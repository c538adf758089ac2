/* The entries of a zip archive, one after another (libarchive). No entry is written to a file of
   its name. */
#ifndef ROLLDBG_CONVERT_ARCHIVE_H
#define ROLLDBG_CONVERT_ARCHIVE_H

#include "base/buf.h"
#include "base/error.h"

struct archive_file;

/* The archive in a file that can be sought in; fd stays the caller's. FAIL_INPUT where it has no
   list of its entries, as a truncated one; FAIL_SYSTEM where the library cannot be loaded. */
MUST_USE int archive_file_open(int fd, struct archive_file **out, struct error *err);
void archive_file_close(struct archive_file *a); /* NULL is fine */

/* The next entry's name, as UTF-8, valid until the next call; empty if it has none that can be
   read. 1; 0 at the end; -1 with FAIL_INPUT. */
MUST_USE int archive_file_next(struct archive_file *a, struct str *name, struct error *err);
/* Replaces out with the entry's content. FAIL_INPUT where it is damaged or encrypted, compressed
   in an unknown way, or longer than out may be. */
MUST_USE int archive_file_read(struct archive_file *a, struct buf *out, struct error *err);

#endif
