/* Descriptors for many rollouts at once. */
#ifndef ROLLDBG_CMD_DESCRIPTORS_H
#define ROLLDBG_CMD_DESCRIPTORS_H

#include "base/error.h"

/* Raises the soft limit as far as that many rollouts may need. FAIL_SYSTEM, with the
   cure, where the hard limit is too low for them. */
MUST_USE int descriptors_allow(size_t rollouts, struct error *err);

#endif
