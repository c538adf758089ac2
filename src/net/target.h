/* The URL of a request, parsed once. Private to src/net/. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <curl/curl.h>

struct target {
	struct buf url;    /* as given */
	struct buf scheme; /* lower case */
	struct buf place;  /* "host:port", for messages and for comparing origins */
	struct buf path;   /* without the query, which may hold secrets */
	bool loopback;
	CURLU *parsed; /* for CURLOPT_CURLU, so that libcurl does not parse it for each request */
};

void target_init(struct target *t);
void target_release(struct target *t);

/* Returns -1 with FAIL_USAGE, and leaves t unchanged, if the URL is invalid. Does nothing if t
   holds that URL already. */
MUST_USE int target_set(struct target *t, const char *url, struct error *err);

/* The same for a socket: ws:// and wss:// mean http:// and https://, the same host, port and
   encryption. */
MUST_USE int target_set_socket(struct target *t, const char *url, struct error *err);
bool target_is_tls(const struct target *t);

/* Makes the handle connect there, through a proxy if there is one, and do nothing else. why:
   CURL_ERROR_SIZE bytes. */
void target_connect_only(const struct target *t, CURL *easy, const char *ca_file, bool insecure,
                         char *why);

/* Replaces the path and query by those of a Location header, if that is on the same origin:
   scheme, host and port. */
bool target_redirect(struct target *t, struct str location);
