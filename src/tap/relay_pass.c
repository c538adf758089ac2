/* What becomes of the bytes that arrive at the relay: see relay_internal.h. */
#include "tap/relay_internal.h"

#include "tap/episode.h"
#include "tap/model_turn.h"

#include <string.h>

#define ASK_NS                                                                                     \
	(UINT64_C(5) *                                                                             \
	 1000000000) /* how long the client waits for the answer to a question of ours */

uint64_t relay_now_ns(const struct relay *r)
{
	return r->conf->clock.monotonic_ns(r->conf->clock.ctx);
}

/* ---- questions of our own ---- */

static void ask_apart(struct relay *r, struct conn *c, const struct tap_question *q)
{
	struct conn *own = relay_new_conn(r);

	own->own = true;
	own->peer = c;
	c->peer = own;
	own->ends[TAP_CLIENT].due_ns = c->ends[TAP_CLIENT].due_ns; /* then it is given up */
	relay_connect(r, own, c->server, q->asker);
	relay_send(&own->ends[TAP_SERVER],
	           tap_flow_pass(own->flow, TAP_CLIENT, q->request, &r->out));
	tap_flow_tell(own->flow);
	relay_settle(r, own);
}

/* The setting ask-state, on a client's WebSocket: a question of ours goes out when the reply to the client's last message has come, and that
   reply is held until ours has. So the next message of the server is the answer, which does not reach the client. The question is told to
   the decoders as if it were the client's. */
static void ask_within(struct relay *r, struct conn *c, const struct tap_question *q)
{
	/* masking protects proxies that read no WebSocket; a constant will do for a server that is named */
	static const unsigned char mask[4] = {0x2a, 0x51, 0x17, 0x6d};
	AUTO_BUF frame = BUF(2 * BUF_MAX_SMALL), none = BUF(0);

	ws_put_frame(&frame, WS_TEXT, q->request, mask);
	c->asking = true;
	ws_copy_release(&c->answered);
	ws_copy_init(&c->answered, 0);
	relay_send(&c->ends[TAP_SERVER], buf_view(&frame));
	(void)tap_flow_pass(c->flow, TAP_CLIENT, buf_view(&frame), &none);
	tap_flow_tell(c->flow);
}

/* Appends the server's bytes without the answer. */
static void leave_answer_out(struct conn *c, struct str bytes, struct buf *out)
{
	struct ws_part p = {.kind = WS_OTHER};

	ws_copy_feed(&c->answered, bytes);
	while (c->asking && ws_copy_next(&c->answered, &p)) {
		c->asking = p.kind != WS_MESSAGE;
		if (p.first)
			ws_put_frame(out, p.first, p.payload, NULL);
	}
	buf_str(out, c->answered.rest);
}

void relay_ask(struct relay *r, struct conn *c)
{
	struct tap_question q = tap_recording_question(r->conf->recording);

	if (!q.any)
		return;
	if (c->own && c->peer) { /* the answer to one leads to the next: the client waits on */
		c = c->peer;
		c->peer = c->peer->peer = NULL;
	} else if (!c->peer && (q.asker || (!c->asking && tap_flow_is_between_messages(c->flow)))) {
		c->ends[TAP_CLIENT].due_ns = relay_now_ns(r) + ASK_NS;
	} else {
		return;
	}
	if (q.asker)
		ask_apart(r, c, &q);
	else
		ask_within(r, c, &q);
}

/* The decoders are told first, because of their questions. The bytes of a WebSocket are passed as they are, so that the buffer is free. */
void relay_pass_to_client(struct relay *r, struct conn *c, struct str bytes)
{
	bool answers = c->asking;
	AUTO_BUF own = BUF(r->out.max);

	if (!bytes.n)
		return;
	bytes = tap_flow_pass(c->flow, TAP_SERVER, bytes, &own);
	tap_flow_tell(c->flow);
	if (answers) {
		leave_answer_out(c, bytes, &own);
		if (!c->asking)
			relay_release(r, c);
		bytes = buf_view(&own);
	}
	relay_ask(r, c);
	relay_send(&c->ends[TAP_CLIENT], bytes);
}

