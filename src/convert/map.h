/* A format described by a file: JSON Pointers to the facts in arbitrary JSON or JSONL. */
#ifndef ROLLDBG_CONVERT_MAP_H
#define ROLLDBG_CONVERT_MAP_H

#include "convert/convert.h"

/* Reads the description. FAIL_INPUT, with file, line and key. Free the format with map_free. */
MUST_USE int map_read(const char *path, struct format **out, struct error *err);
void map_free(struct format *format); /* NULL is fine */

#endif
