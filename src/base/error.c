/* Errors and their exit codes: see error.h. */
#include "base/error.h"

#include "base/buf.h"

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
	int n;

	memcpy(inner, e->text, sizeof(inner));
	va_start(args, fmt);
	n = vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	/* a text that does not fit loses its end, because the context in front names the
	   place */
	struct buf text = BUF(2 * sizeof(inner));
	buf_printf(&text, "%s: %s", n < 0 ? "" : e->text, inner);
	size_t keep = text.n < sizeof(e->text) ? text.n : sizeof(e->text) - 1;
	memcpy(e->text, buf_cstr(&text), keep);
	e->text[keep] = '\0';
	buf_release(&text);
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
