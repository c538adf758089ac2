/* Moves bytes: see relay.h. What arrives is sent on at once; what the other side does not take waits
   in a bounded buffer, and while that is full, nothing more is read. */
#include "tap/relay_internal.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "tap/episode.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#define READ_BYTES    ((size_t)64 << 10)
#define PENDING_BYTES ((size_t)256 << 10) /* at which the other side is no longer read */
/* One read can add this much more: the bytes, a head that was held, what is rewritten. */
#define PENDING_MAX (PENDING_BYTES + READ_BYTES + 4 * BUF_MAX_SMALL)
#define EVENTS      256
#define ROUNDS      4 /* reads of one connection in a row */

struct end *relay_other(const struct end *e)
{
	return &e->conn->ends[e->side == TAP_CLIENT ? TAP_SERVER : TAP_CLIENT];
}

/* ---- what is watched ---- */

void relay_watch(struct relay *r, struct end *e, int fd, short events)
{
	if (events == e->watched || fd < 0)
		return;
	readiness_watch(r->readiness, fd, e->watched, events, e);
	e->watched = events;
}

static bool is_connecting(const struct end *e)
{
	return e->side == TAP_SERVER && e->stream &&
	       stream_continue(e->stream) == STREAM_CONNECTING;
}

/* While a request is delayed, no other one is read. */
static bool may_read(const struct end *e)
{
	const struct end *to = relay_other(e);

	return !e->over && to->pending.n < PENDING_BYTES && !(e->side == TAP_CLIENT && to->due_ns);
}

static void watch_end(struct relay *r, struct end *e, bool connecting)
{
	bool writes = connecting || (e->pending.n > 0 && !e->due_ns);
	bool reads = !connecting && may_read(e);
	/* one that is neither read nor written is not watched: its loss would be reported for ever */
	short events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));

	if (e->stream)
		relay_watch(r, e, stream_fd(e->stream), events);
}

/* ---- the end of a connection ---- */

void relay_release(struct relay *r, struct conn *c)
{
	c->ends[TAP_CLIENT].due_ns = 1; /* long ago */
	r->polled++;
}

static void bury(struct relay *r, struct conn *c)
{
	if (c->dead)
		return;
	c->dead = true;
	*(c->previous ? &c->previous->next : &r->first) = c->next;
	if (c->next)
		c->next->previous = c->previous;
	c->next = r->dead;
	r->dead = c;
	if (c->peer) {
		c->peer->peer = NULL;
		if (c->own) /* the question is settled */
			relay_release(r, c->peer);
	}
}

static void free_conn(struct relay *r, struct conn *c, bool stopped)
{
	bool reset = c->ends[TAP_CLIENT].lost || c->ends[TAP_SERVER].lost;

	tap_flow_free(c->flow, stopped);
	fault_bytes_free(c->faults);
	ws_copy_release(&c->answered);
	for (int i = 0; i < 2; i++) {
		struct end *e = &c->ends[i];

		if (e->stream)
			relay_watch(r, e, stream_fd(e->stream), 0);
		stream_close(e->stream, reset);
		buf_release(&e->pending);
	}
	free(c);
}

/* ---- sending ---- */

void relay_lose(struct end *e)
{
	if (!e->over && e->conn->flow)
		(void)tap_flow_ended(e->conn->flow, e->side, true);
	e->over = e->lost = true;
	buf_release(&e->pending);
}

static void flush(struct end *e)
{
	while (e->pending.n && !e->lost && !e->due_ns) {
		ptrdiff_t n = stream_send(e->stream, buf_view(&e->pending));

		if (n == STREAM_AGAIN)
			return;
		if (n == STREAM_LOST) {
			relay_lose(e);
			return;
		}
		buf_drop(&e->pending, (size_t)n);
	}
	if (!e->pending.n) {
		buf_release(&e->pending);
		e->pending = BUF(PENDING_MAX);
	}
}

void relay_send(struct end *e, struct str bytes)
{
	if (!e->stream || e->lost || e->shut || (e->conn->unreachable && e->side == TAP_SERVER))
		return;
	if (!e->pending.n && !is_connecting(e) && !e->due_ns) {
		ptrdiff_t n = bytes.n ? stream_send(e->stream, bytes) : 0;

		if (n == STREAM_LOST) {
			relay_lose(e);
			return;
		}
		bytes = str_skip(bytes, n > 0 ? (size_t)n : 0);
	}
	buf_str(&e->pending, bytes);
}

