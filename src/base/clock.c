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

/* The last n digits. For each step, so not by strftime. */
static void put_digits(char *out, size_t n, int value)
{
	for (; n; value /= 10)
		out[--n] = (char)('0' + value % 10);
}

void clock_format(uint64_t unix_ms, char out[32])
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm t = {0};

	gmtime_r(&seconds, &t);
	memcpy(out, "0000-00-00T00:00:00.000Z", 25);
	put_digits(out, 4, 1900 + t.tm_year);
	put_digits(out + 5, 2, 1 + t.tm_mon);
	put_digits(out + 8, 2, t.tm_mday);
	put_digits(out + 11, 2, t.tm_hour);
	put_digits(out + 14, 2, t.tm_min);
	put_digits(out + 17, 2, t.tm_sec);
	put_digits(out + 20, 3, (int)(unix_ms % 1000));
}
