/* A queue sorted by due time, and a thread that sleeps until its head is due: see
   suspend_queue.h. */
#include "serve/host/suspend_queue.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define NS_PER_MS 1000000u

struct suspend_queue {
	pthread_t thread;
	pthread_mutex_t lock; /* protects all below */
	struct clock clock;
	struct waiter queue; /* ring sorted by time: .next is due first */
	bool closed;
	int wake[2];
};

static void queue_remove(struct waiter *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
}

static void wake_thread(struct suspend_queue *w)
{
	while (write(w->wake[1], "", 1) < 0 && errno == EINTR) {
	}
}

/* Resumes the connections that are due; returns how long poll() may sleep until the next one,
   rounded up. */
static int resume_due(struct suspend_queue *w)
{
	uint64_t now = w->clock.monotonic_ns(w->clock.ctx);
	struct waiter *first;

	while ((first = w->queue.next) != &w->queue && first->until_ns <= now) {
		queue_remove(first);
		MHD_resume_connection(first->connection);
	}
	if (first == &w->queue || first->until_ns == UINT64_MAX) {
		return -1;
	}
	uint64_t ms = (first->until_ns - now + NS_PER_MS - 1) / NS_PER_MS;

	return ms < 60000 ? (int)ms : 60000;
}

static void *run(void *arg)
{
	struct suspend_queue *w = arg;
	char bytes[64];

	for (;;) {
		pthread_mutex_lock(&w->lock);
		int sleep_ms = resume_due(w);
		bool closed = w->closed;

		pthread_mutex_unlock(&w->lock);
		if (closed) {
			return NULL;
		}
		struct pollfd fd = {.fd = w->wake[0], .events = POLLIN};

		if (poll(&fd, 1, sleep_ms) > 0) {
			ssize_t got = read(w->wake[0], bytes, sizeof(bytes));

			/* only drains the wake-ups: the queue says what to do */
			(void)got;
		}
	}
}

static int open_pipe(int fds[2], struct error *err)
{
	if (pipe(fds) != 0) {
		return error_errno(err, "cannot create a pipe");
	}
	for (int i = 0; i < 2; i++) {
		if (fcntl(fds[i], F_SETFD, FD_CLOEXEC) != 0 ||
		    fcntl(fds[i], F_SETFL, O_NONBLOCK) != 0) {
			error_errno(err, "cannot set up a pipe");
			close(fds[0]);
			close(fds[1]);
			return -1;
		}
	}
	return 0;
}

int suspend_queue_start(struct clock clock, struct suspend_queue **out, struct error *err)
{
	struct suspend_queue *w = mem_new(sizeof(*w));

	w->clock = clock;
	w->queue.prev = w->queue.next = &w->queue;
	if (open_pipe(w->wake, err) != 0) {
		free(w);
		return -1;
	}
	pthread_mutex_init(&w->lock, NULL);
	errno = pthread_create(&w->thread, NULL, run, w);
	if (errno != 0) {
		error_errno(err, "cannot start a thread");
		suspend_queue_free(w);
		return -1;
	}
	*out = w;
	return 0;
}

static uint64_t after(const struct suspend_queue *w, uint64_t wait_ms)
{
	uint64_t now = w->clock.monotonic_ns(w->clock.ctx);

	return wait_ms < (UINT64_MAX - now) / NS_PER_MS ? now + wait_ms * NS_PER_MS : UINT64_MAX;
}

/* True: it is the new head. */
static bool queue_insert(struct suspend_queue *w, struct waiter *r)
{
	struct waiter *before = w->queue.prev;

	while (before != &w->queue && before->until_ns > r->until_ns) {
		before = before->prev;
	}
	r->prev = before;
	r->next = before->next;
	r->next->prev = r;
	before->next = r;
	return before == &w->queue;
}

bool suspend_queue_add(struct suspend_queue *w, struct waiter *waiter,
                       struct MHD_Connection *connection, struct str session, uint64_t wait_ms)
{
	size_t n = session.n < sizeof(waiter->session) ? session.n : 0;
	bool open, first = false;

	waiter->connection = connection;
	waiter->until_ns = after(w, wait_ms);
	memcpy(waiter->session, n ? session.p : "", n);
	waiter->session[n] = '\0';
	pthread_mutex_lock(&w->lock);
	open = !w->closed;
	if (open) {
		MHD_suspend_connection(connection);
		first = queue_insert(w, waiter);
	}
	pthread_mutex_unlock(&w->lock);
	if (first) {
		wake_thread(w);
	}
	return open;
}

static void resume_matching(struct suspend_queue *w, const struct str *session)
{
	for (struct waiter *r = w->queue.next, *next; r != &w->queue; r = next) {
		next = r->next;
		if (!session || str_is(*session, r->session)) {
			queue_remove(r);
			MHD_resume_connection(r->connection);
		}
	}
}

void suspend_queue_end_session(struct suspend_queue *w, struct str session)
{
	pthread_mutex_lock(&w->lock);
	resume_matching(w, &session);
	pthread_mutex_unlock(&w->lock);
}

void suspend_queue_close(struct suspend_queue *w)
{
	pthread_mutex_lock(&w->lock);
	w->closed = true;
	resume_matching(w, NULL);
	pthread_mutex_unlock(&w->lock);
	wake_thread(w);
	pthread_join(w->thread, NULL);
}

bool suspend_queue_closed(struct suspend_queue *w)
{
	pthread_mutex_lock(&w->lock);
	bool closed = w->closed;

	pthread_mutex_unlock(&w->lock);
	return closed;
}

void suspend_queue_free(struct suspend_queue *w)
{
	if (w) {
		close(w->wake[0]);
		close(w->wake[1]);
		pthread_mutex_destroy(&w->lock);
		free(w);
	}
}
