/* Search for any of many texts, in one pass that skips most bytes. */
#ifndef ROLLDBG_BASE_FIND_MANY_H
#define ROLLDBG_BASE_FIND_MANY_H

#include "base/base.h"

#define FIND_MANY_MIN ((size_t)4) /* minimum length of a part */

/* Zeroed: no parts. */
struct find_many {
	unsigned char *shifts; /* by hash of four bytes: how far the search may move on */
	size_t prefix;         /* number of bytes of each part that are searched for */
};

/* Removes all parts; those added later have `least` bytes or more. */
void find_many_begin(struct find_many *f, size_t least);
void find_many_add(struct find_many *f, struct str part);
void find_many_release(struct find_many *f);

/* The next position at or after `from` where a part may begin, or text.n: every place of a part is
   returned, and few others. */
size_t find_many_next(const struct find_many *f, struct str text, size_t from);

#endif
