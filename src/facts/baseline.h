/* Learns from recordings of healthy runs: a tool that was called without ever changing the state
   is read-only. */
#ifndef ROLLDBG_FACTS_BASELINE_H
#define ROLLDBG_FACTS_BASELINE_H

#include "base/error.h"
#include "facts/tool_effects.h"

/* Adds the recordings in a file or directory. FAIL_INPUT: a file is not a recording, or the
   directory contains none. */
MUST_USE int baseline_add(struct tool_effects *t, const char *path, struct error *err);

#endif
