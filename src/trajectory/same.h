/* Two recordings side by side. */
#ifndef ROLLDBG_TRAJECTORY_SAME_H
#define ROLLDBG_TRAJECTORY_SAME_H

#include "base/base.h"

/* Have two files the same lines in the same order, but for `meta`? Then nothing can differ, and
   that is known ten times as fast as by reading them. False also where it cannot be told: a file
   that cannot be read, is none of ours, or is torn. */
bool recordings_are_same(const char *a, const char *b);

#endif
