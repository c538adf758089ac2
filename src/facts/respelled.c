/* Compares numbers and arrays by their meaning: see respelled.h. */
#include "facts/respelled.h"

#include "json/scan.h"

#include <float.h>
#include <math.h>

#define ULPS 4 /* maximum rounding error of a sum of a few fractions */

static bool is_integer(struct str number)
{
	for (size_t i = 0; i < number.n; i++) {
		if (number.p[i] == '.' || (number.p[i] | 0x20) == 'e') {
			return false;
		}
	}
	return true;
}

bool respelled_number(struct str a, struct str b)
{
	double x, y;

	if (json_type(a) != JSON_NUMBER || json_type(b) != JSON_NUMBER ||
	    (is_integer(a) && is_integer(b)) || !json_double(a, &x) || !json_double(b, &y)) {
		return false;
	}
	return fabs(x - y) <= ULPS * DBL_EPSILON * fmax(fabs(x), fabs(y));
}

static size_t count_of(struct str array, struct str element)
{
	struct str each;
	size_t cursor = 0, count = 0;

	while (json_next(array, &cursor, &each)) {
		count += str_eq(each, element);
	}
	return count;
}

bool respelled_order(struct str a, struct str b)
{
	struct str each;
	size_t cursor = 0;

	if (json_type(a) != JSON_ARRAY || json_type(b) != JSON_ARRAY ||
	    json_count(a) != json_count(b)) {
		return false;
	}
	while (json_next(b, &cursor, &each)) {
		if (count_of(a, each) != count_of(b, each)) {
			return false;
		}
	}
	return true;
}
