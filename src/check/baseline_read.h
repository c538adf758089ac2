/* Learns from recordings of healthy runs which tools are read-only. */
#pragma once

#include "base/error.h"
#include "evidence/baseline.h"

/* Adds the recordings in a file or directory. FAIL_INPUT: a file is not a recording, or the
   directory contains none. */
MUST_USE int baseline_add(struct baseline *b, const char *path, struct error *err);
