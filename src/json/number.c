/* Converts number tokens to exact integers and the nearest double. */
#include "json/scan.h"

#include "base/mem.h"
#include "base/text.h"
#include "json/lex.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A number as digits * 10^scale. */
struct decimal {
	bool negative;
	const unsigned char *digits, *end; /* may include the decimal point */
	int64_t scale;
};

/* Exceeds the length of any text, so that a clamped exponent gives the same result. */
#define EXPONENT_MAX (INT64_C(1) << 60)

static int64_t exponent(const unsigned char *p, const unsigned char *end)
{
	bool negative = *p == '-';
	int64_t e = 0;

	for (p += *p == '-' || *p == '+'; p < end; p++)
		e = e >= EXPONENT_MAX / 10 ? EXPONENT_MAX : e * 10 + (*p - '0');
	return negative ? -e : e;
}

static struct decimal decimal(struct str token)
{
	const unsigned char *p = lex_begin(token), *end = lex_end(token);
	struct decimal d = {.negative = *p == '-', .digits = p + (*p == '-')};

	p = run_digits(d.digits, end);
	if (p < end && *p == '.') {
		const unsigned char *fraction = p + 1;

		p = run_digits(fraction, end);
		d.scale = -(int64_t)(p - fraction);
	}
	d.end = p;
	if (p < end)
		d.scale += exponent(p + 1, end);
	return d;
}

/* Drops trailing zeros and returns the remaining digits as a number if it fits. */
static bool significand(struct decimal *d, uint64_t *out)
{
	while (d->end > d->digits && (d->end[-1] == '0' || d->end[-1] == '.')) {
		d->scale += d->end[-1] == '0';
		d->end--;
	}
	uint64_t n = 0;
	for (const unsigned char *p = d->digits; p < d->end; p++) {
		if (*p == '.')
			continue;
		unsigned digit = *p - (unsigned)'0';
		if (n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*out = n;
	return true;
}

bool json_i64(struct str value, int64_t *out)
{
	if (json_type(value) != JSON_NUMBER)
		return false;
	struct decimal d = decimal(value);
	uint64_t n, limit = (uint64_t)INT64_MAX + d.negative;
	if (!significand(&d, &n))
		return false;
	if (n != 0 && d.scale < 0)
		return false;
	for (; n != 0 && d.scale > 0; d.scale--) {
		if (n > limit / 10)
			return false;
		n *= 10;
	}
	if (n > limit)
		return false;
	*out = d.negative ? (int64_t)(0 - n) : (int64_t)n;
	return true;
}

#define SHORT 16 /* bytes; the digits of a shorter number are less than 2^53 */

/* A number of few digits without an exponent. Both operands of the division are exact, so there is
   only one rounding: Clinger 1990. */
static bool short_double(struct str token, double *out)
{
	static const double powers[SHORT] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
	                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
	const bool negative = token.p[0] == '-';
	size_t point = token.n - 1; /* index of the last byte, or of the point */
	size_t i = negative;
	uint64_t n = 0;

	if (FLT_EVAL_METHOD != 0 || token.n >= SHORT)
		return false;
	for (; i < token.n && is_digit((unsigned char)token.p[i]); i++)
		n = n * 10 + (uint64_t)(token.p[i] - '0');
	for (; i < token.n; i++)
		if (is_digit((unsigned char)token.p[i]))
			n = n * 10 + (uint64_t)(token.p[i] - '0');
		else if (token.p[i] == '.')
			point = i;
		else
			return false;
	double value = (double)n;
	if (point < token.n - 1)
		value /= powers[token.n - 1 - point];
	*out = negative ? -value : value;
	return true;
}

bool json_double(struct str value, double *out)
{
	if (json_type(value) != JSON_NUMBER)
		return false;
	if (short_double(value, out))
		return true;
	char small[64], *text = value.n < sizeof(small) ? small : mem_text(value);
	if (text == small) {
		memcpy(small, value.p, value.n);
		small[value.n] = '\0';
	}
	double v = text_double(text);
	if (text != small)
		free(text);
	if (!isfinite(v))
		return false;
	*out = v;
	return true;
}

bool json_double_text(struct str text, double *out)
{

	return json_is_valid(text) && json_double(text, out);
}
