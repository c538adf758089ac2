/* Time as a parameter: main creates the real clock, tests supply their own. */
#pragma once

#include "base/base.h"

struct clock {
	uint64_t (*monotonic_ns)(void *ctx); /* for durations and deadlines */
	uint64_t (*unix_ms)(void *ctx);      /* for `meta` only */
	void *ctx;
};

struct clock clock_real(void);

/* RFC 3339 in UTC with milliseconds: 2026-01-31T23:59:59.123Z */
void clock_format(uint64_t unix_ms, char out[32]);
