/* For tests of scaling: work is the number of basic blocks executed in the code under test,
   counted by the compiler's instrumentation (see TRACED in the Makefile), so no time is
   measured. The work for 4n may be at most five times that for n. One translation unit per
   program includes it. */
#pragma once

#include "base/buf.h"
#include "tap.h"

#include <stdint.h>

#define N           1000
#define TIMES_WORSE 5 /* n log n for 4n, with a margin */

void __sanitizer_cov_trace_pc(void);

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

/* Replaces the C library's function, whose work is not counted: one block per eight bytes.
   */
void *memmem(const void *in, size_t in_bytes, const void *what, size_t bytes);

void *memmem(const void *in, size_t in_bytes, const void *what, size_t bytes)
{
	const char *p = in, *end = p + in_bytes, *found = bytes ? NULL : p;
	void *result;

	while (!found && (size_t)(end - p) >= bytes) {
		p = memchr(p, *(const char *)what, (size_t)(end - p) - bytes + 1);
		if (!p)
			break;
		found = memcmp(p, what, bytes) == 0 ? p : NULL;
		p++;
	}
	blocks += (uint64_t)((found ? found : end) - (const char *)in) / 8;
	memcpy(&result, &found, sizeof(result)); /* casts const away */
	return result;
}

/* Appends "first", then the row n times with its number in place of each %d (a number between
   commas), then "last". Backwards: from n - 1 to 0. */
static inline void repeat(struct buf *out, const char *first, const char *row, const char *last,
                          int n, bool backwards)
{
	buf_text(out, first);
	for (int i = 0; i < n; i++) {
		int number = backwards ? n - 1 - i : i;

		buf_text(out, i && *first && strchr("{[,", first[strlen(first) - 1]) ? "," : "");
		for (const char *at = row; *at; at++) {
			if (at[0] == '%' && at[1] == 'd') {
				buf_printf(out, "%d", number);
				at++;
			} else {
				buf_char(out, *at);
			}
		}
	}
	buf_text(out, last);
}

static inline struct buf text(void)
{
	return BUF(BUF_MAX_MESSAGE);
}

struct scaling_case {
	const char *what;
	void (*work)(int n);
};

static inline void scales(const char *what, uint64_t few, uint64_t many)
{
	ok(few > 0 && many <= TIMES_WORSE * few, "%s: %.1f times the work for 4 times as many",
	   what, (double)many / (double)few);
}

static inline uint64_t work_of(void (*work)(int n), int n)
{
	blocks = 0;
	work(n);
	return blocks;
}

static inline void scaling_run(const struct scaling_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t few = work_of(cases[i].work, N);

		ok(few > N, "%s: %llu blocks for %d", cases[i].what, (unsigned long long)few, N);
		scales(cases[i].what, few, work_of(cases[i].work, 4 * N));
	}
}
