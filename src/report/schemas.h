/* JSON Schemas (draft 2020-12) of what this program writes, made from the tables that the writers,
   the reader and the manuals are made from. */
#ifndef ROLLDBG_REPORT_SCHEMAS_H
#define ROLLDBG_REPORT_SCHEMAS_H

#include "base/buf.h"

/* Appends the schema of a line of a recording. As the reader does it allows unknown keys, unknown
   types of lines, and keys that are missing. */
void schema_recording(struct buf *out);

/* Appends the schema of a JSON line that the command prints; false: it prints none. */
bool schema_results(const char *command, struct buf *out);

#endif
