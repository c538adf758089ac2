/* A child process with a line protocol over stdin and stdout. Its lines and stderr are read
   whenever anything on the same io waits, so it never blocks on a full pipe. It runs in its own
   process group: Ctrl-C at the terminal reaches only us, and we stop it. It inherits no
   descriptors except the three pipes, and no environment variables, and never outlives us: even
   if we are killed, the whole group is killed too. */
#pragma once

#include "base/buf.h"
#include "net/io.h"

struct child_conf {
	const char *command;    /* for sh -c */
	char *const *variables; /* its environment, "NAME=value", NULL at the end; NULL: empty */
	size_t max_line;        /* cap of one line; 0: BUF_MAX_MESSAGE */
};

struct child;

/* Returns 0 once a shell has been started; whether the shell finds the command shows in how it
   exits (127: not found). -1: FAIL_SYSTEM. Borrows only io. */
MUST_USE int child_start(struct io *io, const struct child_conf *conf, struct child **out,
                         struct error *err);

/* Queues one line (LF is added) and writes what it can without waiting. Returns false if the
   child has not read the earlier input and the queue is full. Does nothing if the child has
   exited: child_receive reports that. */
bool child_send(struct child *c, struct str line);

/* Returns 1 and the oldest line not yet taken, without its LF (or CRLF), valid until the next
   child_receive; 0 if no more lines will come (child_why() says why); -1 on FAIL_TIMEOUT,
   FAIL_INTERRUPTED, FAIL_SYSTEM, or FAIL_PROTOCOL for a line longer than the cap, which is
   skipped: the next call continues after it. timeout_ms 0 does not wait; UINT64_MAX: no limit. */
MUST_USE int child_receive(struct child *c, struct str *line, uint64_t timeout_ms,
                           struct error *err);

/* The same without waiting. Returns 1 for a line, 0 if there is none yet, -1 for a line longer
   than the cap. */
MUST_USE int child_next(struct child *c, struct str *line, struct error *err);

/* How the child ended, such as "exited with status 1" or "was ended by signal 11 (Segmentation
   fault)"; "" while lines may still come. */
const char *child_why(const struct child *c);
bool child_not_found(const struct child *c); /* the shell did not find the command */

/* What the child wrote to stderr since child_clear_stderr: complete lines (the last line once it
   is complete), the newest 64 KiB. */
struct str child_stderr(const struct child *c);
uint64_t child_stderr_lost(const struct child *c); /* bytes dropped before these */
void child_clear_stderr(struct child *c);
/* The last line of stderr that names an error, of those since child_clear_stderr, else the last that is not
   empty; truncated to one sentence. Not affected by child_clear_stderr itself. */
struct str child_last_stderr_line(const struct child *c);

/* Closes the child's stdin and waits for its exit: at most 2 s; then sends SIGTERM, and after 1
   s SIGKILL, to its process group. */
void child_stop(struct child *c);
/* Sends SIGTERM to its process group, and after 2 s SIGKILL: for a server that does not end with its stdin. */
void child_terminate(struct child *c);
bool child_has_ended(const struct child *c);
/* Frees; kills a child that still runs. NULL is fine. */
void child_free(struct child *c);
