/* The epoll thread of the WebSockets: see sockets.h. Bytes and timers only: openenv.c makes the
   replies, frames.c the frames. */
#include "serve/host/sockets.h"

#include "base/log.h"
#include "base/mem.h"
#include "serve/host/frames.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define NS_PER_MS        1000000u
#define SCRATCH          ((size_t)64 << 10) /* bytes per read */
#define EVENTS           64
#define INBOX_MAX        32 /* queued messages: the limit of uvicorn's websockets library */
#define ANSWER_MAX       ((size_t)48 << 20)
#define CLOSE_TIMEOUT_MS 10000 /* until the peer answers a Close or disconnects */
#define CODE_GONE        1011
#define CODE_ENDING      1012

/* Timers, one sorted ring for each kind; new ones usually go to the end. */
enum ring { RING_STEP, RING_PING, RING_CLOSE, RINGS };

struct timer {
	struct timer *prev, *next; /* NULL: not set */
	uint64_t until_ns;
	struct socket *owner;
};

struct socket {
	struct socket *prev, *next;
	struct sockets *all;
	struct MHD_UpgradeResponseHandle *handle; /* NULL: closed */
	int fd;
	uint32_t watched;
	bool closing;       /* a Close was sent, or the peer disconnected: send no more */
	bool awaiting_pong; /* a pong is expected */
	struct timer timers[RINGS];
	struct frames frames;
	struct frame_message *waiting; /* its reply is delayed */
	struct openenv_session session;
	struct buf early, session_id;
};

struct sockets {
	struct openenv *server;
	pthread_t thread;
	pthread_mutex_t lock;              /* protects the next three */
	struct socket *added, *added_last; /* list by .next: not yet seen by the thread */
	bool closed;
	struct socket ring; /* all sockets of the thread */
	struct timer timers[RINGS];
	int epoll, wake;
	char scratch[SCRATCH];
};

/* ---- time ---- */

static uint64_t now_ns(const struct sockets *s)
{
	const struct clock *c = &s->server->conf.clock;

	return c->monotonic_ns(c->ctx);
}

static void timer_stop(struct timer *t)
{
	if (t->next) {
		t->prev->next = t->next;
		t->next->prev = t->prev;
		t->next = t->prev = NULL;
	}
}

static void timer_set(struct socket *k, enum ring which, uint64_t ms)
{
	struct timer *ring = &k->all->timers[which], *t = &k->timers[which];
	struct timer *before;
	uint64_t now = now_ns(k->all);

	timer_stop(t);
	t->owner = k;
	t->until_ns = ms < (UINT64_MAX - now) / NS_PER_MS ? now + ms * NS_PER_MS : UINT64_MAX;
	for (before = ring->prev; before != ring && before->until_ns > t->until_ns;) {
		before = before->prev;
	}
	t->prev = before;
	t->next = before->next;
	t->next->prev = t;
	before->next = t;
}

/* ---- one socket ---- */

static void update_events(struct socket *k)
{
	struct epoll_event e = {.data.ptr = k};

	if (!k->handle) {
		return;
	}
	e.events = (k->frames.count < INBOX_MAX ? EPOLLIN : 0u) |
	           (k->frames.out.n > 0 ? EPOLLOUT : 0u);
	if (e.events != k->watched) {
		epoll_ctl(k->all->epoll, EPOLL_CTL_MOD, k->fd, &e);
		k->watched = e.events;
	}
}

/* Returns the connection to libmicrohttpd, which closes it. */
static void disconnect(struct socket *k)
{
	if (k->handle) {
		epoll_ctl(k->all->epoll, EPOLL_CTL_DEL, k->fd, NULL);
		MHD_upgrade_action(k->handle, MHD_UPGRADE_ACTION_CLOSE);
		k->handle = NULL;
	}
	timer_stop(&k->timers[RING_PING]);
	timer_stop(&k->timers[RING_CLOSE]);
	k->closing = true;
}

static void flush(struct socket *k)
{
	struct buf *out = &k->frames.out;
	size_t sent = 0;

	while (k->handle && sent < out->n) {
		ssize_t n = send(k->fd, out->p + sent, out->n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0 && errno == EAGAIN) {
			break;
		}
		if (n <= 0) {
			disconnect(k);
			break;
		}
		sent += (size_t)n;
	}
	buf_drop(out, sent);
	if (out->n == 0) {
		buf_release(out); /* idle connections keep no buffer */
	}
}

/* The connection ends when the peer has answered the Close. */
static void begin_close(struct socket *k)
{
	k->closing = true;
	timer_stop(&k->timers[RING_PING]);
	timer_set(k, RING_CLOSE, CLOSE_TIMEOUT_MS);
}

/* Ends the connection after a protocol error: a Close, then shutdown. Pending input is still
   read, because closing a socket with unread bytes resets the connection and discards the Close. */
static void fail_connection(struct socket *k)
{
	flush(k);
	if (k->handle) {
		shutdown(k->fd, SHUT_WR);
	}
	begin_close(k);
}

