/* Searching bytes. */
#ifndef ROLLDBG_BASE_FIND_H
#define ROLLDBG_BASE_FIND_H

#include "base/base.h"

/* Does the part, which is not empty, occur in the text? Fast where it does not; linear in the text,
   whatever is in both. */
bool find_in(struct str text, struct str part);

#endif
