/* What becomes of the bytes that arrive at the relay: see relay_internal.h. */
#include "tap/relay_internal.h"

#include "tap/episode.h"
#include "tap/model_turn.h"

#include <string.h>

uint64_t relay_now_ns(const struct relay *r)
{
	return r->conf->clock.monotonic_ns(r->conf->clock.ctx);
}

void relay_pass_to_client(struct relay *r, struct conn *c, struct str bytes)
{
	if (bytes.n) {
		relay_send(&c->ends[TAP_CLIENT],
		           tap_flow_pass(c->flow, TAP_SERVER, bytes, &r->out));
		tap_flow_tell(c->flow);
	}
}

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
		c->due_ns = out.wait ? relay_now_ns(r) + tap_engine_delay_ns(r->conf->faults) : 0;
		relay_send(server, out.to_server);
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

/* Our questions are told to the decoders as if they were the client's. */
static void relay_asking(struct relay *r, struct end *e, struct str bytes)
{
	struct conn *c = e->conn;
	struct end *server = &c->ends[TAP_SERVER];
	bool filtered = e->side == TAP_SERVER && tap_flow_is_socket(c->flow);

	bytes = tap_flow_pass(c->flow, e->side, bytes, &r->out);
	if (filtered) {
		buf_clear(&r->out); /* of a WebSocket the bytes are passed as they are */
		ask_state_filter(&c->asking, bytes, &r->out);
	}
	relay_send(relay_other(e), filtered ? buf_view(&r->out) : bytes);
	tap_flow_tell(c->flow);
	buf_clear(&r->out);
	if (tap_recording_took_request(r->conf->recording) && tap_flow_is_complete(c->flow) &&
	    ask_state_put(&c->asking, tap_flow_messages(c->flow, TAP_CLIENT), &r->out)) {
		struct buf none = BUF(0);

		relay_send(server, buf_view(&r->out));
		(void)tap_flow_pass(c->flow, TAP_CLIENT, buf_view(&r->out), &none);
		tap_flow_tell(c->flow);
	}
}

bool relay_shares_port(const struct relay *r)
{
	return r->conf->model && r->conf->model_listener < 0;
}

void relay_connect(struct relay *r, struct conn *c, struct stream_server *server)
{
	c->server = server;
	c->ends[TAP_SERVER].stream = stream_connect(server);
	c->flow = tap_flow_new(server == r->conf->model ? r->model_reader : r->reader, c->port);
	fault_bytes_free(c->faults);
	c->faults = r->conf->faults && server == r->conf->server ? fault_bytes_new(r->conf->faults)
	                                                         : NULL;
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
	relay_connect(r, c, wanted);
}

void relay_pass(struct relay *r, struct end *e, struct str bytes)
{
	if (e->side == TAP_CLIENT && relay_shares_port(r))
		choose_server(r, e->conn, bytes);
	if (e->conn->faults) {
		relay_with_faults(r, e, bytes);
	} else if (r->conf->ask_state && e->conn->server == r->conf->server) {
		relay_asking(r, e, bytes);
	} else {
		relay_send(relay_other(e), tap_flow_pass(e->conn->flow, e->side, bytes, &r->out));
		tap_flow_tell(e->conn->flow);
	}
}
