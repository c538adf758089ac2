/*
   The test library: test programs print TAP on standard output.
   Each check takes a name in printf form; a failure prints the place, the actual and the
   expected value. End main with `return done();`. One translation unit per program includes this.
 */
#pragma once

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ok(cond, ...)          tap_ok((cond) ? 1 : 0, #cond, __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...)                                                                     \
	tap_is_int((intmax_t)(got), (intmax_t)(want), __FILE__, __LINE__, __VA_ARGS__)

static int tap_count, tap_failures;

__attribute__((format(printf, 2, 0))) static inline int tap_line(int good, const char *name,
                                                                 va_list ap)
{
	tap_failures += !good;
	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	vprintf(name, ap);
	putchar('\n');
	/* flushed, so that a crash does not lose lines and a fork does not print them twice */
	fflush(stdout);
	return good;
}

/* One diagnostic line; control bytes escaped so that it stays one. */
static inline void tap_note(const char *what, const char *text)
{
	fprintf(stderr, "#   %s: ", what);
	for (const char *p = text ? text : "(null)"; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			fprintf(stderr, "\\x%02x", (unsigned)*p);
		else
			fputc(*p, stderr);
	fputc('\n', stderr);
}

__attribute__((format(printf, 5, 6))) static inline int
tap_ok(int good, const char *cond, const char *file, int line, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	tap_line(good, name, ap);
	va_end(ap);
	if (!good)
		fprintf(stderr, "# failed at %s:%d: %s\n", file, line, cond);
	return good;
}

__attribute__((format(printf, 5, 6))) static inline int
tap_is_str(const char *got, const char *want, const char *file, int line, const char *name, ...)
{
	int good = got && want ? strcmp(got, want) == 0 : got == want;
	va_list ap;

	va_start(ap, name);
	tap_line(good, name, ap);
	va_end(ap);
	if (!good) {
		fprintf(stderr, "# failed at %s:%d\n", file, line);
		tap_note("got     ", got);
		tap_note("expected", want);
	}
	return good;
}

__attribute__((format(printf, 5, 6))) static inline int
tap_is_int(intmax_t got, intmax_t want, const char *file, int line, const char *name, ...)
{
	va_list ap;

	va_start(ap, name);
	tap_line(got == want, name, ap);
	va_end(ap);
	if (got != want) {
		fprintf(stderr, "# failed at %s:%d\n#   got     : %jd\n#   expected: %jd\n", file,
		        line, got, want);
	}
	return got == want;
}

/* A check that cannot run on this machine. CI fails unless tests/expected-skips lists the
   reason. */
static inline void skip(const char *reason)
{
	printf("ok %d # skip %s\n", ++tap_count, reason);
	fflush(stdout);
}

/* Prints the plan and returns main's exit code. */
static inline int done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures != 0;
}
