/* Sums without rounding: see exact.h. */
#include "base/exact.h"

#include <math.h>

/* x + y = *high + *low */
static void two_sum(double x, double y, double *high, double *low)
{
	double sum = x + y, virtual = sum - x;

	*high = sum;
	*low = (x - (sum - virtual)) + (y - virtual);
}

void exact_add(struct exact_sum *s, double x)
{
	int kept = 0;

	if (!isfinite(x)) {
		s->special += x;
		return;
	}
	for (int i = 0; i < s->count; i++) {
		double low;

		two_sum(x, s->part[i], &x, &low);
		if (low != 0)
			s->part[kept++] = low;
	}
	s->count = kept;
	if (!isfinite(x)) {
		s->special += x;
		return;
	}
	if (x != 0 && s->count == EXACT_PARTS) { /* the smallest part is dropped */
		for (int i = 1; i < EXACT_PARTS; i++)
			s->part[i - 1] = s->part[i];
		s->count--;
	}
	if (x != 0)
		s->part[s->count++] = x;
}

void exact_add_product(struct exact_sum *s, double x, double y)
{
	double product = x * y;

	exact_add(s, product);
	if (isfinite(product))
		exact_add(s, fma(x, y, -product));
}

void exact_merge(struct exact_sum *s, const struct exact_sum *other)
{
	for (int i = 0; i < other->count; i++)
		exact_add(s, other->part[i]);
	s->special += other->special;
}

/* Adds the parts, largest first, until an addition is inexact. A tie is then rounded in the
   direction of the next part. */
double exact_value(const struct exact_sum *s)
{
	int i = s->count - 1;
	double high = 0, low = 0;

	if (s->special != 0)
		return s->special;
	while (i >= 0 && low == 0)
		two_sum(high, s->part[i--], &high, &low);
	if (i >= 0 && low != 0 && (low < 0) == (s->part[i] < 0)) {
		double up = high + 2 * low;

		high = up - high == 2 * low ? up : high;
	}
	return high + 0.0;
}

int exact_parts(const struct exact_sum *s, double out[EXACT_PARTS])
{
	struct exact_sum rest = *s;
	int count = 0;

	while (count < EXACT_PARTS && exact_value(&rest) != 0) {
		out[count] = exact_value(&rest);
		if (!isfinite(out[count]))
			return count + 1;
		exact_add(&rest, -out[count++]);
	}
	return count;
}

double exact_spread(double n, const struct exact_sum *sum, const struct exact_sum *squares)
{
	struct exact_sum spread = {.special = sum->special + squares->special};

	for (int i = 0; i < squares->count; i++)
		exact_add_product(&spread, n, squares->part[i]);
	for (int i = 0; i < sum->count; i++)
		for (int k = 0; k < sum->count; k++)
			exact_add_product(&spread, -sum->part[i], sum->part[k]);
	return exact_value(&spread);
}