/* The server accepts no connection: a request gets an answer that says so. */
static void reply_unreachable(struct relay *r, struct conn *c)
{
	struct end *client = &c->ends[TAP_CLIENT];

	if (!tap_flow_awaits_reply(c->flow) || client->shut)
		return;
	buf_clear(&r->out);
	buf_printf(&r->out, "rolldbg tap: cannot connect to %s: %s\n",
	           stream_server_authority(c->server), stream_why(c->ends[TAP_SERVER].stream));
	size_t length = r->out.n;
	AUTO_BUF reply = BUF(BUF_MAX_SMALL);

	buf_printf(&reply,
	           "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain\r\n"
	           "Content-Length: %zu\r\nConnection: close\r\n\r\n",
	           length);
	buf_str(&reply, buf_view(&r->out));
	relay_send(client, buf_view(&reply));
	client->over = true;
	c->ends[TAP_SERVER].over = true;
}

/* ---- receiving ---- */

static void end_side(struct relay *r, struct end *e, bool lost)
{
	if (e->conn->faults && e->side == TAP_SERVER)
		relay_pass_to_client(r, e->conn, fault_bytes_ended(e->conn->faults));
	struct str held = e->conn->flow ? tap_flow_ended(e->conn->flow, e->side, lost) : STR_NONE;

	relay_ask(r, e->conn);
	e->over = true;
	e->lost |= lost;
	if (!lost && held.n)
		relay_send(relay_other(e), held);
}

/* Returns false if nothing more can be read now. */
static bool read_once(struct relay *r, struct end *e)
{
	ptrdiff_t n = stream_receive(e->stream, r->room, READ_BYTES);

	if (n == STREAM_AGAIN) {
		e->more = false;
		return false;
	}
	if (n <= 0) {
		end_side(r, e, n == STREAM_LOST);
		return false;
	}
	struct str bytes = {r->room, (size_t)n};
	relay_pass(r, e, bytes);
	if (e->conn->unreachable)
		reply_unreachable(r, e->conn);
	return (size_t)n == READ_BYTES || stream_server_is_tls(e->conn->server);
}

static void read_end(struct relay *r, struct end *e)
{
	e->more = true;
	for (int i = 0; i < ROUNDS && may_read(e); i++) {
		if (!read_once(r, e)) {
			e->more = false;
			return;
		}
	}
}

/* ---- one connection's turn ---- */

static void begin_unreachable(struct relay *r, struct conn *c)
{
	struct end *server = &c->ends[TAP_SERVER];

	c->unreachable = true;
	buf_release(&server->pending);
	tap_flow_unreachable(c->flow, stream_why(server->stream));
	reply_unreachable(r, c);
}

/* The end of one side is passed on once all that it sent has been. */
static void pass_end(struct end *e)
{
	struct end *to = relay_other(e);

	if (e->over && !to->shut && !to->pending.n && to->stream && !to->lost) {
		stream_shut(to->stream);
		to->shut = true;
	}
}

static bool is_finished(const struct conn *c)
{
	const struct end *client = &c->ends[TAP_CLIENT], *server = &c->ends[TAP_SERVER];

	if (client->lost || server->lost) /* the other gets what is left, then a reset */
		return (client->lost || !client->pending.n) && (server->lost || !server->pending.n);
	return client->over && server->over && !client->pending.n && !server->pending.n;
}

void relay_settle(struct relay *r, struct conn *c)
{
	struct end *client = &c->ends[TAP_CLIENT], *server = &c->ends[TAP_SERVER];

	if (!c->server) {
		if (client->over)
			bury(r, c);
		else
			watch_end(r, client, false);
		return;
	}
	enum stream_state state = c->unreachable ? STREAM_FAILED : stream_continue(server->stream);

	if (state == STREAM_FAILED && !c->unreachable)
		begin_unreachable(r, c);
	if (state == STREAM_OPEN)
		pass_end(client);
	pass_end(server);
	if (is_finished(c) || (c->unreachable && client->over && !client->pending.n)) {
		bury(r, c);
		return;
	}
	if (c->own && (server->over || tap_flow_is_idle(c->flow))) {
		bury(r, c);
		return;
	}
	if (c->asking && server->over) {
		c->asking = false;
		client->due_ns = 0;
	}
	watch_end(r, client, false);
	watch_end(r, server, state == STREAM_CONNECTING);
	r->polled += client->due_ns || server->due_ns ||
	             (state == STREAM_CONNECTING && stream_fd(server->stream) < 0);
}

static void serve(struct relay *r, struct end *e, short events)
{
	struct conn *c = e->conn;

	if (c->dead)
		return;
	bool connecting = is_connecting(e);
	if (!connecting && e->stream && !(c->unreachable && e->side == TAP_SERVER)) {
		if (events & POLLOUT || e->pending.n)
			flush(e);
		if (events & (POLLIN | POLLHUP | POLLERR) && may_read(e))
			read_end(r, e);
		if (relay_other(e)->more && may_read(relay_other(e)))
			read_end(r, relay_other(e));
	}
	relay_settle(r, c);
}

/* ---- new connections ---- */

static uint16_t port_of(const struct sockaddr_storage *a)
{
	struct sockaddr_in in = {0};

	if (a->ss_family == AF_INET)
		memcpy(&in, a, sizeof(in));
	return ntohs(in.sin_port);
}

