/* Differences that are likely to come from another run and not from another behavior, and the mask
   that leaves them out. */
#ifndef ROLLDBG_COMPARE_MASK_HINT_H
#define ROLLDBG_COMPARE_MASK_HINT_H

#include "compare/compare.h"

/* Are both values times or ids, texts that differ in numbers and ids only, or numbers of a member
   whose name is that of a duration, time or id? Then appends the mask (json/paths.h): the
   difference's pointer with `*` for the elements of arrays. A number alone, such as a position, is
   what a golden is there to compare. */
bool mask_hint(const struct difference *d, struct buf *mask);

#endif
