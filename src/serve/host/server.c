/* The server: HTTP requests are answered by exchange_answer or openenv_answer, upgraded connections
   served as WebSockets. */
#include "base/log.h"
#include "base/mem.h"
#include "json/scan.h"
#include "net/handshake.h"
#include "serve/gym/exchange.h"
#include "serve/host/host.h"
#include "serve/host/sockets.h"
#include "serve/openenv/openenv.h"

#include <stdlib.h>
#include <strings.h>

#define BODY_MAX         ((size_t)4 << 20) /* larger: 413 */
#define REPLY_MAX        ((size_t)32 << 20)
#define CONNECTION_BYTES ((size_t)16 << 10) /* including the header block */
#define SOCKET_BYTES     ((size_t)8 << 10)  /* less for WebSockets, which keep it */

struct server {
	struct gym gym;         /* of MCP */
	struct openenv openenv; /* of OpenEnv, like the sockets */
	struct host host;
};

static bool has_sockets(const struct server *s)
{
	return s->gym.conf.protocol == SERVE_OPENENV;
}

static void add_location(struct MHD_Response *response, struct str host)
{
	struct buf url = BUF(BUF_MAX_SMALL);

	if (host.n > 0)
		buf_printf(&url, "http://%.*s", STR_ARG(host));
	buf_text(&url, "/mcp");
	host_add_header(response, "location", buf_cstr(&url));
	buf_release(&url);
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
	if (r->redirect)
		add_location(response, q->host);
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
