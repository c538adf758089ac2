/* What a file that is no recording looks like, for the message about it. */
#ifndef ROLLDBG_CONVERT_LOOKS_H
#define ROLLDBG_CONVERT_LOOKS_H

#include "base/error.h"

/* Sets FAIL_INPUT with what a file that begins with these bytes looks like and which formats are
   read, true; false when it may be a damaged recording of ours. */
bool looks_describe(struct str begin, struct error *err);

#endif
