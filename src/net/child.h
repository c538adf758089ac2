/* A child process with a line protocol over stdin and stdout. While anything on the same io
   waits, its lines and stderr are read, so it never blocks on a full pipe. It runs in its own
   process group: Ctrl-C at the terminal reaches only us, and we close it. It inherits stdin,
   stdout and stderr, nothing else (no variable either), and never outlives us, even if we are killed: the whole group
   is killed with it. */
#ifndef ROLLDBG_NET_CHILD_H
#define ROLLDBG_NET_CHILD_H

#include "base/buf.h"
#include "net/io.h"

struct child_conf {
	const char *command;    /* for sh -c */
	char *const *variables; /* its environment, "NAME=value", NULL at the end; NULL: empty */
	size_t max_line;        /* cap of one line; 0: BUF_MAX_MESSAGE */
};

struct child;

/* 0: a shell has been started; whether it finds the command shows in how it ends (127:
   not found). -1: FAIL_SYSTEM. Borrows nothing but io. */
MUST_USE int child_start(struct io *io, const struct child_conf *conf, struct child **out,
                         struct error *err);

/* Queues one line (LF is added) and writes what it can without waiting. False: the child has
   not read the earlier input, and the queue is full. Does nothing if it has exited: child_receive
   reports that. */
bool child_send(struct child *c, struct str line);

/* 1: the oldest line not yet taken, without its LF (or CRLF), valid until the next
   child_receive. 0: there will be no more, and child_why() says why. -1: FAIL_TIMEOUT,
   FAIL_INTERRUPTED, FAIL_SYSTEM, or FAIL_PROTOCOL for a line over the cap, which is left
   out: the next call goes on behind it. timeout_ms 0 does not wait; UINT64_MAX: no limit.
 */
MUST_USE int child_receive(struct child *c, struct str *line, uint64_t timeout_ms,
                           struct error *err);

/* The same without any waiting: 1, 0: there is none by now, or -1 for a line over the
   cap. */
MUST_USE int child_next(struct child *c, struct str *line, struct error *err);

/* How it ended, such as "exited with status 1" or "was ended by signal 11 (Segmentation
   fault)"; "" while lines may come. */
const char *child_why(const struct child *c);
bool child_not_found(const struct child *c); /* the shell knew no such command */

/* What it wrote to stderr since child_forget_words: whole lines (the last one once it has ended), the newest 64 KiB. */
struct str child_words(const struct child *c);
uint64_t child_words_lost(const struct child *c); /* bytes that were dropped before */
void child_forget_words(struct child *c);
/* The last line of stderr that is not empty, whenever it came, cut to a sentence. */
struct str child_last_words(const struct child *c);

/* Closes its stdin and waits until it has ended, at most 2 s; then SIGTERM, and after 1 s
   SIGKILL, to all of its group. */
void child_stop(struct child *c);
/* Frees; one that still runs is killed at once. NULL is fine. */
void child_free(struct child *c);

#endif
