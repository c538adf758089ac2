/* JSON over HTTP, as most environment servers speak it: one exchange, and the meaning of a reply
   that is not the protocol's own. What a good reply contains is read by the adapters. */
#pragma once

#include "env/env.h"
#include "env/reading.h"

struct http_json {
	struct io *io;
	const struct env_conf *conf;
	struct event_queue *events;
	struct buf base;    /* "http://host/prefix", without a trailing slash */
	struct buf session; /* a header line that names the session; empty: none */
	bool follow_posts;  /* 307 and 308 are followed for POST, too */
	bool posts_repeat;  /* so may a POST be that a reused connection has lost */
	struct buf url, reply, why;
	struct http_request request; /* of the exchange that has begun */
	const char **headers;        /* the user's, `session`, a content type */
};

/* Slices are valid until the next exchange. */
struct http_json_answer {
	int status;              /* 0: no response, text is why */
	bool late;               /* none in time */
	struct str data;         /* the body if it is JSON; else absent */
	struct str text;         /* the body */
	bool page;               /* it is a web page */
	struct json_fault fault; /* why it is not JSON */
};

/* What a status means in a protocol, if not as in http_status_class. */
struct http_json_meaning {
	int status;
	enum error_class class;
};

void http_json_init(struct http_json *h, const struct env_conf *conf, struct io *io,
                    struct event_queue *events);
void http_json_release(struct http_json *h);
/* Sets the base to the URL, as http_json_init does to conf's: without its query and the slashes at its end, and without a last /ws; ws: is http:. */
void http_json_set_base(struct http_json *h, const char *url);

/* Sends a request, a GET (which may be repeated and follows redirects) if there is no body, and
   waits for the headers. *x NULL: no response, *out is complete. -1: interrupted, or a local
   failure. */
MUST_USE int http_json_begin(struct http_json *h, const char *path, struct str body,
                             uint64_t timeout_ms, struct http_exchange **x,
                             struct http_json_answer *out, struct error *err);
/* Ends an exchange of which no more was or will be read than is in h->reply. failed: reading
   failed with *err. */
MUST_USE int http_json_end(struct http_json *h, struct http_exchange *x, int failed,
                           struct http_json_answer *out, struct error *err);
/* Reads the body and ends the exchange. */
MUST_USE int http_json_finish(struct http_json *h, struct http_exchange *x,
                              struct http_json_answer *out, struct error *err);
/* The whole exchange, within the timeout of a call. */
MUST_USE int http_json_ask(struct http_json *h, const char *path, struct str body,
                           struct http_json_answer *out, struct error *err);

/* A page of the server, through the cache: its JSON, or absent. *status 0: no response. */
MUST_USE int http_json_page(struct http_json *h, const char *path, int *status, struct str *body,
                            struct error *err);

/* Reads a reply that is no success of the protocol: none, a status other than 200, or not JSON.
   400, 409, 410, 422 and 500 are refused calls unless the meanings, which end with status 0 (or are NULL),
   say otherwise. */
void http_json_read_failure(const struct http_json_answer *a,
                            const struct http_json_meaning *meanings, struct reply_reading *r,
                            struct env_reply *out);

/* Appends the first of a list of pydantic's errors: "body: move: Field required". */
void http_json_first_error(struct str errors, struct buf *text);
