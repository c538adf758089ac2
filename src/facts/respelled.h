/* JSON values that differ in their bytes but not in their meaning. */
#ifndef ROLLDBG_FACTS_RESPELLED_H
#define ROLLDBG_FACTS_RESPELLED_H

#include "base/base.h"

/* Are both the same number: 0.0 and -0.0, 1 and 1.0, or fractions that differ only by rounding
   (0.3 and 0.30000000000000004)? Two numbers spelled as integers are never considered respelled. */
bool respelled_number(struct str a, struct str b);

/* Do two arrays have the same elements, in any order? */
bool respelled_order(struct str a, struct str b);

#endif
