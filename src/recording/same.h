/* Compares two recordings as a whole. */
#ifndef ROLLDBG_RECORDING_SAME_H
#define ROLLDBG_RECORDING_SAME_H

#include "base/base.h"

/* Do two files have the same lines in the same order, except for `meta`? If so, nothing can
   differ, and this test is ten times as fast as reading them. False also if it cannot be
   decided: a file that cannot be read, is in another format, or is torn. */
bool recordings_are_same(const char *a, const char *b);

#endif
