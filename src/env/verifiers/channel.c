/* The state channel: see channel.h. */
#include "env/verifiers/channel.h"

#include "base/mem.h"
#include "json/scan.h"
#include "net/listen.h"
#include "net/stream.h"
#include "protocol/http_stream.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE 16384

struct channel_connection {
	struct channel *channel;
	struct stream *stream;
	struct http_stream in;
	struct buf method, target, body, out;
	bool permitted; /* the request has the secret */
};

void channel_set_state(struct channel *c, struct str state)
{

	buf_set(&c->state, state);
	c->is_json = !c->state.full && json_is_valid(state);
}

static void drop(struct channel_connection *k)
{
	struct channel *c = k->channel;

	io_watch(c->io, stream_fd(k->stream), 0, NULL, NULL);
	stream_close(k->stream, false);
	http_stream_release(&k->in);
	BUFS_RELEASE(&k->method, &k->target, &k->body, &k->out);
	for (size_t i = 0; i < CHANNEL_CONNECTIONS; i++)
		c->connections[i] = c->connections[i] == k ? NULL : c->connections[i];
	free(k);
}

static void answer(struct channel_connection *k, const char *status, struct str body)
{
	buf_printf(&k->out,
	           "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
	           status, body.n);
	buf_str(&k->out, body);
}

static void handle(struct channel_connection *k)
{
	struct channel *c = k->channel;
	bool get = str_is(buf_view(&k->method), "GET"), put = str_is(buf_view(&k->method), "PUT");
	bool state = str_is(buf_view(&k->target), "/state");

	if (!k->permitted) {
		answer(k, "401 Unauthorized", STR("{\"error\":\"wrong secret\"}"));
	} else if (get && state) {
		c->gets++;
		answer(k, "200 OK", buf_view(&c->state));
	} else if (put && state && !k->body.full) {
		c->puts++;
		channel_set_state(c, buf_view(&k->body));
		answer(k, "200 OK", STR("{}"));
	} else if (get && str_is(buf_view(&k->target), "/task")) {
		answer(k, "200 OK", buf_view(&c->task));
	} else {
		answer(k, put && state ? "413 Content Too Large" : "404 Not Found", STR("{}"));
	}
}

static void read_head(struct channel_connection *k, const struct http_part *part)
{
	struct str given = http_field(part->fields, "authorization");

	buf_clear(&k->body);
	buf_set(&k->method, part->method);
	buf_set(&k->target, part->target);
	k->permitted = str_starts(given, STR("Bearer ")) &&
	               str_is(str_skip(given, strlen("Bearer ")), k->channel->secret);
}

/* False: the connection is of no more use. */
static bool read_requests(struct channel_connection *k)
{
	char piece[PIECE];
	struct http_part part;
	ptrdiff_t n = stream_receive(k->stream, piece, sizeof(piece));

	if (n == STREAM_AGAIN)
		return true;
	if (n <= 0)
		return false;
	http_stream_feed(&k->in, (struct str){piece, (size_t)n});
	while (http_stream_next(&k->in, &part)) {
		switch (part.kind) {
		case HTTP_HEAD:
			read_head(k, &part);
			break;
		case HTTP_BODY:
			buf_str(&k->body, part.bytes);
			break;
		case HTTP_END:
			handle(k);
			break;
		case HTTP_BROKEN:
			return false;
		case HTTP_FRAMING:
			break;
		}
	}
	return true;
}

/* An io_fd_fn: reads what has come, and sends what is ready. */
static int serve(void *connection, int fd, short ready, struct error *err)
{
	struct channel_connection *k = connection;

	(void)err;
	if ((ready & (POLLIN | POLLHUP | POLLERR)) && !read_requests(k)) {
		drop(k);
		return 0;
	}
	while (k->out.n) {
		ptrdiff_t n = stream_send(k->stream, buf_view(&k->out));

		if (n == STREAM_AGAIN)
			break;
		if (n <= 0) {
			drop(k);
			return 0;
		}
		buf_drop(&k->out, (size_t)n);
	}
	io_watch(k->channel->io, fd, k->out.n ? POLLIN | POLLOUT : POLLIN, serve, k);
	return 0;
}

static int accept_one(void *channel, int listener, short ready, struct error *err)
{
	struct channel *c = channel;
	size_t i = 0;
	int fd = accept(listener, NULL, NULL);

	(void)ready;
	(void)err;
	while (i < CHANNEL_CONNECTIONS && c->connections[i])
		i++;
	if (fd < 0 || i == CHANNEL_CONNECTIONS) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	struct channel_connection *k = mem_new(sizeof(*k));
	*k = (struct channel_connection){.channel = c,
	                                 .stream = stream_adopt(fd),
	                                 .method = BUF(BUF_MAX_SMALL),
	                                 .target = BUF(BUF_MAX_SMALL),
	                                 .body = BUF(BUF_MAX_MESSAGE),
	                                 .out = BUF(BUF_MAX_MESSAGE)};
	http_stream_init(&k->in, false);
	c->connections[i] = k;
	io_watch(c->io, fd, POLLIN, serve, k);
	return 0;
}

int channel_open(struct channel *c, struct io *io, const char *secret, struct error *err)
{
	*c = (struct channel){.io = io,
	                      .secret = secret,
	                      .listener = -1,
	                      .task = BUF(BUF_MAX_MESSAGE),
	                      .state = BUF(BUF_MAX_MESSAGE)};
	if (listen_on("127.0.0.1", &c->port, &c->listener, err))
		return -1;
	io_watch(io, c->listener, POLLIN, accept_one, c);
	return 0;
}

void channel_close(struct channel *c)
{
	if (!c->io)
		return;
	for (size_t i = 0; i < CHANNEL_CONNECTIONS; i++)
		if (c->connections[i])
			drop(c->connections[i]);
	if (c->listener >= 0) {
		io_watch(c->io, c->listener, 0, NULL, NULL);
		close(c->listener);
	}
	BUFS_RELEASE(&c->task, &c->state);
}
