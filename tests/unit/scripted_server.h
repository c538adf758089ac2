/* A server that plays a scenario, with a thread for each connection, raw sockets and port
   0. Each request must be the next one that the scenario expects; any other is noted and
   gets a 500. It never sleeps: it waits for a request, or for the client to close the
   connection. */
#pragma once

#include "loopback.h"
#include "protocol/jsonrpc.h"
#include "scenario.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct scripted {
	struct scenario *scenario;
	int listener;
	uint16_t port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* guarded by the lock */
	int open, calls; /* calls: tools/call requests received */
	pid_t client;    /* 0: not known yet */
	bool over;
	struct buf complaints;
};

struct scripted_link {
	struct scripted *server;
	int fd;
	struct buf head, body; /* of the request */
	struct str id;         /* its JSON-RPC id; absent: none */
	char name[128];
	/* of the reply */
	struct buf status, headers, out;
	bool streaming, closing;
};

/* ---- requests ---- */

/* Does the head contain the text, ignoring case? */
static inline bool scripted_in_head(const struct scripted_link *l, struct str text)
{
	for (size_t at = 0; at + text.n <= l->head.n; at++)
		if (strncasecmp(l->head.p + at, text.p, text.n) == 0)
			return true;
	return false;
}

static inline void scripted_name(struct scripted_link *l)
{
	struct jsonrpc_message m;
	int line = (int)strcspn(buf_cstr(&l->head), "\r");

	jsonrpc_read(buf_view(&l->body), &m);
	l->id = m.id;
	if (m.method.p) {
		snprintf(l->name, sizeof(l->name), "%.*s", STR_ARG(m.method));
	} else if (m.kind == JSONRPC_RESULT || m.kind == JSONRPC_ERROR) {
		snprintf(l->name, sizeof(l->name), "answer");
	} else if (scripted_in_head(l, STR("\r\nlast-event-id:"))) {
		snprintf(l->name, sizeof(l->name), "resume");
	} else if (scripted_in_head(l, STR("\r\naccept: text/event-stream\r\n"))) {
		snprintf(l->name, sizeof(l->name), "stream");
	} else {
		line -= line > 9 ? 9 : 0; /* " HTTP/1.1" */
		snprintf(l->name, sizeof(l->name), "%.*s", line, buf_cstr(&l->head));
	}
}

static inline bool scripted_holds(const struct scripted_link *l, struct saying c)
{
	if (str_is(c.word, "asks")) {
		char *text = mem_text(c.rest);
		bool there = strstr(buf_cstr(&l->body), text) != NULL;

		free(text);
		return there;
	}
	return scripted_in_head(l, c.rest) == str_is(c.word, "has");
}

/* The caller holds the lock. */
static inline struct expected *scripted_next(struct scripted_link *l)
{
	struct scenario *s = l->server->scenario;
	struct expected *open = NULL, *e;

	for (e = s->expected; e < s->expected + s->expected_count; e++) {
		if (e->always && str_is(e->name, l->name))
			return e;
		if (!e->always && !e->times && !open)
			open = e;
	}
	return open && str_is(open->name, l->name) ? open : NULL;
}

/* The background stream; it is offered only if the scenario defines it. */
static inline bool scripted_is_stream(const struct scripted_link *l)
{
	const struct scenario *s = l->server->scenario;

	for (size_t i = 0; i < s->expected_count; i++)
		if (str_is(s->expected[i].name, l->name))
			return false;
	return strcmp(l->name, "stream") == 0;
}

static inline struct expected *scripted_take(struct scripted_link *l)
{
	struct scripted *s = l->server;

	pthread_mutex_lock(&s->lock);
	struct expected *e = scripted_next(l);
	s->calls += strcmp(l->name, "tools/call") == 0;
	if (!e) {
		buf_printf(&s->complaints, "unexpected: %s\n%s%s\n", l->name, buf_cstr(&l->head),
		           buf_cstr(&l->body));
	}
	for (size_t i = 0; e && i < e->conditions.count; i++) {
		struct saying c = e->conditions.item[i];

		if (!scripted_holds(l, c)) {
			buf_printf(&s->complaints, "%s: not so: %.*s %.*s\n%s%s\n", l->name,
			           STR_ARG(c.word), STR_ARG(c.rest), buf_cstr(&l->head),
			           buf_cstr(&l->body));
		}
	}
	if (e)
		e->times++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return e;
}

