/* A failure on our side. (A server's misbehavior is data: see recording/words.h.) An error is
   created where it occurs, wrapped with context on the way up, and printed once, in main, which
   also picks the exit code. Messages are lower case without a full stop, quote the user's input,
   and name the fix if it is known. */
#pragma once

#include "base/base.h"
#include <stdarg.h>

enum fail {
	FAIL_NONE,
	FAIL_USAGE,       /* exit 2: the command line */
	FAIL_INPUT,       /* exit 3: a recording, policy or configuration that cannot be used */
	FAIL_TRANSPORT,   /* exit 4: the peer was not reached, or the connection was lost */
	FAIL_TIMEOUT,     /* exit 4: no reply in time */
	FAIL_PROTOCOL,    /* exit 4: the peer was reached, but does not use the protocol */
	FAIL_SYSTEM,      /* exit 5: disk full, no permission, no memory */
	FAIL_INTERRUPTED, /* exit 130 */
};

/* Lives on the caller's stack, so that reporting a failure never allocates. */
struct error {
	enum fail kind;
	char text[480];
};

/* For a call whose failure does not matter. */
#define ERROR_IGNORED (&(struct error){.kind = FAIL_NONE})

/* Both return -1, so that a function can end with `return error_set(...)`. */
int error_set(struct error *e, enum fail kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
int error_wrap(struct error *e, const char *fmt, ...)
	PRINTF_LIKE(2, 3); /* prepends the context and ": " */

/* error_set(e, FAIL_SYSTEM, "<what>: <strerror(errno)>"); EINTR is FAIL_INTERRUPTED. */
int error_errno(struct error *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Changes a usage or input error caused by a peer's bytes to FAIL_PROTOCOL, because a peer can
   break neither the command line nor our files. Returns -1. */
int error_from_peer(struct error *e);

/* Did the peer cause it: a connection, a timeout or a protocol that failed? */
bool error_is_peers(const struct error *e);

/* The exit code of a program that fails with this kind of error. */
int fail_exit_code(enum fail kind);
