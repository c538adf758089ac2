/* File descriptors for many rollouts at once. */
#ifndef ROLLDBG_CMD_OPTIONS_DESCRIPTORS_H
#define ROLLDBG_CMD_OPTIONS_DESCRIPTORS_H

#include "base/error.h"

/* Raises the soft limit on open files as needed for that many rollouts. FAIL_SYSTEM, with the fix,
   if the hard limit is too low. */
MUST_USE int descriptors_allow(size_t rollouts, struct error *err);

#endif
