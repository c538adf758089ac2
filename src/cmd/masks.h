/* --mask, which `run` records and `strip` applies. */
#ifndef ROLLDBG_CMD_MASKS_H
#define ROLLDBG_CMD_MASKS_H

#include "cmd/options.h"
#include "trajectory/strip.h"

/* Creates a strip with these masks. FAIL_USAGE if one is not a pointer. */
MUST_USE int masks_strip(const struct opt_list *masks, struct strip **out, struct error *err);

#endif
