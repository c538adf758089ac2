/* Substring search. */
#ifndef ROLLDBG_BASE_FIND_H
#define ROLLDBG_BASE_FIND_H

#include "base/base.h"

/* Does the part (not empty) occur in the text? Time is linear in the text for any input. */
bool find_in(struct str text, struct str part);
/* The offset of its first occurrence; text.n if there is none. */
size_t find_at(struct str text, struct str part);

#endif
