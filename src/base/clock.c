/* The real clock: see clock.h. */
#include "base/clock.h"

#include <stdio.h>
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

void clock_format(uint64_t unix_ms, char out[32])
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm t = {0};

	gmtime_r(&seconds, &t);
	size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &t);
	snprintf(out + n, 32 - n, ".%03uZ", (unsigned)(unix_ms % 1000));
}