/* ---- faults ---- */

/* With faults, the decoders are told first: a request decides what becomes of it and of its reply. */
static void relay_with_faults(struct relay *r, struct end *e, struct str bytes)
{
	struct conn *c = e->conn;
	struct end *server = &c->ends[TAP_SERVER];
	struct fault_out out;

	if (e->side == TAP_CLIENT) {
		bytes = tap_flow_pass(c->flow, TAP_CLIENT, bytes, &r->out);
		tap_flow_tell(c->flow);
		fault_bytes_client(c->faults, bytes, tap_flow_is_complete(c->flow), &out);
		server->due_ns = out.wait_ns ? relay_now_ns(r) + out.wait_ns : 0;
		relay_send(server, out.to_server);
	} else if (c->asking) {
		out = (struct fault_out){.from_server = bytes};
	} else {
		fault_bytes_server(c->faults, tap_flow_is_socket(c->flow), bytes, &out);
	}
	relay_pass_to_client(r, c, out.from_server);
	fault_bytes_told(c->faults, tap_flow_is_socket(c->flow));
	if (out.cut) {
		relay_lose(server);
	} else if (out.end && !server->over) {
		(void)tap_flow_ended(c->flow, TAP_SERVER, false);
		server->over = true;
	}
}

/* ---- servers ---- */

bool relay_shares_port(const struct relay *r)
{
	return r->conf->model && r->conf->model_listener < 0;
}

void relay_connect(struct relay *r, struct conn *c, struct stream_server *server, void *asker)
{
	struct tap_rewriting rewriting = {.authority = stream_server_authority(server),
	                                  .tls = stream_server_is_tls(server),
	                                  .set_host = !stream_server_is_loopback(server),
	                                  .to_model = server == r->conf->model};
	bool faulty = r->conf->faults && server == r->conf->server && !c->own;

	c->server = server;
	c->ends[TAP_SERVER].stream = stream_connect(server);
	c->flow = tap_flow_new(r->reader, &rewriting, c->port, asker);
	fault_bytes_free(c->faults);
	c->faults = faulty ? fault_bytes_new(r->conf->faults) : NULL;
}

/* Is the first request one to a model? */
static bool asks_model(struct str bytes)
{
	const char *target = bytes.n ? memchr(bytes.p, ' ', bytes.n) : NULL;
	struct str rest = target ? str_skip(bytes, (size_t)(target + 1 - bytes.p)) : STR("");
	size_t n = 0;

	while (n < rest.n && !strchr(" ?\r\n", rest.p[n]))
		n++;
	return model_owns_path((struct str){rest.p, n});
}

/* Some clients use one connection for both servers: it is then connected to the other one. */
static void choose_server(struct relay *r, struct conn *c, struct str bytes)
{
	struct end *server = &c->ends[TAP_SERVER];
	struct stream_server *wanted = r->conf->server;

	if (c->server && !tap_flow_is_idle(c->flow))
		return;
	wanted = asks_model(bytes) ? r->conf->model : wanted;
	if (wanted == c->server)
		return;
	if (c->server) {
		relay_watch(r, server, stream_fd(server->stream), 0);
		stream_close(server->stream, false);
		tap_flow_free(c->flow, false);
		c->ends[TAP_CLIENT].shut = c->unreachable = false;
		server->over = server->lost = server->shut = server->more = false;
	}
	relay_connect(r, c, wanted, NULL);
}

void relay_pass(struct relay *r, struct end *e, struct str bytes)
{
	if (e->side == TAP_CLIENT && relay_shares_port(r))
		choose_server(r, e->conn, bytes);
	if (e->conn->faults) {
		relay_with_faults(r, e, bytes);
	} else if (e->side == TAP_SERVER && tap_asks(r->conf->recording)) {
		relay_pass_to_client(r, e->conn, bytes);
	} else {
		relay_send(relay_other(e), tap_flow_pass(e->conn->flow, e->side, bytes, &r->out));
		tap_flow_tell(e->conn->flow);
		relay_ask(r, e->conn);
	}
}
