/* Masks for the differences of a comparison, suggested as command-line options. */
#ifndef ROLLDBG_CMD_MASK_HINTS_H
#define ROLLDBG_CMD_MASK_HINTS_H

#include "compare/compare.h"

#define MASK_HINTS_MAX ((size_t)8) /* at most this many are suggested */

/* Zeroed is empty. */
struct mask_hints {
	struct buf masks[MASK_HINTS_MAX];
	size_t count;
};

void mask_hints_add(struct mask_hints *h, const struct difference *d);
/* "if that may differ from run to run: --mask /state/clock", without a line feed, quoted for a
   shell; nothing if there is no hint. */
void mask_hints_say(const struct mask_hints *h, struct buf *out);
void mask_hints_release(struct mask_hints *h); /* leaves it empty; may be called twice */

#endif
