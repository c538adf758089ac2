/* JSON Schemas (draft 2020-12) of rolldbg's output, made from the tables that the writers, the
   reader and the manuals use. */
#ifndef ROLLDBG_REPORT_SCHEMAS_H
#define ROLLDBG_REPORT_SCHEMAS_H

#include "base/buf.h"

/* Appends the schema of a line of a recording. Like the reader, it allows unknown keys, unknown
   line types and missing keys. */
void schema_recording(struct buf *out);

/* Appends the schema of the JSON lines that the command prints; false if it prints none. */
bool schema_results(const char *command, struct buf *out);

#endif
