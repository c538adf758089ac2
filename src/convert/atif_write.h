/* Writes ATIF; in a file of its own for its length. */
#ifndef ROLLDBG_CONVERT_ATIF_WRITE_H
#define ROLLDBG_CONVERT_ATIF_WRITE_H

#include "convert/export.h"

/* Writes one rollout as a document of version 1.7. */
int atif_write(struct export *x, struct error *err);

#endif
