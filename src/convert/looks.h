/* What a file that is no recording looks like, for the message about it. */
#ifndef ROLLDBG_CONVERT_LOOKS_H
#define ROLLDBG_CONVERT_LOOKS_H

#include "base/error.h"

/* Appends to the error what a file that begins with these bytes looks like and which formats are
   read; nothing when it is a damaged recording of ours. */
void looks_describe(struct str begin, struct error *err);

#endif