static void send_lines(struct socket *k, struct str lines)
{
	while (lines.n > 0 && !k->closing) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end ? (size_t)(end - lines.p) : lines.n;

		frames_send(&k->frames, (struct str){lines.p, n});
		lines = str_skip(lines, n + 1);
	}
}

static void apply_reply(struct socket *k, struct openenv_reply *r)
{
	send_lines(k, buf_view(&r->late));
	if (r->disconnect) {
		disconnect(k);
	}
	if (r->text.n > 0 && !k->closing) {
		frames_send(&k->frames, buf_view(&r->text));
	}
	if (r->close != 0 && !k->closing) {
		frames_close(&k->frames, r->close, r->reason);
		begin_close(k);
	}
	buf_release(&r->late);
	buf_release(&r->text);
}

/* Answers one message. False: the reply is delayed. */
static bool answer(struct socket *k, struct frame_message *m, bool waited)
{
	struct openenv_reply r = {.late = BUF(ANSWER_MAX), .text = BUF(ANSWER_MAX)};

	openenv_handle_message(&k->session, buf_view(&m->bytes), m->binary, waited, &r);
	if (r.wait_ms > 0) {
		k->waiting = m;
		timer_set(k, RING_STEP, r.wait_ms);
		apply_reply(k, &r);
		return false;
	}
	frame_message_free(m);
	apply_reply(k, &r);
	return true;
}

static void answer_all(struct socket *k)
{
	struct frame_message *m;

	while (!k->waiting && !k->closing && (m = frames_next(&k->frames))) {
		if (!answer(k, m, false)) {
			break;
		}
	}
}

static void forget(struct socket *k)
{
	disconnect(k);
	timer_stop(&k->timers[RING_STEP]);
	k->prev->next = k->next;
	k->next->prev = k->prev;
	openenv_session_close(&k->session);
	frame_message_free(k->waiting);
	frames_release(&k->frames);
	buf_release(&k->early);
	buf_release(&k->session_id);
	free(k);
}

/* Closes the session when its client has disconnected, but not before a running step has
   finished, unless that step never finishes. */
static void flush_or_close(struct socket *k)
{
	flush(k);
	if (k->frames.peer_closed && k->frames.out.n == 0) {
		disconnect(k);
	}
	if (k->closing && (!k->waiting || k->timers[RING_STEP].until_ns == UINT64_MAX)) {
		openenv_session_close(&k->session);
		if (!k->handle) {
			forget(k);
			return;
		}
	}
	frames_trim(&k->frames);
	update_events(k);
}

static void feed(struct socket *k, struct str bytes)
{
	if (k->frames.broken) {
		return; /* read and discarded */
	}
	frames_feed(&k->frames, bytes);
	if (k->frames.pong_received && k->awaiting_pong && !k->closing) {
		k->awaiting_pong = false;
		timer_set(k, RING_PING, k->all->server->conf.ping_ms);
	}
	if (k->frames.broken) {
		fail_connection(k);
	} else if (k->frames.peer_closed) {
		k->closing = true;
	}
}

static void read_input(struct socket *k)
{
	size_t n = SCRATCH;

	while (n == SCRATCH && k->handle && k->frames.count < INBOX_MAX) {
		ssize_t got = recv(k->fd, k->all->scratch, SCRATCH, MSG_DONTWAIT);

		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			return;
		}
		if (got <= 0) {
			disconnect(k);
			return;
		}
		n = (size_t)got;
		feed(k, (struct str){k->all->scratch, n});
	}
}

static void on_ready(struct socket *k, uint32_t ready)
{
	if (ready & EPOLLIN) {
		read_input(k);
	} else if (ready & (EPOLLHUP | EPOLLERR)) {
		disconnect(k);
	}
	answer_all(k);
	flush_or_close(k);
}

/* ---- timers ---- */

static void on_step_timer(struct socket *k)
{
	struct frame_message *m = k->waiting;

	timer_stop(&k->timers[RING_STEP]);
	k->waiting = NULL;
	(void)answer(k, m, true);
	answer_all(k);
	flush_or_close(k);
}

/* Sends a ping, or closes the connection if the pong is missing; other messages do not count as
   a pong. */
static void on_ping_timer(struct socket *k)
{
	const struct serve_conf *c = &k->all->server->conf;

	if (k->awaiting_pong) {
		frames_close(&k->frames, CODE_GONE, "keepalive ping timeout");
		fail_connection(k);
	} else {
		frames_ping(&k->frames);
		k->awaiting_pong = true;
		timer_set(k, RING_PING, c->ping_timeout_ms);
	}
	flush_or_close(k);
}

static void on_close_timer(struct socket *k)
{
	disconnect(k);
	flush_or_close(k);
}

static void (*const on_timer[RINGS])(struct socket *k) = {
	[RING_STEP] = on_step_timer,
	[RING_PING] = on_ping_timer,
	[RING_CLOSE] = on_close_timer,
};

