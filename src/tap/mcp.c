/* The decoder for MCP: which session a message belongs to, over HTTP of both eras and stdio. What the
   messages mean is in mcp_client.c. */
#include "tap/mcp_client.h"

#include "base/text.h"
#include "env/failure.h"

#include <stdlib.h>

#define CLIENTS_MAX 4096 /* sessions that are neither deleted nor used: the oldest is ended */
#define TOOLS_MAX   ((size_t)16 << 20)

/* Of an exchange over HTTP. */
struct mcp_http {
	struct mcp_client *client; /* NULL: none so far */
	bool asked, read;          /* the request is complete; its message was read */
	bool headed;               /* the head of the reply has arrived, perhaps before that */
	bool redirected;           /* the request will be sent again to another URL */
};

/* ---- sessions ---- */

/* Clients that never delete their sessions do not fill the memory. */
static void make_room(struct mcp_decoder *d)
{
	struct mcp_client *c = d->first;

	while (d->count >= CLIENTS_MAX && c) {
		struct mcp_client *next = c->next;
		struct tap_ending e = {.first = TAP_NOBODY,
		                       .why = STR("the client left the session open")};

		if (!c->exchanges && !c->pending)
			mcp_client_end(c, &e);
		c = next;
	}
}

static struct mcp_client *new_client(struct mcp_decoder *d, const struct tap_connection *connection,
                                     struct str id)
{
	make_room(d);
	struct mcp_client *c = mem_new(sizeof(*c));
	*c = (struct mcp_client){
		.decoder = d,
		.connection = connection->id,
		.previous = d->last,
		.config = BUF(BUF_MAX_SMALL),
		.start = BUF(BUF_MAX_MESSAGE),
		.tools = BUF(TOOLS_MAX),
		.meta = BUF(BUF_MAX_MESSAGE),
		.ask_id = BUF(BUF_MAX_SMALL),
		.answer = BUF(BUF_MAX_MESSAGE),
		.held = {.status = {BUF(BUF_MAX_SMALL), BUF(BUF_MAX_SMALL)},
	                 .reward = {BUF(BUF_MAX_SMALL), BUF(BUF_MAX_SMALL)}},
		.ending = {REPLY_UNKNOWN},
		.session = tap_session_begin(d->recording, PROTOCOL_MCP, connection, id)};
	mcp_known_init(&c->known, &c->events);
	c->id = arena_str(&c->texts, id);
	*(d->last ? &d->last->next : &d->first) = c;
	d->last = c;
	d->count++;
	return c;
}

static void free_client(struct mcp_client *c)
{
	for (struct mcp_pending *p = c->pending, *next; p; p = next) {
		next = p->next;
		free(p->id);
		free(p);
	}
	BUFS_RELEASE(&c->config, &c->start, &c->tools, &c->meta, &c->ask_id, &c->answer,
	             &c->held.status.text, &c->held.status.why, &c->held.reward.text,
	             &c->held.reward.why);
	mcp_known_release(&c->known);
	events_release(&c->events);
	arena_release(&c->held.kept);
	arena_release(&c->texts);
	free(c);
}

void mcp_client_end(struct mcp_client *c, const struct tap_ending *e)
{
	struct mcp_decoder *d = c->decoder;

	if (c->over)
		return;
	mcp_client_flush(c);
	tap_session_end(c->session, e, NULL);
	c->session = NULL;
	c->over = true;
	*(c->previous ? &c->previous->next : &d->first) = c->next;
	*(c->next ? &c->next->previous : &d->last) = c->previous;
	d->count--;
	if (!c->exchanges)
		free_client(c);
}

static void leave_client(struct mcp_client *c)
{
	c->exchanges--;
	if (c->over && !c->exchanges)
		free_client(c);
}

/* The last session with that id of the transport, that of the environment, or on that connection. */
static struct mcp_client *find_client(const struct mcp_decoder *d, struct str id, struct str env_id,
                                      uint64_t connection)
{
	struct mcp_client *c = d->last;

	while (c && !(id.n && str_eq(c->id, id)) && !(env_id.n && str_eq(c->env_id, env_id)) &&
	       !(connection && c->connection_id == connection)) {
		c = c->previous;
	}
	return c;
}

static struct mcp_client *by_id(const struct mcp_decoder *d, struct str id)
{
	return find_client(d, id, STR_NONE, 0);
}

static struct mcp_client *by_env_id(const struct mcp_decoder *d, struct str id)
{
	return find_client(d, STR_NONE, id, 0);
}

