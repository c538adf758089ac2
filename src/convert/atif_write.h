/* Writing ATIF, which is longer than reading it. */
#ifndef ROLLDBG_CONVERT_ATIF_WRITE_H
#define ROLLDBG_CONVERT_ATIF_WRITE_H

#include "convert/export.h"

/* One rollout as a document of version 1.7. */
int atif_write(struct export *x, struct error *err);

#endif