/* Runs all due timers. Returns how long the thread may sleep. */
static int run_timers(struct sockets *s)
{
	uint64_t now = now_ns(s), next = UINT64_MAX;

	for (int i = 0; i < RINGS; i++) {
		struct timer *ring = &s->timers[i];

		while (ring->next != ring && ring->next->until_ns <= now) {
			on_timer[i](ring->next->owner);
		}
		if (ring->next != ring && ring->next->until_ns < next) {
			next = ring->next->until_ns;
		}
	}
	if (next == UINT64_MAX) {
		return -1;
	}
	uint64_t ms = (next - now + NS_PER_MS - 1) / NS_PER_MS;

	return ms < 60000 ? (int)ms : 60000;
}

/* ---- the thread ---- */

static void receive(struct sockets *s, struct socket *k)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = k};
	struct openenv_reply first = {.late = BUF(ANSWER_MAX), .text = BUF(ANSWER_MAX)};

	k->prev = s->ring.prev;
	k->next = &s->ring;
	k->prev->next = s->ring.prev = k;
	frames_init(&k->frames);
	k->watched = EPOLLIN;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, k->fd, &e) != 0) {
		log_warn("serve: cannot watch a WebSocket");
		forget(k);
		return;
	}
	timer_set(k, RING_PING, s->server->conf.ping_ms);
	openenv_open(s->server, &k->session, buf_view(&k->session_id), &first);
	apply_reply(k, &first);
	feed(k, buf_view(&k->early));
	buf_release(&k->early);
	buf_release(&k->session_id);
	on_ready(k, 0);
}

/* False: stop. */
static bool receive_all(struct sockets *s)
{
	pthread_mutex_lock(&s->lock);
	struct socket *k = s->added;
	bool closed = s->closed;

	s->added = NULL;
	pthread_mutex_unlock(&s->lock);
	for (struct socket *next; k; k = next) {
		next = k->next;
		receive(s, k);
	}
	return !closed;
}

static void end_all(struct sockets *s)
{
	for (struct socket *k = s->ring.next, *next; k != &s->ring; k = next) {
		next = k->next;
		if (!k->closing) {
			frames_close(&k->frames, CODE_ENDING, NULL);
			flush(k);
		}
		forget(k);
	}
}

static void *run(void *arg)
{
	struct sockets *s = arg;
	struct epoll_event ready[EVENTS];
	uint64_t wakes;

	while (receive_all(s)) {
		int count = epoll_wait(s->epoll, ready, EVENTS, run_timers(s));

		for (int i = 0; i < count; i++) {
			if (ready[i].data.ptr) {
				on_ready(ready[i].data.ptr, ready[i].events);
			} else if (read(s->wake, &wakes, sizeof(wakes)) < 0) {
				/* only drains the wake-ups: the lists say what to do */
				continue;
			}
		}
	}
	end_all(s);
	return NULL;
}

static void wake_thread(struct sockets *s)
{
	uint64_t one = 1;

	while (write(s->wake, &one, sizeof(one)) < 0 && errno == EINTR) {
	}
}

static int open_epoll(struct sockets *s, struct error *err)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->epoll < 0 || s->wake < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wake, &e) != 0) {
		return error_errno(err, "cannot watch WebSockets");
	}
	return 0;
}

int sockets_start(struct openenv *o, struct sockets **out, struct error *err)
{
	struct sockets *s = mem_new(sizeof(*s));

	s->server = o;
	s->ring.prev = s->ring.next = &s->ring;
	for (int i = 0; i < RINGS; i++) {
		s->timers[i].prev = s->timers[i].next = &s->timers[i];
	}
	pthread_mutex_init(&s->lock, NULL);
	if (open_epoll(s, err) != 0) {
		sockets_free(s);
		return -1;
	}
	errno = pthread_create(&s->thread, NULL, run, s);
	if (errno != 0) {
		error_errno(err, "cannot start a thread");
		sockets_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

void sockets_adopt(struct sockets *s, struct MHD_UpgradeResponseHandle *handle, int fd,
                   struct str early, struct str session_id)
{
	struct socket *k = mem_new(sizeof(*k));
	int yes = 1;

	k->all = s;
	k->handle = handle;
	k->fd = fd;
	k->early = BUF(FRAMES_MESSAGE_MAX);
	k->session_id = BUF(BUF_MAX_SMALL);
	buf_str(&k->early, early);
	buf_str(&k->session_id, session_id);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	pthread_mutex_lock(&s->lock);
	bool closed = s->closed;
	if (!closed && s->added) {
		s->added_last = s->added_last->next = k;
	} else if (!closed) {
		s->added = s->added_last = k;
	}
	pthread_mutex_unlock(&s->lock);
	if (closed) {
		MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
		buf_release(&k->early);
		buf_release(&k->session_id);
		free(k);
		return;
	}
	wake_thread(s);
}

void sockets_close(struct sockets *s)
{
	pthread_mutex_lock(&s->lock);
	s->closed = true;
	pthread_mutex_unlock(&s->lock);
	wake_thread(s);
	pthread_join(s->thread, NULL);
}

void sockets_free(struct sockets *s)
{
	if (s) {
		close(s->epoll);
		close(s->wake);
		pthread_mutex_destroy(&s->lock);
		free(s);
	}
}
