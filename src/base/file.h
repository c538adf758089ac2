/* Whole files into memory. */
#ifndef ROLLDBG_BASE_FILE_H
#define ROLLDBG_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends what the file holds; "-" is standard input. FAIL_INPUT, "<what> <path>: ..",
   also when it is more than `out` takes. */
MUST_USE int file_read(const char *what, const char *path, struct buf *out,
                       struct error *err);

#endif
