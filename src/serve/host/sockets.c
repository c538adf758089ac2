/* One WebSocket and its timers: see sockets.h. openenv.c makes the replies, frames.c the frames. */
#include "serve/host/sockets.h"

#include "serve/host/frames.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#define NS_PER_MS        1000000u
#define SCRATCH          ((size_t)16 << 10) /* bytes per read */
#define INBOX_MAX        32 /* queued messages: the limit of uvicorn's websockets library */
#define ANSWER_MAX       ((size_t)48 << 20)
#define CLOSE_TIMEOUT_MS 10000 /* until the peer answers a Close or disconnects */
#define CODE_GONE        1011
#define CODE_ENDING      1012
#define NEVER            UINT64_MAX

enum timer { TIMER_STEP, TIMER_PING, TIMER_CLOSE, TIMERS };

struct socket {
	struct host *host;
	struct openenv *server;
	int fd;
	bool gone;          /* disconnected */
	bool failed;        /* to be shut down after the next output */
	bool closing;       /* a Close was sent, or the peer disconnected: send no more */
	bool awaiting_pong; /* a pong is expected */
	uint64_t due[TIMERS];
	struct frames frames;
	struct frame_message *waiting; /* its reply is delayed */
	struct openenv_session session;
};

static uint64_t now_ns(const struct socket *k)
{
	const struct clock *c = &k->server->conf.clock;

	return c->monotonic_ns(c->ctx);
}

static void timer_set(struct socket *k, enum timer which, uint64_t ms)
{
	uint64_t now = now_ns(k);

	k->due[which] = ms < (NEVER - now) / NS_PER_MS ? now + ms * NS_PER_MS : NEVER;
}

/* ---- output ---- */

static void disconnect(struct socket *k)
{
	if (!k->gone)
		shutdown(k->fd, SHUT_RDWR);
	k->gone = k->closing = true;
	k->due[TIMER_PING] = k->due[TIMER_CLOSE] = NEVER;
}

static void flush(struct socket *k)
{
	struct buf *out = &k->frames.out;
	size_t sent = 0;

	while (!k->gone && sent < out->n) {
		ssize_t n = send(k->fd, out->p + sent, out->n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			disconnect(k);
			break;
		}
		sent += (size_t)n;
	}
	buf_drop(out, sent);
	if (out->n == 0)
		buf_release(out); /* idle connections keep no buffer */
}

/* The connection ends when the peer has answered the Close. */
static void begin_close(struct socket *k)
{
	k->closing = true;
	k->due[TIMER_PING] = NEVER;
	timer_set(k, TIMER_CLOSE, CLOSE_TIMEOUT_MS);
}

/* Ends the connection after a protocol error: a Close, then shutdown. Pending input is still
   read, because closing a socket with unread bytes resets the connection and discards the Close. */
static void fail_connection(struct socket *k)
{
	k->failed = true;
	begin_close(k);
}

static void apply_reply(struct socket *k, struct openenv_reply *r)
{
	struct str lines = buf_view(&r->late);

	while (lines.n > 0 && !k->closing) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end ? (size_t)(end - lines.p) : lines.n;

		frames_send(&k->frames, (struct str){lines.p, n});
		lines = str_skip(lines, n + 1);
	}
	if (r->disconnect)
		disconnect(k);
	if (r->text.n > 0 && !k->closing)
		frames_send(&k->frames, buf_view(&r->text));
	if (r->close != 0 && !k->closing) {
		frames_close(&k->frames, r->close, r->reason);
		begin_close(k);
	}
	buf_release(&r->late);
	buf_release(&r->text);
}

/* ---- input ---- */

/* Answers one message, unless its reply is delayed. */
static void answer(struct socket *k, struct frame_message *m, bool waited)
{
	struct openenv_reply r = {.late = BUF(ANSWER_MAX), .text = BUF(ANSWER_MAX)};

	pthread_mutex_lock(&k->host->lock);
	openenv_handle_message(&k->session, buf_view(&m->bytes), m->binary, waited, &r);
	pthread_mutex_unlock(&k->host->lock);
	if (r.wait_ms > 0) {
		k->waiting = m;
		timer_set(k, TIMER_STEP, r.wait_ms);
	} else {
		frame_message_free(m);
	}
	apply_reply(k, &r);
}

static void answer_all(struct socket *k)
{
	struct frame_message *m;

	while (!k->waiting && !k->closing && (m = frames_next(&k->frames)))
		answer(k, m, false);
}

static void feed(struct socket *k, struct str bytes)
{
	if (k->frames.broken)
		return; /* read and discarded */
	frames_feed(&k->frames, bytes);
	if (k->frames.pong_received && k->awaiting_pong && !k->closing) {
		k->awaiting_pong = false;
		timer_set(k, TIMER_PING, k->server->conf.ping_ms);
	}
	if (k->frames.broken)
		fail_connection(k);
	else if (k->frames.peer_closed)
		k->closing = true;
}

