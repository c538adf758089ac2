/* Which steps of two rollouts are the same calls. */
#ifndef ROLLDBG_COMPARE_ALIGN_H
#define ROLLDBG_COMPARE_ALIGN_H

#include "base/base.h"

/* Elements of the first sequence alone, of the second alone, or one of each that are equal. */
enum align_kind { ALIGN_FIRST, ALIGN_SECOND, ALIGN_BOTH };

struct aligned {
	enum align_kind kind;
	size_t first, second; /* indexes; the one that kind leaves out is where it would stand */
};

/* More elements without a partner than this, and all between the equal beginning and the equal
   end count as different: time and memory grow with the square of their number. */
#define ALIGN_MAX 2000

/* The shortest list of deletions and insertions (E. W. Myers, 1986, doi:10.1007/BF01840446),
   deletions first. Fills out, which has room for n + m, and returns how
   many there are. */
size_t align(const uint64_t *first, size_t n, const uint64_t *second, size_t m,
             struct aligned *out);

#endif
