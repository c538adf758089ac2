/* Learns from recordings of healthy runs: a tool that was called without ever changing the state
   is read-only. */
#ifndef ROLLDBG_EVIDENCE_BASELINE_H
#define ROLLDBG_EVIDENCE_BASELINE_H

#include "base/error.h"

struct baseline;

struct baseline *baseline_new(void);
void baseline_free(struct baseline *b); /* NULL is fine */

/* Adds the recordings in a file or directory. FAIL_INPUT: a file is not a recording, or the
   directory contains none. */
MUST_USE int baseline_add(struct baseline *b, const char *path, struct error *err);

/* Did the tool's calls succeed without ever changing the state? The name is decoded; false if b is
   NULL. */
bool baseline_is_read_only(const struct baseline *b, struct str name);

#endif