/* ---- the decoder ---- */

static void *mcp_start(struct tap_recording *r)
{
	struct mcp_decoder *d = mem_new(sizeof(*d));

	d->recording = r;
	d->redirected = BUF(BUF_MAX_SMALL);
	d->tools = BUF(BUF_MAX_MESSAGE);
	reading_init(&d->answers);
	return d;
}

static void mcp_stop(void *data)
{
	struct mcp_decoder *d = data;
	struct tap_ending e = {.first = TAP_NOBODY, .stopped = true};

	while (d->first)
		mcp_client_end(d->first, &e);
	reading_release(&d->answers);
	BUFS_RELEASE(&d->redirected, &d->tools);
	free(d);
}

/* Control endpoints, what ends in /mcp, and what has a header of MCP or its Accept. */
static bool mcp_owns(void *data, const struct tap_head *q)
{
	struct str path = tap_path(q);

	(void)data;
	if (!q->method.n || mcp_is_control(path) || tap_header(q, "mcp-session-id").p ||
	    tap_header(q, "mcp-protocol-version").p) {
		return true;
	}
	while (str_ends(path, STR("/")))
		path.n--;
	return str_ends(path, STR("/mcp")) ||
	       (str_is(q->method, "POST") &&
	        error_text_matches(tap_header(q, "accept"), "text/event-stream") &&
	        error_text_matches(tap_header(q, "accept"), "application/json"));
}

/* ---- which session ---- */

static void join(struct mcp_http *h, struct mcp_client *c)
{
	if (c && !h->client) {
		h->client = c;
		c->exchanges++;
	}
}

static struct mcp_client *by_connection(struct mcp_decoder *d, const struct tap_connection *k)
{
	struct mcp_client *c = find_client(d, STR_NONE, STR_NONE, k->id);

	if (!c) {
		c = new_client(d, k, STR_NONE);
		c->connection_id = k->id;
	}
	return c;
}

/* A session that the server has lost goes on in the same environment; a request for one that it has
   redirected comes once more. */
static struct mcp_client *opening(struct mcp_decoder *d, const struct tap_connection *k,
                                  struct str params)
{
	struct str id = JSON_GET(JSON_GET(JSON_GET(params, "clientInfo"), "_extra"), "session_id");
	AUTO_ARENA texts = {0};
	struct mcp_client *c = by_env_id(d, json_text(&texts, id));

	if (c && c->lost)
		return c;
	for (c = d->first; c && !c->redirected; c = c->next) {
	}
	c = c ? c : new_client(d, k, STR_NONE);
	c->redirected = false;
	c->connection = k->id;
	tap_asked(c->session, FAULT_AT_SESSION);
	return c;
}

static struct mcp_client *client_of(struct mcp_decoder *d, const struct tap_exchange *x,
                                    const struct jsonrpc_message *m)
{
	struct str id = tap_header(&x->request, "mcp-session-id");

	if (m->kind == JSONRPC_REQUEST && str_is(m->method, "initialize"))
		return opening(d, x->connection, m->params);
	if (id.n) { /* one that is unknown began before the tap */
		struct mcp_client *c = by_id(d, id);

		return c ? c : new_client(d, x->connection, id);
	}
	return m->kind == JSONRPC_REQUEST ? by_connection(d, x->connection) : NULL;
}

static void read_post(struct mcp_decoder *d, struct tap_exchange *x, struct mcp_http *h)
{
	struct jsonrpc_message m;

	h->read = true;
	if (x->request_body.encoded || x->request_body.cut) {
		tap_remark(d->recording, x->connection, "a request that cannot be read");
		return;
	}
	jsonrpc_read(x->request_body.bytes, &m);
	join(h, client_of(d, x, &m));
	if (h->client)
		mcp_client_sent(h->client, x->request_body.bytes, x->id);
	else if (m.kind == JSONRPC_NOT_JSON || m.kind == JSONRPC_INVALID)
		tap_remark(d->recording, x->connection, "a request that is not JSON-RPC");
}

/* ---- HTTP ---- */

static bool is_stdio(const struct tap_exchange *x)
{
	return !x->request.method.n;
}

static bool is_post(const struct tap_exchange *x)
{
	return str_is(x->request.method, "POST");
}

static struct mcp_http *http_of(struct tap_exchange *x)
{
	if (!x->own)
		x->own = mem_new(sizeof(struct mcp_http));
	return x->own;
}

