/* Converts Inspect's .eval logs to JSON logs. */
#ifndef ROLLDBG_CONVERT_INSPECT_ARCHIVE_H
#define ROLLDBG_CONVERT_INSPECT_ARCHIVE_H

#include "base/error.h"

#include <stdio.h>

/* Writes each sample of the archive as one line, a JSON log with only this sample. `unpacked`:
   maximum total size of its entries in bytes. FAIL_INPUT if it is not such a log. */
MUST_USE int inspect_unpack(int fd, uint64_t unpacked, FILE *out, struct error *err);

#endif
