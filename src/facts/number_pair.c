/* One number at two readings: see number_pair.h. */
#include "facts/number_pair.h"

#include "json/scan.h"

#include <math.h>

#define DIGITS_MAX 15 /* digits that a double represents exactly */

static bool is_part(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == ':';
}

/* Cuts both texts to the parts that differ, extended to whole numbers. */
static void cut_to_difference(struct str *a, struct str *b)
{
	size_t least = a->n < b->n ? a->n : b->n, from = 0, suffix = 0;

	while (from < least && a->p[from] == b->p[from]) {
		from++;
	}
	while (from > 0 && is_part(a->p[from - 1])) {
		from--;
	}
	while (suffix < least - from && a->p[a->n - 1 - suffix] == b->p[b->n - 1 - suffix]) {
		suffix++;
	}
	while (suffix > 0 && is_part(a->p[a->n - suffix])) {
		suffix--;
	}
	*a = (struct str){a->p + from, a->n - suffix - from};
	*b = (struct str){b->p + from, b->n - suffix - from};
}

/* Reads digits with at most one point, and ':' between hours, minutes and seconds. */
static bool read_text(struct str s, double *value, double *quantum)
{
	double sum = 0, part = 0, scale = 1;
	size_t digits = 0;
	bool point = false;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!is_part(c) || (c != ':' && c != '.' && ++digits > DIGITS_MAX) ||
		    (point && (c == '.' || c == ':'))) {
			return false;
		}
		if (c == '.') {
			point = true;
		} else if (c == ':') {
			sum = 60 * (sum + part);
			part = 0;
		} else {
			part = 10 * part + (c - '0');
			scale *= point ? 10 : 1;
		}
	}
	*value = sum + part / scale;
	*quantum = fmin(*quantum, 1 / scale);
	return digits > 0;
}

/* The resolution of a JSON number as spelled. */
static double quantum_of(struct str number)
{
	double quantum = 1;
	bool point = false;

	for (size_t i = 0; i < number.n; i++) {
		if (number.p[i] == 'e' || number.p[i] == 'E') {
			return 0;
		}
		if (point) { /* divisions are slow */
			quantum /= 10;
		}
		point = point || number.p[i] == '.';
	}
	return quantum;
}

bool number_pair_read(struct str before, struct str after, struct number_pair *out)
{
	*out = (struct number_pair){.quantum = 1};
	if (json_type(before) != json_type(after)) {
		return false;
	}
	if (json_type(before) != JSON_STRING) {
		out->quantum = fmin(quantum_of(before), quantum_of(after));
		return json_double(before, &out->before) && json_double(after, &out->after);
	}
	struct str a = json_inner(before), b = json_inner(after);
	out->text = true;
	cut_to_difference(&a, &b);
	return read_text(a, &out->before, &out->quantum) &&
	       read_text(b, &out->after, &out->quantum);
}