static void ask_control(struct mcp_decoder *d, const struct tap_head *q)
{
	struct mcp_client *c = by_env_id(d, tap_header(q, "mcp-session-id"));
	enum control_fact fact;

	if (c && control_names(tap_path(q), &fact) && fact != CONTROL_STATE)
		tap_asked(c->session, fact == CONTROL_REWARD ? FAULT_AT_REWARD : FAULT_AT_END);
}

/* The message of a question of ours is known. */
static void take_question(const struct mcp_decoder *d, const struct tap_exchange *x,
                          struct mcp_http *h)
{
	h->asked = h->read = true;
	join(h, mcp_asker(d, x));
	if (h->client && is_post(x))
		mcp_client_asked(h->client, x->id);
}

static void take_request(void *data, struct tap_exchange *x)
{
	struct mcp_decoder *d = data;

	if (is_stdio(x)) {
		d->stdio = true;
		d->transport = "stdio";
		x->own = new_client(d, x->connection, STR_NONE);
		return;
	}
	struct mcp_http *h = http_of(x);
	if (x->connection->asker) {
		take_question(d, x, h);
		return;
	}
	d->transport = "Streamable HTTP";
	h->asked = true;
	if (h->redirected)
		return;
	if (mcp_is_control(tap_path(&x->request)))
		ask_control(d, &x->request);
	else if (!is_post(x))
		join(h, by_id(d, tap_header(&x->request, "mcp-session-id")));
	else if (h->headed || !str_eq(tap_path(&x->request), buf_view(&d->redirected)))
		read_post(d, x, h); /* else it is not executed, if the reply says so again */
}

static bool is_redirect(const struct tap_head *reply)
{
	return reply->status >= 300 && reply->status < 400 && tap_header(reply, "location").n;
}

static void take_head(void *data, struct tap_exchange *x)
{
	struct mcp_decoder *d = data;
	struct mcp_http *h = http_of(x);
	struct str id = tap_header(&x->reply, "mcp-session-id");

	h->headed = true;
	h->redirected = is_redirect(&x->reply);
	if (h->redirected && is_post(x))
		buf_set(&d->redirected, tap_path(&x->request));
	if (h->redirected && h->client)
		mcp_client_redirected(h->client, x->id);
	if (h->redirected && !h->read)
		return;
	if (is_post(x) && h->asked && !h->read && !mcp_is_control(tap_path(&x->request)))
		read_post(d, x, h);
	if (h->client && id.n && (!h->client->id.n || h->client->lost))
		h->client->offered_id = arena_str(&h->client->texts, id);
}

static void take_event(void *data, struct tap_exchange *x, const struct sse_event *e)
{
	struct mcp_client *c = http_of(x)->client;

	(void)data;
	if (!c)
		return;
	if (str_is(e->type, "message") && e->data.n && !c->over)
		mcp_client_received(c, e->data, x->id, x->reply.status);
	mcp_ask_state(c, x);
}

/* A reply without its message. */
static struct mcp_reply reply_of(const struct tap_exchange *x, enum mcp_got got, struct str text)
{
	struct str type = tap_header(&x->reply, "content-type");
	bool named = tap_header(&x->request, "mcp-session-id").n;

	return (struct mcp_reply){
		.got = got,
		.http_status = x->reply.status,
		.text = text,
		.media = type.n ? text_trim(str_cut(&type, ';')) : type,
		.location = tap_header(&x->reply, "location"),
		.session_lost = named && x->reply.status == 404,
	};
}

/* c NULL: without an id, or that of a session which the tap does not know. */
static void read_control_reply(struct mcp_client *c, const struct tap_exchange *x)
{
	struct str path = tap_path(&x->request);
	enum control_fact fact;

	if (!c)
		return;
	if (control_names(path, &fact))
		mcp_control_read(c, fact, x->reply.status, x->reply_body.bytes);
	else if (str_ends(path, STR(CONTROL_RESET)) && is_post(x))
		mcp_control_reset(c, x->reply.status, x->request_body.bytes, x->reply_body.bytes);
	mcp_ask_state(c, x);
}

static void end_deleted(struct mcp_http *h)
{
	struct tap_ending e = {.first = TAP_CLIENT, .why = STR("DELETE")};
	struct mcp_client *c = h->client;

	if (c && !c->over) {
		mcp_client_flush(c);
		tap_episode_end(c->session, END_FINISHED, "the client deleted the session");
		mcp_client_end(c, &e);
	}
}

