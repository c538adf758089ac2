/* The directory net/: waiting, HTTP, WebSocket, child processes. The only directory that includes
   curl.h. Retries and the meaning of bytes are handled in protocol/, env/ and policy/. */

/* What one rollout waits on: one libcurl multi handle, the stop signal, and a few watched
   descriptors. Every call blocks until its answer, its deadline or an interrupt, and serves the
   watched descriptors meanwhile. Used by one thread. */
#pragma once

#include "base/clock.h"
#include "base/error.h"

struct io;

struct io_conf {
	struct clock clock;
	/* becomes readable when the user asks to stop (and is not read); -1:
	   none */
	int stop_fd;
	const char *user_agent; /* borrowed; NULL: "rolldbg" */
	const char *ca_file;    /* borrowed; NULL: libcurl's, or the system's */
	bool insecure;          /* accept any TLS certificate */
};

/* Call once per process: before the first thread is started, and at exit. */
MUST_USE int io_global_init(struct error *err);
void io_global_cleanup(void);

MUST_USE int io_new(const struct io_conf *conf, struct io **out, struct error *err);
void io_free(struct io *io); /* call after http_end of every exchange; NULL is fine */

/* Frees what is kept for the next request: idle connections, handles, memory. The next request
   recreates them; worthwhile before a long wait. */
void io_rest(struct io *io);

uint64_t io_now_ns(const struct io *io);
/* The present time plus timeout_ms, which io_cap_waits may shorten. */
uint64_t io_deadline_ns(const struct io *io, uint64_t timeout_ms);
/* Milliseconds until then, rounded up; 0: it has passed; UINT64_MAX: never. */
uint64_t io_left_ms(const struct io *io, uint64_t deadline_ns);

/* Has the user asked us to stop? */
bool io_stopped(const struct io *io);
/* Ignores stop_fd from now on: closing after an interrupt has a deadline of its own. */
void io_ignore_stop(struct io *io);
/* Reverses io_ignore_stop, for the next rollout. */
void io_watch_stop(struct io *io);

/* Caps every wait from now on, whatever its own deadline: for closing many sessions of a peer
   that does not reply. UINT64_MAX: no cap. */
void io_cap_waits(struct io *io, uint64_t longest_ms);

/* Sets a deadline for all following waits together: once it has passed, each fails with
   FAIL_TIMEOUT. UINT64_MAX: none. */
void io_limit(struct io *io, uint64_t timeout_ms);
bool io_limit_passed(const struct io *io);

/* Called inside some io_* or http_* call of this thread when fd is ready (POLLIN/POLLOUT
   bits). -1 with err set ends that call. */
typedef int io_fd_fn(void *arg, int fd, short ready, struct error *err);
/* want 0: stops watching fd */
void io_watch(struct io *io, int fd, short want, io_fd_fn *fn, void *arg);

/* Called at the start of each wait of this io, to handle messages that a peer may send at any
   time. It handles at most one, waits only briefly itself, and lowers *wake_ns (on the clock of
   io_now_ns) to the time of its next call if nothing arrives. Returns 1 if it handled a message,
   0 if there was none; -1 with err set ends the wait. Not called recursively. */
typedef int io_idle_fn(void *arg, uint64_t *wake_ns, struct error *err);
void io_set_idle(struct io *io, io_idle_fn *fn, void *arg);
void io_unset_idle(struct io *io, const void *arg);

/* Waits until *done (NULL: never), an interrupt (FAIL_INTERRUPTED) or the timeout, which is a
   success if done is NULL and FAIL_TIMEOUT otherwise. timeout_ms 0 serves what is ready without
   waiting; UINT64_MAX: no timeout. */
MUST_USE int io_wait(struct io *io, const bool *done, uint64_t timeout_ms, struct error *err);