static inline bool scripted_more(struct scripted_link *l, struct buf *to)
{
	char piece[16384];
	ssize_t n = recv(l->fd, piece, sizeof(piece), 0);

	if (n > 0)
		buf_add(to, piece, (size_t)n);
	return n > 0;
}

/* Reads a complete request; false if the client has closed the connection. */
static inline bool scripted_read(struct scripted_link *l)
{
	char *end, *length;

	buf_clear(&l->head);
	buf_clear(&l->body);
	while (!(end = strstr(buf_cstr(&l->head), "\r\n\r\n")))
		if (!scripted_more(l, &l->head))
			return false;
	size_t head = (size_t)(end + 4 - l->head.p);
	buf_add(&l->body, l->head.p + head, l->head.n - head);
	buf_cut(&l->head, head);
	l->head.p[head] = '\0';
	length = strstr(l->head.p, "\r\nContent-Length:");
	while (length && l->body.n < strtoul(length + 17, NULL, 10))
		if (!scripted_more(l, &l->body))
			return false;
	return true;
}

/* ---- replies ---- */

static inline bool scripted_send(struct scripted_link *l, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(l->fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* Replaces $id and $port. */
static inline void scripted_fill(const struct scripted_link *l, struct str text, struct buf *out)
{
	for (; text.n; text = str_skip(text, 1)) {
		if (str_starts(text, STR("$id"))) {
			buf_str(out, l->id.p ? l->id : STR("null"));
			text = str_skip(text, 2);
		} else if (str_starts(text, STR("$port"))) {
			buf_printf(out, "%u", (unsigned)l->server->port);
			text = str_skip(text, 4);
		} else {
			buf_char(out, text.p[0]);
		}
	}
}

static inline void scripted_escaped(const struct scripted_link *l, struct str text, struct buf *out)
{
	struct buf filled = BUF(BUF_MAX_MESSAGE);

	scripted_fill(l, text, &filled);
	vectors_unescape(out, buf_cstr(&filled));
	buf_release(&filled);
}

/* Status and headers; the caller frames the body. */
static inline void scripted_head(struct scripted_link *l, const char *framing)
{
	struct buf head = BUF(BUF_MAX_SMALL);

	buf_printf(&head, "HTTP/1.1 %s\r\n%s%s\r\n", l->status.n ? buf_cstr(&l->status) : "200 OK",
	           buf_cstr(&l->headers), framing);
	scripted_send(l, head.p, head.n);
	buf_release(&head);
}

static inline void scripted_whole(struct scripted_link *l, struct str type)
{
	char framing[256];

	snprintf(framing, sizeof(framing), "%s%.*s%sContent-Length: %zu\r\n",
	         type.n ? "Content-Type: " : "", STR_ARG(type), type.n ? "\r\n" : "", l->out.n);
	scripted_head(l, framing);
	scripted_send(l, buf_cstr(&l->out), l->out.n);
}

static inline bool scripted_chunk(struct scripted_link *l, const char *bytes, size_t n)
{
	char size[32];
	int length = snprintf(size, sizeof(size), "%zx\r\n", n);

	return scripted_send(l, size, (size_t)length) && scripted_send(l, bytes, n) &&
	       scripted_send(l, "\r\n", 2);
}

/* Waits until a request of that name has come, or the client has closed the connection. */
static inline void scripted_wait(struct scripted_link *l, struct str name)
{
	struct scripted *s = l->server;
	bool came = false;

	pthread_mutex_lock(&s->lock);
	while (!came && !s->over) {
		for (size_t i = 0; i < s->scenario->expected_count; i++) {
			struct expected *e = &s->scenario->expected[i];

			came |= e->times > 0 && str_eq(e->label, name);
		}
		if (!came)
			pthread_cond_wait(&s->changed, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
}

/* As Ctrl-C does. */
static inline void scripted_interrupt(struct scripted *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->client && !s->over)
		pthread_cond_wait(&s->changed, &s->lock);
	if (!s->over)
		kill(s->client, SIGINT);
	pthread_mutex_unlock(&s->lock);
}

/* A body of so many MiB, of a byte that takes six bytes when escaped. */
static inline void scripted_mebibytes(struct scripted_link *l, uint64_t n)
{
	static const char block[65536] = {1};
	char framing[64];

	snprintf(framing, sizeof(framing), "Content-Length: %" PRIu64 "\r\n", n << 20);
	scripted_head(l, framing);
	for (uint64_t i = 0; i < n * 16 && scripted_send(l, block, sizeof(block)); i++) {
	}
}

/* A list of tools t0, t1, ..., each with a description of so many MiB. */
static inline void scripted_tools(struct scripted_link *l, struct saying count)
{
	uint64_t tools = 0, mebibytes = 0;
	char block[1025];

	memset(block, 'x', 1024);
	block[1024] = '\0';
	text_u64(count.word, &tools);
	text_u64(count.rest, &mebibytes);
	scripted_fill(l, STR("{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":["), &l->out);
	for (uint64_t i = 0; i < tools; i++) {
		buf_printf(&l->out, "%s{\"name\":\"t%" PRIu64 "\",\"description\":\"", i ? "," : "",
		           i);
		for (uint64_t n = 0; n < mebibytes * 1024; n++)
			buf_text(&l->out, block);
		buf_text(&l->out, "\",\"inputSchema\":{\"properties\":{\"x\":{}}}}");
	}
	buf_text(&l->out, "]}}");
	scripted_whole(l, STR("application/json"));
}

static inline void scripted_body(struct scripted_link *l, struct saying op)
{
	if (str_is(op.word, "json")) {
		scripted_fill(l, op.rest, &l->out);
		scripted_whole(l, STR("application/json"));
	} else if (str_is(op.word, "body")) {
		struct saying typed = scenario_split(op.rest);

		scripted_escaped(l, typed.rest, &l->out);
		scripted_whole(l, typed.word);
	} else if (str_is(op.word, "empty")) {
		scripted_whole(l, STR(""));
	} else if (str_is(op.word, "raw")) {
		scripted_escaped(l, op.rest, &l->out);
		scripted_send(l, buf_cstr(&l->out), l->out.n);
	} else if (str_is(op.word, "tools")) {
		scripted_tools(l, scenario_split(op.rest));
	} else if (str_is(op.word, "endless")) {
		scripted_mebibytes(l, 1024);
		l->closing = true;
	} else if (str_is(op.word, "fill")) {
		uint64_t n = 0;

		text_u64(op.rest, &n);
		scripted_mebibytes(l, n);
	}
}

static inline void scripted_stream(struct scripted_link *l, struct saying op)
{
	if (str_is(op.word, "sse")) {
		scripted_head(l, "Content-Type: text/event-stream; charset=utf-8\r\n"
		                 "Transfer-Encoding: chunked\r\n");
		l->streaming = true;
	} else if (str_is(op.word, "event")) {
		buf_text(&l->out, "event: message\r\ndata: ");
		scripted_fill(l, op.rest, &l->out);
		buf_text(&l->out, "\r\n\r\n");
		scripted_chunk(l, l->out.p, l->out.n);
	} else if (str_is(op.word, "flood")) {
		buf_text(&l->out, "data: ");
		scripted_fill(l, op.rest, &l->out);
		buf_text(&l->out, "\n\n");
		while (scripted_chunk(l, l->out.p, l->out.n)) {
		}
		l->closing = true;
	} else if (str_is(op.word, "chunk") || str_is(op.word, "bytes")) {
		scripted_escaped(l, op.rest, &l->out);
		size_t step = str_is(op.word, "bytes") ? 1 : l->out.n;

		for (size_t i = 0; i < l->out.n; i += step)
			scripted_chunk(l, l->out.p + i, step);
	}
}

static inline void scripted_op(struct scripted_link *l, struct saying op)
{
	char rest[512];

	buf_clear(&l->out);
	if (str_is(op.word, "status")) {
		buf_str(&l->status, op.rest);
	} else if (str_is(op.word, "header")) {
		scripted_fill(l, op.rest, &l->headers);
		buf_text(&l->headers, "\r\n");
	} else if (str_is(op.word, "wait")) {
		scripted_wait(l, op.rest);
	} else if (str_is(op.word, "interrupt")) {
		scripted_interrupt(l->server);
	} else if (str_is(op.word, "cut")) {
		l->closing = true;
	} else if (str_is(op.word, "reset")) {
		setsockopt(l->fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
		           sizeof(struct linger));
		l->closing = true;
	} else if (str_is(op.word, "hang")) {
		while (recv(l->fd, rest, sizeof(rest), 0) > 0) {
		}
		l->closing = true;
	} else {
		scripted_body(l, op);
		scripted_stream(l, op);
	}
}

static inline bool scripted_answer(struct scripted_link *l)
{
	static const struct saying none[] = {
		{STR_INIT("status"), STR_INIT("405 Method Not Allowed")},
		{STR_INIT("empty"), STR_INIT("")}};
	static const struct saying lost[] = {{STR_INIT("status"), STR_INIT("500 Lost")},
	                                     {STR_INIT("empty"), STR_INIT("")}};
	bool stream = scripted_is_stream(l);
	struct expected *e = stream ? NULL : scripted_take(l);
	const struct saying *ops = e ? e->ops.item : stream ? none : lost;
	size_t count = e ? e->ops.count : ARRAY_LEN(lost);

	buf_clear(&l->status);
	buf_clear(&l->headers);
	l->streaming = l->closing = false;
	for (size_t i = 0; i < count && !l->closing; i++)
		scripted_op(l, ops[i]);
	if (l->streaming && !l->closing)
		scripted_send(l, "0\r\n\r\n", 5);
	return !l->closing;
}

/* ---- threads ---- */

static inline void *scripted_serve(void *arg)
{
	struct scripted_link *l = arg;
	struct scripted *s = l->server;
	struct buf *all[] = {&l->head, &l->body, &l->status, &l->headers, &l->out};

	l->head = l->body = l->status = l->headers = l->out = BUF(BUF_MAX_MESSAGE);
	while (scripted_read(l)) {
		scripted_name(l);
		if (!scripted_answer(l))
			break;
	}
	close(l->fd);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		buf_release(all[i]);
	free(l);
	pthread_mutex_lock(&s->lock);
	s->open--;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static inline void *scripted_accept(void *arg)
{
	struct scripted *s = arg;
	pthread_t thread;
	int fd;

	while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
		struct scripted_link *l = mem_new(sizeof(*l));

		l->server = s;
		l->fd = fd;
		pthread_mutex_lock(&s->lock);
		s->open++;
		pthread_mutex_unlock(&s->lock);
		if (pthread_create(&thread, NULL, scripted_serve, l) != 0)
			abort();
		pthread_detach(thread);
	}
	return NULL;
}

static inline void scripted_start(struct scripted *s, struct scenario *scenario)
{
	*s = (struct scripted){.scenario = scenario, .complaints = BUF(BUF_MAX_SMALL)};
	s->listener = loopback_listen(&s->port);
	if (pthread_mutex_init(&s->lock, NULL) != 0 || pthread_cond_init(&s->changed, NULL) != 0 ||
	    pthread_create(&s->thread, NULL, scripted_accept, s) != 0) {
		abort();
	}
}

/* The thread to interrupt. */
static inline void scripted_client(struct scripted *s, pid_t client)
{
	pthread_mutex_lock(&s->lock);
	s->client = client;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* Called after the client has closed all connections, which ends their threads. Notes
   expected requests that did not come. */
static inline void scripted_stop(struct scripted *s)
{
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->lock);
	s->over = true;
	pthread_cond_broadcast(&s->changed);
	while (s->open)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	close(s->listener);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	for (size_t i = 0; i < s->scenario->expected_count; i++) {
		const struct expected *e = &s->scenario->expected[i];

		if (!e->times && !e->always) {
			buf_printf(&s->complaints, "never came: %.*s (request %zu)\n",
			           STR_ARG(e->name), i + 1);
		}
	}
}
