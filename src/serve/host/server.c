/* The server: libmicrohttpd with one epoll thread, the only one that accesses the gym. Requests
   are read completely and answered by exchange_answer; delayed ones are suspended, so that they
   do not block others. */
#include "base/log.h"
#include "base/mem.h"
#include "json/scan.h"
#include "net/handshake.h"
#include "serve/gym/exchange.h"
#include "serve/host/cors.h"
#include "serve/host/frames.h"
#include "serve/host/host.h"
#include "serve/host/sockets.h"
#include "serve/openenv/openenv.h"

#include <stdlib.h>
#include <strings.h>

#define BODY_MAX         ((size_t)4 << 20)  /* larger: 413 */
#define BODY_PATIENCE    ((size_t)64 << 20) /* read and discarded: the client gets the 413 */
#define REPLY_MAX        ((size_t)32 << 20)
#define CONNECTION_BYTES ((size_t)16 << 10) /* including the header block */
#define SOCKET_BYTES     ((size_t)8 << 10)  /* less for WebSockets, which keep it */

struct server {
	struct gym gym;         /* of MCP */
	struct openenv openenv; /* of OpenEnv, like the sockets */
	struct sockets *sockets;
	struct host host;
};

/* One request while its body is received and while it waits. */
struct pending_request {
	struct waiter waiter;
	struct buf body;
	size_t received;
	bool waited;
};

static bool has_sockets(const struct server *s)
{
	return s->gym.conf.protocol == SERVE_OPENENV;
}

static void add_location(struct MHD_Response *response, struct str host)
{
	struct buf url = BUF(BUF_MAX_SMALL);

	if (host.n > 0) {
		buf_printf(&url, "http://%.*s", STR_ARG(host));
	}
	buf_text(&url, "/mcp");
	host_add_header(response, "location", buf_cstr(&url));
	buf_release(&url);
}

/* Takes ownership of r->body. */
static enum MHD_Result send_reply(const struct allowed_origins *origins,
                                  struct MHD_Connection *connection, const struct request *q,
                                  struct reply *r)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback(r->body.n, r->body.p, free);

	if (!response) {
		return MHD_NO;
	}
	r->body = BUF(REPLY_MAX); /* now owned by the response */
	if (r->type) {
		host_add_header(response, "content-type", r->type);
	}
	if (r->stream) {
		host_add_header(response, "cache-control", "no-cache, no-transform");
		host_add_header(response, "transfer-encoding", "chunked");
	}
	if (r->session[0] != '\0') {
		host_add_header(response, "mcp-session-id", r->session);
	}
	if (r->allow) {
		host_add_header(response, "allow", r->allow);
	}
	cors_add(response, origins, connection);
	if (q->upgrade.n > 0) {
		host_add_header(response, "connection", "close");
	}
	if (r->redirect) {
		add_location(response, q->host);
	}
	enum MHD_Result sent = MHD_queue_response(connection, r->status, response);

	MHD_destroy_response(response);
	return sent;
}

/* From here on the connection belongs to the sockets' thread until it is closed. libmicrohttpd
   keeps the request until then, so its URL stays valid. NOLINTNEXTLINE(readability-function-
   size): libmicrohttpd requires seven parameters */
static void on_upgrade(void *cls, struct MHD_Connection *connection, void *state, const char *early,
                       size_t early_n, MHD_socket fd, struct MHD_UpgradeResponseHandle *on_request)
{
	struct server *s = cls;
	const char *id =
		MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "session_id");

	(void)state;
	sockets_adopt(s->sockets, on_request, fd, (struct str){early, early_n}, str_from(id));
}

static enum MHD_Result upgrade(struct server *s, struct MHD_Connection *connection,
                               const struct request *q)
{
	struct MHD_Response *response = MHD_create_response_for_upgrade(on_upgrade, s);
	char accept[HANDSHAKE_ACCEPT_MAX];

	if (!response) {
		return MHD_NO;
	}
	handshake_accept(q->ws_key, accept);
	host_add_header(response, "Upgrade", "websocket");
	host_add_header(response, "Sec-WebSocket-Accept", accept);
	enum MHD_Result sent = MHD_queue_response(connection, 101, response);

	MHD_destroy_response(response);
	return sent;
}