/* Without a free descriptor, clients wait until the next tick. */
static bool none_accepted(struct relay *r)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		relay_watch(r, &r->listener, r->conf->listener, 0);
		if (!r->full)
			log_warn("%s: new connections have to wait", strerror(errno));
		r->full = true;
	}
	return false;
}

struct conn *relay_new_conn(struct relay *r)
{
	struct conn *c = mem_new(sizeof(*c));

	for (int side = TAP_CLIENT; side <= TAP_SERVER; side++)
		c->ends[side] = (struct end){.conn = c, .side = side, .pending = BUF(PENDING_MAX)};
	c->next = r->first;
	if (r->first)
		r->first->previous = c;
	r->first = c;
	return c;
}

/* False: there is none. */
static bool accept_one(struct relay *r, int listener, struct stream_server *server)
{
	struct sockaddr_storage from = {0};
	socklen_t n = sizeof(from);
	int fd = accept(listener, (struct sockaddr *)&from, &n);

	if (fd < 0)
		return none_accepted(r);
	struct conn *c = relay_new_conn(r);
	c->ends[TAP_CLIENT].stream = stream_adopt(fd);
	c->port = port_of(&from);
	if (server)
		relay_connect(r, c, server, NULL);
	relay_settle(r, c);
	return true;
}

/* ---- the loop ---- */

static void serve_event(struct relay *r, const struct ready *ready)
{
	struct end *e = ready->data;

	if (e->conn) {
		serve(r, e, ready->events);
	} else if (e == &r->listener) {
		while (accept_one(r, r->conf->listener,
		                  relay_shares_port(r) ? NULL : r->conf->server)) {
		}
	} else if (e == &r->model_listener) {
		while (accept_one(r, r->conf->model_listener, r->conf->model)) {
		}
	} else if (e == &r->stop) {
		r->over |= !r->conf->on_stop(r->conf->ctx);
	} else if (!r->conf->on_wake(r->conf->ctx)) {
		r->over = true;
	}
}

/* Connections through libcurl have no descriptor until they are open; what is delayed is not watched. */
static void poll_others(struct relay *r)
{
	struct conn *next;

	if (!r->polled)
		return;
	r->polled = 0;
	for (struct conn *c = r->first; c; c = next) {
		next = c->next;
		for (int i = 0; i < 2; i++) {
			struct end *e = &c->ends[i];
			bool delayed = e->due_ns;

			e->due_ns = relay_now_ns(r) >= e->due_ns ? 0 : e->due_ns;
			if (delayed && !e->due_ns && c->own) {
				bury(r, c);
				break;
			}
			if (delayed ||
			    (i == TAP_SERVER && c->server && !c->unreachable && !e->watched))
				serve(r, e, POLLOUT);
		}
	}
}

static void free_dead(struct relay *r)
{
	while (r->dead) {
		struct conn *c = r->dead;

		r->dead = c->next;
		free_conn(r, c, false);
	}
}

static int loop(struct relay *r, struct error *err)
{
	struct ready ready[EVENTS];
	uint64_t tick_ns = 0;

	while (!r->over) {
		uint64_t now = relay_now_ns(r);

		if (now >= tick_ns) {
			relay_watch(r, &r->listener, r->conf->listener, POLLIN);
			relay_watch(r, &r->model_listener, r->conf->model_listener, POLLIN);
			r->over |= !r->conf->on_tick(r->conf->ctx);
			tick_ns = now + r->conf->tick_ms * 1000000;
		}
		int wait = (int)((tick_ns - now) / 1000000) + 1;
		int n = readiness_wait(r->readiness, ready, EVENTS,
		                       r->polled && wait > STREAM_POLL_MS ? STREAM_POLL_MS : wait);

		if (n < 0 && errno != EINTR)
			return error_errno(err, "cannot wait for connections");
		for (int i = 0; i < n; i++)
			serve_event(r, &ready[i]);
		poll_others(r);
		free_dead(r);
	}
	return 0;
}

int tap_relay(const struct tap_relay_conf *conf, struct error *err)
{
	struct relay r = {.conf = conf,
	                  .readiness = readiness_new(),
	                  .room = mem_new(READ_BYTES),
	                  .out = BUF(PENDING_MAX)};

	if (!r.readiness) {
		free(r.room);
		return error_errno(err, "cannot wait for connections");
	}
	r.reader = tap_reader_new(conf->clock, conf->recording);
	relay_watch(&r, &r.stop, conf->stop_fd, POLLIN);
	relay_watch(&r, &r.wake, conf->wake_fd, POLLIN);
	int failed = loop(&r, err);
	while (r.first) {
		struct conn *c = r.first;

		r.first = c->next;
		free_conn(&r, c, true);
	}
	tap_reader_free(r.reader);
	buf_release(&r.out);
	free(r.room);
	readiness_free(r.readiness);
	return failed;
}
