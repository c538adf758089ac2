/* What recordings of healthy runs teach about tools: one that was called there and never
   changed the state only reads. */
#ifndef ROLLDBG_CHECK_BASELINE_H
#define ROLLDBG_CHECK_BASELINE_H

#include "base/error.h"

struct baseline;

struct baseline *baseline_new(void);
void baseline_free(struct baseline *b); /* NULL is fine */

/* Adds the recordings of a file, or of a folder. FAIL_INPUT: one cannot be judged, or
   there is none. */
MUST_USE int baseline_add(struct baseline *b, const char *path, struct error *err);

/* Was the tool of that name (decoded) answered ok without a change of the state, and
   never seen to change it? NULL knows nothing. */
bool baseline_only_reads(const struct baseline *b, struct str name);

#endif