static enum MHD_Result answer(struct server *s, struct MHD_Connection *connection,
                              struct pending_request *p, const struct request *q)
{
	struct reply r = {.body = BUF(REPLY_MAX)};
	const struct allowed_origins *origins = &s->gym.conf.origins;
	struct origin_refusal refused = origin_refuse(origins, q->origin, q->host);
	enum MHD_Result result = MHD_NO;

	if (!refused.status && cors_is_preflight(origins, connection, q->method)) {
		return cors_answer_preflight(connection);
	}
	if (refused.status) {
		reply_text(&r, refused.status, refused.why);
	} else if (p->received > BODY_MAX) {
		reply_text(&r, 413, "Request body too large");
	} else if (has_sockets(s)) {
		openenv_answer(&s->openenv, q, &r);
	} else {
		exchange_answer(&s->gym, q, &r);
	}
	log_debug("serve: %.*s %.*s: %u", STR_ARG(q->method), STR_ARG(q->path), r.status);
	if (r.ended) {
		suspend_queue_end_session(s->host.waits, q->session);
	}
	switch (r.action) {
	case REPLY_WAIT:
		p->waited = true;
		result = suspend_queue_add(s->host.waits, &p->waiter, connection, q->session,
		                           r.wait_ms)
		                 ? MHD_YES
		                 : MHD_NO;
		break;
	case REPLY_CLOSE:
		break;
	case REPLY_UPGRADE:
		result = upgrade(s, connection, q);
		break;
	case REPLY_SEND:
		result = send_reply(origins, connection, q, &r);
		break;
	}
	buf_release(&r.body);
	return result;
}

/* Appends a piece of the body. MHD_NO closes a connection that exceeds BODY_PATIENCE. */
static enum MHD_Result append_body(struct pending_request *p, const char *piece, size_t *n)
{
	p->received += *n;
	if (p->received <= BODY_MAX) {
		buf_add(&p->body, piece, *n);
	}
	*n = 0;
	return p->received <= BODY_PATIENCE ? MHD_YES : MHD_NO;
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

/* Called with the headers, with each piece of the body, at its end, and after a wait.
   NOLINTNEXTLINE(readability-function-size): libmicrohttpd requires eight parameters */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_n, void **state)
{
	struct server *s = cls;
	struct pending_request *p = *state;

	(void)version;
	if (!p) {
		p = *state = mem_new(sizeof(*p));
		p->body = BUF(BODY_MAX);
		return MHD_YES;
	}
	if (*piece_n > 0) {
		return append_body(p, piece, piece_n);
	}
	if (p->waited && suspend_queue_closed(s->host.waits)) {
		return MHD_NO;
	}
	struct request q = {
		.method = str_from(method),
		.path = str_from(url),
		.body = buf_view(&p->body),
		.session = host_header(connection, "mcp-session-id"),
		.accept = host_header(connection, "accept"),
		.content_type = host_header(connection, "content-type"),
		.protocol_version = host_header(connection, "mcp-protocol-version"),
		.origin = host_header(connection, "origin"),
		.host = host_header(connection, "host"),
		.waited = p->waited,
	};
	if (has_sockets(s)) {
		read_upgrade(connection, &q);
	}
	return answer(s, connection, p, &q);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how)
{
	struct pending_request *p = *state;

	(void)cls, (void)connection, (void)how;
	if (p) {
		buf_release(&p->body);
		free(p);
	}
}

static void server_free(struct server *s)
{
	if (s->sockets) {
		sockets_close(s->sockets);
	}
	host_free(&s->host);
	sockets_free(s->sockets);
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
	                               .handle = on_request,
	                               .forget = on_completed,
	                               .ctx = s};

	return host_start(&s->host, &conf, err);
}

int server_start(const struct serve_conf *c, struct server **out, struct error *err)
{
	if (serve_conf_check(c, err) != 0) {
		return -1;
	}
	struct server *s = mem_new(sizeof(*s));
	gym_init(&s->gym, c);
	openenv_init(&s->openenv, c);
	if ((has_sockets(s) && sockets_start(&s->openenv, &s->sockets, err) != 0) ||
	    start_host(s, c, err) != 0) {
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
