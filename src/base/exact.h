/* Exact sums of doubles: the result depends neither on the order of the additions nor on how the
   input was split into partial sums. (Shewchuk, Adaptive Precision Floating-Point Arithmetic and
   Fast Robust Geometric Predicates, 1997: grow-expansion.) */
#pragma once

#include "base/base.h"

/* Non-overlapping parts, smallest first. 12 parts hold about 600 binary digits; beyond that the
   smallest are dropped. A zeroed sum is 0. */
#define EXACT_PARTS 12

struct exact_sum {
	double part[EXACT_PARTS];
	int count;
	double special; /* sum of the non-finite terms, including overflows */
};

void exact_add(struct exact_sum *s, double x);
void exact_add_product(struct exact_sum *s, double x, double y);
void exact_merge(struct exact_sum *s, const struct exact_sum *other);

/* The sum, rounded once; never -0. */
double exact_value(const struct exact_sum *s);

/* A canonical decomposition: equal sums give equal parts. Each part is the remaining sum,
   rounded; the largest comes first. Returns the number of parts. */
int exact_parts(const struct exact_sum *s, double out[EXACT_PARTS]);

/* n times the sum of the squares, minus the square of the sum, rounded once: exactly 0 if all n
   numbers are equal. */
double exact_spread(double n, const struct exact_sum *sum, const struct exact_sum *squares);