static void read_input(struct socket *k)
{
	char bytes[SCRATCH];
	size_t n = SCRATCH;

	while (n == SCRATCH && !k->gone && k->frames.count < INBOX_MAX) {
		ssize_t got = recv(k->fd, bytes, SCRATCH, MSG_DONTWAIT);

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got <= 0) {
			disconnect(k);
			return;
		}
		n = (size_t)got;
		feed(k, (struct str){bytes, n});
	}
}

/* ---- timers ---- */

static bool is_due(struct socket *k, enum timer which)
{
	bool due = k->due[which] != NEVER && k->due[which] <= now_ns(k);

	k->due[which] = due ? NEVER : k->due[which];
	return due;
}

static void run_timers(struct socket *k)
{
	struct frame_message *m = k->waiting;

	if (is_due(k, TIMER_STEP)) {
		k->waiting = NULL;
		answer(k, m, true);
	}
	bool ping = is_due(k, TIMER_PING);

	if (ping && k->awaiting_pong) { /* other messages do not count as a pong */
		frames_close(&k->frames, CODE_GONE, "keepalive ping timeout");
		fail_connection(k);
	} else if (ping) {
		frames_ping(&k->frames);
		k->awaiting_pong = true;
		timer_set(k, TIMER_PING, k->server->conf.ping_timeout_ms);
	}
	if (is_due(k, TIMER_CLOSE))
		disconnect(k);
}

static int sleep_ms(const struct socket *k)
{
	uint64_t now = now_ns(k), next = NEVER;

	for (int i = 0; i < TIMERS; i++)
		next = k->due[i] < next ? k->due[i] : next;
	if (next == NEVER)
		return -1;
	uint64_t ms = next > now ? (next - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	return ms < 60000 ? (int)ms : 60000;
}

/* ---- the thread ---- */

static void close_session(struct socket *k)
{
	pthread_mutex_lock(&k->host->lock);
	openenv_session_close(&k->session);
	pthread_mutex_unlock(&k->host->lock);
}

/* Sends what is to be sent. The session ends before its client can see a Close, but not before a
   running step has finished, unless that step never finishes. False: the connection is over. */
static bool flush_or_close(struct socket *k)
{
	if (k->closing && (!k->waiting || k->due[TIMER_STEP] == NEVER))
		close_session(k);
	flush(k);
	if (k->failed && !k->gone) {
		shutdown(k->fd, SHUT_WR);
		k->failed = false;
	}
	if (k->frames.peer_closed && k->frames.out.n == 0)
		disconnect(k);
	return !k->gone || (k->waiting && k->due[TIMER_STEP] != NEVER);
}

/* False: the host is closed. */
static bool wait_input(struct socket *k)
{
	struct pollfd fds[] = {{.fd = k->host->stop[0], .events = POLLIN},
	                       {.fd = k->gone ? -1 : k->fd}};

	fds[1].events = (short)((k->frames.count < INBOX_MAX ? POLLIN : 0) |
	                        (k->frames.out.n > 0 ? POLLOUT : 0));
	poll(fds, 2, sleep_ms(k));
	if (fds[0].revents)
		return false;
	if (fds[1].revents & POLLIN)
		read_input(k);
	else if (fds[1].revents & (POLLHUP | POLLERR))
		disconnect(k);
	return true;
}

static void begin(struct socket *k, struct str early, struct str session_id)
{
	struct openenv_reply first = {.late = BUF(ANSWER_MAX), .text = BUF(ANSWER_MAX)};
	int yes = 1;

	(void)setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	frames_init(&k->frames);
	timer_set(k, TIMER_PING, k->server->conf.ping_ms);
	pthread_mutex_lock(&k->host->lock);
	openenv_open(k->server, &k->session, session_id, &first);
	pthread_mutex_unlock(&k->host->lock);
	apply_reply(k, &first);
	feed(k, early);
}

void socket_serve(struct host *h, struct openenv *o, int fd, struct str early,
                  struct str session_id)
{
	struct socket k = {.host = h, .server = o, .fd = fd, .due = {NEVER, NEVER, NEVER}};
	bool open = true;

	begin(&k, early, session_id);
	answer_all(&k);
	while (open && flush_or_close(&k)) {
		open = wait_input(&k);
		run_timers(&k);
		answer_all(&k);
	}
	if (!open && !k.closing) {
		frames_close(&k.frames, CODE_ENDING, NULL);
		flush(&k);
	}
	close_session(&k);
	frame_message_free(k.waiting);
	frames_release(&k.frames);
}
