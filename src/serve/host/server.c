/* The server: HTTP requests are answered by exchange_answer or openenv_answer, upgraded connections
   served as WebSockets: openenv.c makes the replies, net/frames.c the frames. */
#include "base/log.h"
#include "base/mem.h"
#include "net/frames.h"
#include "net/handshake.h"
#include "serve/gym/gym.h"
#include "serve/host/host.h"
#include "serve/openenv/openenv.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#define BODY_MAX         ((size_t)4 << 20) /* larger: 413 */
#define REPLY_MAX        ((size_t)32 << 20)
#define CONNECTION_BYTES ((size_t)16 << 10) /* including the header block */
#define SOCKET_BYTES     ((size_t)8 << 10)  /* less for WebSockets, which keep it */

#define NS_PER_MS        1000000u
#define MESSAGE_MAX      ((size_t)16 << 20)
#define SCRATCH          ((size_t)16 << 10) /* bytes per read */
#define INBOX_MAX        32 /* queued messages: the limit of uvicorn's websockets library */
#define ANSWER_MAX       ((size_t)48 << 20)
#define CLOSE_TIMEOUT_MS 10000 /* until the peer answers a Close or disconnects */
#define CODE_GONE        1011
#define CODE_ENDING      1012
#define NEVER            UINT64_MAX

/* ---- one WebSocket and its timers ---- */

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
	BUFS_RELEASE(&r->late, &r->text);
}

/* ---- input ---- */

/* Answers one message, unless its reply is delayed. */
static void answer_frame(struct socket *k, struct frame_message *m, bool waited)
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
		answer_frame(k, m, false);
}

static void feed(struct socket *k, struct str bytes)
{
	if (k->frames.end == FRAMES_BROKEN)
		return; /* read and discarded */
	frames_feed(&k->frames, bytes);
	if (k->frames.pong_received && k->awaiting_pong && !k->closing) {
		k->awaiting_pong = false;
		timer_set(k, TIMER_PING, k->server->conf.ping_ms);
	}
	if (k->frames.end == FRAMES_BROKEN)
		fail_connection(k);
	else if (k->frames.end == FRAMES_CLOSED)
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
		answer_frame(k, m, true);
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
	if (k->frames.end == FRAMES_CLOSED && k->frames.out.n == 0)
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
	frames_init(&k->frames, false, MESSAGE_MAX, 4 * MESSAGE_MAX);
	timer_set(k, TIMER_PING, k->server->conf.ping_ms);
	pthread_mutex_lock(&k->host->lock);
	openenv_open(k->server, &k->session, session_id, &first);
	pthread_mutex_unlock(&k->host->lock);
	apply_reply(k, &first);
	feed(k, early);
}

/* Serves an upgraded connection on the thread of the caller, until it is closed or the host is. early:
   bytes received after the upgrade request; session_id: from the URL. */
static void socket_serve(struct host *h, struct openenv *o, int fd, struct str early,
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

/* ---- requests ---- */

struct server {
	struct gym gym;         /* of MCP */
	struct openenv openenv; /* of OpenEnv, like the sockets */
	struct host host;
};

static bool has_sockets(const struct server *s)
{
	return s->gym.conf.protocol == SERVE_OPENENV;
}

/* Takes ownership of r->body. */
static enum MHD_Result send_reply(struct MHD_Connection *connection, const struct request *q,
                                  struct reply *r)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback(r->body.n, r->body.p, free);

	if (!response)
		return MHD_NO;
	r->body = BUF(REPLY_MAX); /* now owned by the response */
	if (r->type)
		host_add_header(response, "content-type", r->type);
	if (r->stream) {
		host_add_header(response, "cache-control", "no-cache, no-transform");
		host_add_header(response, "transfer-encoding", "chunked");
	}
	if (r->session[0] != '\0')
		host_add_header(response, "mcp-session-id", r->session);
	if (r->allow)
		host_add_header(response, "allow", r->allow);
	if (q->upgrade.n > 0)
		host_add_header(response, "connection", "close");
	return host_send(connection, r->status, response);
}

/* libmicrohttpd calls this in the connection's own thread, and keeps the request meanwhile.
   NOLINTNEXTLINE(readability-function-size): libmicrohttpd requires seven parameters */
static void on_upgrade(void *cls, struct MHD_Connection *connection, void *state, const char *early,
                       size_t early_n, MHD_socket fd, struct MHD_UpgradeResponseHandle *handle)
{
	struct server *s = cls;
	const char *id =
		MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "session_id");

	(void)state;
	if (host_add_socket(&s->host, 1))
		socket_serve(&s->host, &s->openenv, fd, (struct str){early, early_n}, str_from(id));
	MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
	host_add_socket(&s->host, -1);
}

