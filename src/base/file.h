/* Reads whole files into memory. */
#ifndef ROLLDBG_BASE_FILE_H
#define ROLLDBG_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the content of the file; "-" is standard input. Fails with FAIL_INPUT and "<what>
   <path>: ...", also if the content exceeds the cap of `out`. */
MUST_USE int file_read(const char *what, const char *path, struct buf *out, struct error *err);

#endif
