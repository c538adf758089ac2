/* Inspect's .eval logs, made JSON logs. */
#ifndef ROLLDBG_CONVERT_INSPECT_ARCHIVE_H
#define ROLLDBG_CONVERT_INSPECT_ARCHIVE_H

#include "base/error.h"

#include <stdio.h>

/* Writes each sample of the archive as a line: a JSON log that has this sample alone. `unpacked`:
   the most bytes that its entries may have together. FAIL_INPUT where it is no such log. */
MUST_USE int inspect_unpack(int fd, uint64_t unpacked, FILE *out, struct error *err);

#endif
