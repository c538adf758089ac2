/* Errors and their exit codes: see error.h. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *e, enum fail kind, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	e->kind = kind;
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	return -1;
}

int error_wrap(struct error *e, const char *fmt, ...)
{
	char inner[sizeof(e->text)];
	va_list args;

	memcpy(inner, e->text, sizeof(inner));
	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	/* a text that does not fit loses its end: the context in front names the place */
	size_t n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", inner);
	return -1;
}

int error_errno(struct error *e, const char *fmt, ...)
{
	int number = errno;
	char what[320], why[96];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (strerror_r(number, why, sizeof(why)) != 0)
		snprintf(why, sizeof(why), "error %d", number);
	return number == EINTR ? error_set(e, FAIL_INTERRUPTED, "%s: interrupted", what)
	                       : error_set(e, FAIL_SYSTEM, "%s: %s", what, why);
}

int error_from_peer(struct error *e)
{
	if (e->kind == FAIL_USAGE || e->kind == FAIL_INPUT)
		e->kind = FAIL_PROTOCOL;
	return -1;
}

bool error_is_peers(const struct error *e)
{
	return e->kind == FAIL_TRANSPORT || e->kind == FAIL_TIMEOUT || e->kind == FAIL_PROTOCOL;
}

int fail_exit_code(enum fail kind)
{
	switch (kind) {
	case FAIL_NONE:
		return 0;
	case FAIL_USAGE:
		return 2;
	case FAIL_INPUT:
		return 3;
	case FAIL_TRANSPORT:
	case FAIL_TIMEOUT:
	case FAIL_PROTOCOL:
		return 4;
	case FAIL_SYSTEM:
		return 5;
	case FAIL_INTERRUPTED:
		return 130;
	}
	return 5;
}
