/* What one rollout waits with: one libcurl multi handle, the stop signal, a few watched
   descriptors. Every call blocks until its answer, its deadline or an interrupt, and
   serves the watched descriptors meanwhile. Belongs to one thread. */
#ifndef ROLLDBG_NET_IO_H
#define ROLLDBG_NET_IO_H

#include "base/clock.h"
#include "base/error.h"

struct io;

struct io_conf {
	struct clock clock;
	int stop_fd; /* readable once the user wants us to stop (an eventfd nobody
	                drains); -1: none */
	const char *user_agent; /* borrowed; NULL: "rolldbg" */
	const char *ca_file;    /* borrowed; NULL: libcurl's default */
	bool insecure;          /* accept any TLS certificate */
};

/* Once per process, before the first thread; and at its end. */
MUST_USE int io_global_init(struct error *err);
void io_global_cleanup(void);

MUST_USE int io_new(const struct io_conf *conf, struct io **out, struct error *err);
void io_free(struct io *io); /* after the http_end of every exchange; NULL is fine */

/* Gives back what is kept for the next request: idle connections, handles, memory. All of
   it comes again with the next request; worth it before a long wait. */
void io_rest(struct io *io);

uint64_t io_now_ns(const struct io *io);

/* Has the user asked us to stop? */
bool io_stopped(const struct io *io);
/* From now on stop_fd is not looked at: for the goodbye after an interrupt, which has its
 * own deadline. */
void io_ignore_stop(struct io *io);
/* And again it is, as in a new one: the next rollout begins. */
void io_heed_stop(struct io *io);

/* From now on no wait is longer than that, whatever its own deadline: for goodbyes that a
   peer who answers none of them has had enough of. UINT64_MAX: as before. */
void io_hurry(struct io *io, uint64_t longest_ms);

/* Called inside some io_* or http_* call of this thread when fd is ready (POLLIN/POLLOUT
   bits). -1 with err set ends that call. */
typedef int io_fd_fn(void *arg, int fd, short ready, struct error *err);
void io_watch(struct io *io, int fd, short want, io_fd_fn *fn,
              void *arg); /* want 0: no more */

/* Called at the beginning of each wait of this io, whoever waits and for what: for what a
   peer may say at any time. It does what there is to do, one piece of it, waiting itself
   only for a short time, and lowers *wake_ns (by io_now_ns) to when it wants to be called
   again although nothing came. 1: it did something, 0: there was nothing; -1 with err set
   ends that wait. While one runs none is called. */
typedef int io_tend_fn(void *arg, uint64_t *wake_ns, struct error *err);
void io_tend(struct io *io, io_tend_fn *fn, void *arg);
void io_tend_no_more(struct io *io, const void *arg);

/* Waits until *done (NULL: never), an interrupt (FAIL_INTERRUPTED) or the timeout, which
   is a success for a NULL done, else FAIL_TIMEOUT. timeout_ms 0 serves what is ready and
   does not wait; UINT64_MAX: none. */
MUST_USE int io_wait(struct io *io, const bool *done, uint64_t timeout_ms,
                     struct error *err);

#endif
