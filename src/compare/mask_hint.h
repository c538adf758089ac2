/* Recognizes differences that are likely caused by a new run rather than by different behavior,
   and suggests a mask for them. */
#ifndef ROLLDBG_COMPARE_MASK_HINT_H
#define ROLLDBG_COMPARE_MASK_HINT_H

#include "compare/compare.h"

/* Are both values times or ids, texts that differ only in numbers and ids, or numbers of a
   member whose name suggests a duration, time or id? If so, appends the mask (json/paths.h): the
   difference's pointer with `*` for array indexes. Other numbers, such as positions, are never
   masked, because goldens exist to compare them. */
bool mask_hint(const struct difference *d, struct buf *mask);

#endif
