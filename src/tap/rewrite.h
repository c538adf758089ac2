/* The parts of heads that a proxy cannot pass on as they are. Everything else, hop-by-hop headers
   included, is passed on: each connection of a client has a connection to the server of its own. */
#pragma once

#include "protocol/http_stream.h"

struct tap_rewriting {
	const char *authority; /* of the server: "host:port", without a standard port; borrowed */
	bool tls;              /* the server is reached over TLS, the clients are not */
	/* The client's Host is not the server's name; a server on this machine gets it unchanged,
	   because it may make URLs from it. */
	bool set_host;
	/* To a model: "/r/ID/path" of a request is passed on as "/path", ID being a name for the tap,
	   and the offer to read compressed replies is left out. */
	bool to_model;
};

/* Append a head as it is to be passed on. Of a request for a WebSocket the offer of compression is
   left out, so that messages can be read. */
void rewrite_request(const struct tap_rewriting *r, const struct http_part *head, struct buf *out);
/* Of a reply, the server's own URL in Location becomes the client's (host: that of the request;
   may be absent), and cookies lose what binds them to the server's name or to TLS. */
void rewrite_reply(const struct tap_rewriting *r, const struct http_part *head, struct str host,
                   struct buf *out);
bool rewrite_is_upgrade(struct str fields); /* of a request for a WebSocket */
