/* Non-blocking byte streams for a relay, which polls their descriptors itself: connections of
   clients, and connections to one server, plain or with TLS (libcurl's). */
#pragma once

#include "base/buf.h"
#include "base/error.h"

struct stream;
struct stream_server; /* where streams are opened to */

struct stream_server_conf {
	const char *url;     /* http, https, ws or wss */
	const char *ca_file; /* borrowed; NULL: libcurl's default */
	bool insecure;       /* accept any TLS certificate */
};

/* Resolves the name, which may block. FAIL_USAGE: the URL; FAIL_TRANSPORT: the name is unknown.
   Call it after io_global_init(). */
MUST_USE int stream_server_new(const struct stream_server_conf *conf, struct stream_server **out,
                               struct error *err);
void stream_server_free(struct stream_server *s); /* after its streams; NULL is fine */
/* "host:port", without the port if it is the scheme's. */
const char *stream_server_authority(const struct stream_server *s);
bool stream_server_is_tls(const struct stream_server *s);
bool stream_server_is_loopback(const struct stream_server *s);

/* Of an accepted connection, which it then owns. */
struct stream *stream_adopt(int fd);
/* Begins to connect. */
struct stream *stream_connect(struct stream_server *s);
/* Closes; reset: with RST. NULL is fine. */
void stream_close(struct stream *s, bool reset);

enum stream_state { STREAM_CONNECTING, STREAM_OPEN, STREAM_FAILED };
/* Call it when the descriptor of a connecting stream is writable, or every STREAM_POLL_MS if it
   has none. */
#define STREAM_POLL_MS 5
enum stream_state stream_continue(struct stream *s);
int stream_fd(const struct stream *s);          /* -1: none yet */
const char *stream_why(const struct stream *s); /* of STREAM_FAILED: a clause */

enum { STREAM_AGAIN = -1, STREAM_LOST = -2 };
/* The number of bytes; 0: the peer has ended its side; STREAM_AGAIN; STREAM_LOST: the connection
   was reset. */
ptrdiff_t stream_receive(struct stream *s, void *to, size_t room);
ptrdiff_t stream_send(struct stream *s, struct str bytes);
/* Ends our side. */
void stream_shut(struct stream *s);
