/* What we could not do. (What a peer did wrong is data: trajectory/outcome.h.)
   The error is made where the facts are, wrapped with context on the way up, and printed
   once, in main, which also picks the exit code. Lower case, no full stop, quotes what
   the user gave, says the cure where it is known. */
#ifndef ROLLDBG_BASE_ERROR_H
#define ROLLDBG_BASE_ERROR_H

#include "base/base.h"
#include <stdarg.h>

enum fail {
	FAIL_NONE,
	FAIL_USAGE,       /* exit 2: the command line */
	FAIL_INPUT,       /* exit 3: a recording, policy or config we cannot use */
	FAIL_TRANSPORT,   /* exit 4: nobody there, or lost */
	FAIL_TIMEOUT,     /* exit 4: no answer in time */
	FAIL_PROTOCOL,    /* exit 4: somebody is there, but does not speak the protocol */
	FAIL_SYSTEM,      /* exit 5: disk full, no permission, no memory */
	FAIL_INTERRUPTED, /* exit 130 */
};

/* Lives on the caller's stack: failing never allocates. */
struct error {
	enum fail kind;
	char text[480];
};

/* Both return -1, so that a function can end with `return error_set(...)`. */
int error_set(struct error *e, enum fail kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
int error_wrap(struct error *e, const char *fmt, ...)
	PRINTF_LIKE(2, 3); /* prefix + ": " */

/* error_set(e, FAIL_SYSTEM, "<what>: <strerror(errno)>") */
int error_errno(struct error *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The exit code of a program that ends with it. */
int fail_exit_code(enum fail kind);

#endif