static void take_reply(void *data, struct tap_exchange *x)
{
	struct mcp_http *h = http_of(x);

	if (h->redirected)
		return;
	if (mcp_is_control(tap_path(&x->request)) && x->connection->asker) {
		if (h->client)
			mcp_answered_in(h->client, x);
	} else if (mcp_is_control(tap_path(&x->request))) {
		read_control_reply(by_env_id(data, tap_header(&x->request, "mcp-session-id")), x);
	} else if (str_is(x->request.method, "DELETE")) {
		end_deleted(h);
	} else if (h->client && !h->client->over && !x->stream &&
	           mcp_client_awaits(h->client, x->id)) {
		struct mcp_reply r = reply_of(x, MCP_GOT_HTTP, x->reply_body.bytes);

		if (x->reply_body.encoded || x->reply_body.cut) {
			r.got = MCP_GOT_UNUSABLE;
			r.text = x->reply_body.cut ? STR("the reply is too large")
			                           : STR("the reply is compressed");
		}
		mcp_client_replied(h->client, x->id, &r);
	}
	if (h->client)
		mcp_ask_state(h->client, x);
}

static void put_why(const struct tap_ending *e, const struct tap_exchange *x, struct buf *out)
{
	if (e->first == TAP_NOBODY) { /* without a head: a question of ours, which was given up */
		buf_text(out, x->stream         ? "the event stream ended without the response"
		              : x->reply.status ? "the reply has no body"
		                                : "no reply in time");
		return;
	}
	buf_text(out, e->unreachable ? "" : "no reply: ");
	tap_put_ending(e, out);
}

/* Requests of this exchange that got no reply. */
static void end_awaited(struct tap_exchange *x, const struct mcp_http *h,
                        const struct tap_ending *e)
{
	/* the rest of a stream with event ids may come over another connection */
	bool resumable = x->stream && x->stream->id.n && x->reply.status == 200 && !e->stopped;
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	if (h->client->over || resumable || !mcp_client_awaits(h->client, x->id))
		return;
	put_why(e, x, &why);
	struct mcp_reply r = reply_of(x, MCP_GOT_TRANSPORT, buf_view(&why));
	if (h->redirected) {
		r.got = MCP_GOT_HTTP;
		r.text = STR("");
	}
	mcp_client_replied(h->client, x->id, &r);
}

/* The end of its input is how a client tells a stdio server to end. */
static void end_stdio(struct mcp_client *c, const struct tap_ending *e)
{
	mcp_client_flush(c);
	if (e->first == TAP_CLIENT && !e->lost && !c->pending)
		tap_episode_end(c->session, END_FINISHED, "the client ended the server's input");
	mcp_client_end(c, e);
}

static void take_closed(void *data, struct tap_exchange *x, const struct tap_ending *e)
{
	if (is_stdio(x)) {
		end_stdio(x->own, e);
		return;
	}
	struct mcp_http *h = http_of(x);
	if (h->client && x->connection->asker && !is_post(x) && h->client->asking)
		mcp_answered_in(h->client, x);
	if (h->client) {
		end_awaited(x, h, e);
		leave_client(h->client);
	}
	free(h);
}

/* Where there are no session ids, the connection is the session. */
static void take_left(void *data, const struct tap_connection *k, const struct tap_ending *e)
{
	struct mcp_client *c = find_client(data, STR_NONE, STR_NONE, k->id);

	if (c) {
		mcp_client_flush(c);
		if (e->first == TAP_CLIENT && !e->lost && !c->pending) {
			tap_episode_end(c->session, END_FINISHED,
			                "the client closed the connection");
		}
		mcp_client_end(c, e);
	}
}

/* ---- stdio ---- */

static void take_message(void *data, struct tap_exchange *x, enum tap_side from,
                         const struct tap_bytes *m)
{
	struct mcp_client *c = x->own;
	struct mcp_decoder *d = data;

	if (!is_stdio(x)) /* a WebSocket, as OpenEnv has one at /mcp */
		return;
	if (m->cut) {
		tap_remark(d->recording, x->connection,
		           "a line over 64 MiB, which is not recorded");
	} else if (m->bytes.n && from == TAP_CLIENT) {
		mcp_client_sent(c, m->bytes, 0);
	} else if (m->bytes.n) {
		mcp_client_received(c, m->bytes, 0, 0);
	}
}

const struct tap_decoder tap_mcp = {
	.owns = mcp_owns,
	.start = mcp_start,
	.stop = mcp_stop,
	.request = take_request,
	.head = take_head,
	.event = take_event,
	.reply = take_reply,
	.message = take_message,
	.closed = take_closed,
	.left = take_left,
};