static enum MHD_Result upgrade(struct server *s, struct MHD_Connection *connection,
                               const struct request *q)
{
	struct MHD_Response *response = MHD_create_response_for_upgrade(on_upgrade, s);
	char accept[HANDSHAKE_ACCEPT_MAX];

	if (!response)
		return MHD_NO;
	handshake_accept(q->ws_key, accept);
	host_add_header(response, "Upgrade", "websocket");
	host_add_header(response, "Sec-WebSocket-Accept", accept);
	return host_send(connection, 101, response);
}

/* Repeats the request after each delay that it asks for. False: the server is stopping. */
static bool answer(struct server *s, struct request *q, bool too_large, struct reply *r)
{
	struct origin_refusal refused = origin_refuse(&s->gym.conf.origins, q->origin, q->host);

	for (;;) {
		if (refused.status)
			reply_text(r, refused.status, refused.why);
		else if (too_large)
			reply_text(r, 413, "Request body too large");
		else if (has_sockets(s))
			openenv_answer(&s->openenv, q, r);
		else
			exchange_answer(&s->gym, q, r);
		log_debug("serve: %.*s %.*s: %u", STR_ARG(q->method), STR_ARG(q->path), r->status);
		if (r->action != REPLY_WAIT)
			return true;
		if (!host_wait(&s->host, q->session, r->wait_ms))
			return false;
		q->waited = true;
		buf_release(&r->body);
		*r = (struct reply){.body = BUF(REPLY_MAX)};
	}
}

/* Upgrade only counts if Connection names it (RFC 9110 section 7.8). */
static void read_upgrade(struct MHD_Connection *connection, struct request *q)
{
	struct str options = host_header(connection, "connection");

	for (size_t i = 0; i + 7 <= options.n; i++) {
		if (strncasecmp(options.p + i, "upgrade", 7) == 0) {
			q->upgrade = host_header(connection, "upgrade");
			q->ws_key = host_header(connection, "sec-websocket-key");
			q->ws_version = host_header(connection, "sec-websocket-version");
			return;
		}
	}
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection,
                                  const struct host_request *received)
{
	struct server *s = ctx;
	struct reply r = {.body = BUF(REPLY_MAX)};
	enum MHD_Result result = MHD_NO;
	struct request q = {
		.method = str_from(received->method),
		.path = str_from(received->url),
		.body = buf_view(&received->body),
		.session = host_header(connection, "mcp-session-id"),
		.accept = host_header(connection, "accept"),
		.content_type = host_header(connection, "content-type"),
		.protocol_version = host_header(connection, "mcp-protocol-version"),
		.origin = host_header(connection, "origin"),
		.host = host_header(connection, "host"),
	};

	if (has_sockets(s))
		read_upgrade(connection, &q);
	bool answered = answer(s, &q, received->too_large, &r);
	if (r.ended)
		host_end_session(&s->host, q.session);
	if (answered && r.action == REPLY_UPGRADE)
		result = upgrade(s, connection, &q);
	else if (answered && r.action == REPLY_SEND)
		result = send_reply(connection, &q, &r);
	buf_release(&r.body);
	return result;
}

static void server_free(struct server *s)
{
	host_free(&s->host);
	gym_release(&s->gym);
	openenv_release(&s->openenv);
	free(s);
}

static int start_host(struct server *s, const struct serve_conf *c, struct error *err)
{
	const struct host_conf conf = {.bind = c->bind,
	                               .port = c->port,
	                               .clock = c->clock,
	                               .flags = MHD_ALLOW_UPGRADE,
	                               .connection_bytes =
	                                       has_sockets(s) ? SOCKET_BYTES : CONNECTION_BYTES,
	                               .body_max = BODY_MAX,
	                               .answer = on_request,
	                               .ctx = s};

	return host_start(&s->host, &conf, err);
}

int server_start(const struct serve_conf *c, struct server **out, struct error *err)
{
	if (serve_conf_check(c, err) != 0)
		return -1;
	struct server *s = mem_new(sizeof(*s));
	gym_init(&s->gym, c);
	openenv_init(&s->openenv, c);
	if (start_host(s, c, err) != 0) {
		server_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

uint16_t server_port(const struct server *s)
{
	return s->host.port;
}

void server_url(const struct server *s, struct buf *out)
{
	buf_printf(out, has_sockets(s) ? "ws://127.0.0.1:%u/ws" : "http://127.0.0.1:%u/mcp",
	           s->host.port);
}

uint64_t server_steps(const struct server *s)
{
	return atomic_load(&s->gym.steps) + atomic_load(&s->openenv.steps);
}

void server_stop(struct server *s)
{
	if (s) {
		host_close(&s->host);
		server_free(s);
	}
}
