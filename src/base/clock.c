/* The real clock: see clock.h. */
#include "base/clock.h"

#include <time.h>

static uint64_t real_monotonic_ns(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t real_unix_ms(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

struct clock clock_real(void)
{
	return (struct clock){real_monotonic_ns, real_unix_ms, NULL};
}

/* Converts days since 1970-01-01 to a Gregorian date. Years start in March, so that the leap day
   is the last day of a year, and are grouped in eras of 400 years (146097 days). */
static void civil_date(uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
	uint64_t shifted = days + 719468; /* days since 0000-03-01 */
	unsigned era = (unsigned)(shifted / 146097), of_era = (unsigned)(shifted % 146097);
	unsigned y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * y + y / 4 - y / 100);
	unsigned m = (5 * of_year + 2) / 153;

	*day = of_year - (153 * m + 2) / 5 + 1;
	*month = m < 10 ? m + 3 : m - 9;
	*year = era * 400 + y + (*month <= 2);
}

static char *put_digits(char *out, unsigned value, unsigned digits)
{
	for (unsigned i = digits; i-- > 0; value /= 10) {
		out[i] = (char)('0' + value % 10);
	}
	return out + digits;
}

/* Written by hand: strftime accounted for a tenth of the time to write a recorded line. */
void clock_format(uint64_t unix_ms, char out[32])
{
	static const char after[] = "--T::.";
	uint64_t seconds = unix_ms / 1000;
	unsigned year, month, day, of_day = (unsigned)(seconds % 86400);
	char *p = out;

	civil_date(seconds / 86400, &year, &month, &day);
	const unsigned parts[] = {year % 10000,     month,      day, of_day / 3600,
	                          of_day / 60 % 60, of_day % 60};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		p = put_digits(p, parts[i], i ? 2 : 4);
		*p++ = after[i];
	}
	p = put_digits(p, (unsigned)(unix_ms % 1000), 3);
	*p++ = 'Z';
	*p = '\0';
}
