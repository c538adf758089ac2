/* Pairs the steps of two rollouts that are the same calls. */
#pragma once

#include "base/base.h"

/* An element of the first sequence only, of the second only, or a pair of equal elements. */
enum align_kind { ALIGN_FIRST, ALIGN_SECOND, ALIGN_BOTH };

struct aligned {
	enum align_kind kind;
	/* indexes; in the sequence without the element, where it would be inserted */
	size_t first, second;
};

/* Maximum number of unpaired elements. Beyond it, everything between the common prefix and
   suffix counts as different, because time and memory grow with the square of their number. */
#define ALIGN_MAX 2000

/* The shortest list of deletions and insertions (E. W. Myers, 1986, doi:10.1007/BF01840446),
   deletions first. Fills `out`, which has room for n + m entries, and returns the number of
   entries. */
size_t align(const uint64_t *first, size_t n, const uint64_t *second, size_t m,
             struct aligned *out);
