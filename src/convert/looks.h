/* The likely type of a file that is not a recording, for the error message. */
#ifndef ROLLDBG_CONVERT_LOOKS_H
#define ROLLDBG_CONVERT_LOOKS_H

#include "base/error.h"

/* Sets FAIL_INPUT with the likely type of a file that begins with these bytes and the formats that
   can be read, and returns true. Returns false if it may be a damaged recording. */
bool looks_describe(struct str begin, struct error *err);

#endif
