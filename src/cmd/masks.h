/* --mask, as `run` records it and `strip` applies it. */
#ifndef ROLLDBG_CMD_MASKS_H
#define ROLLDBG_CMD_MASKS_H

#include "base/options.h"
#include "trajectory/strip.h"

/* A strip with these masks. FAIL_USAGE: one of them is not a pointer. */
MUST_USE int masks_strip(const struct opt_list *masks, struct strip **out,
                         struct error *err);

#endif
