/* Sums of doubles without rounding: the value does not depend on the order of what was added, nor on
   how it was split into partial sums. (Shewchuk, Adaptive Precision Floating-Point Arithmetic and
   Fast Robust Geometric Predicates, 1997: grow-expansion.) */
#ifndef ROLLDBG_BASE_EXACT_H
#define ROLLDBG_BASE_EXACT_H

#include "base/base.h"

/* Parts that do not overlap, the smallest first. 12 hold numbers of some 600 binary digits; beyond
   that the smallest are rounded. A zeroed one is 0. */
#define EXACT_PARTS 12

struct exact_sum {
	double part[EXACT_PARTS];
	int count;
	double special; /* what is not finite, or became so */
};

void exact_add(struct exact_sum *s, double x);
void exact_add_product(struct exact_sum *s, double x, double y);
void exact_merge(struct exact_sum *s, const struct exact_sum *other);

/* The sum, rounded once. Never -0. */
double exact_value(const struct exact_sum *s);

/* The same parts for the same sum: each is the sum of the rest, rounded; the greatest comes first.
   Returns how many. */
int exact_parts(const struct exact_sum *s, double out[EXACT_PARTS]);

/* n times the squares' sum, minus the square of the sum: rounded once, so that it is 0 where all n
   numbers are equal. */
double exact_spread(double n, const struct exact_sum *sum, const struct exact_sum *squares);

#endif
