/* Parses the URL of a request: see target.h. libcurl's own parser is used, so that what we check
   is what it connects to. */
#include "net/target.h"

#include <strings.h>

void target_init(struct target *t)
{
	*t = (struct target){
		.url = BUF(BUF_MAX_SMALL),
		.scheme = BUF(BUF_MAX_SMALL),
		.place = BUF(BUF_MAX_SMALL),
		.path = BUF(BUF_MAX_SMALL),
	};
}

void target_release(struct target *t)
{
	BUFS_RELEASE(&t->url, &t->scheme, &t->place, &t->path);
	curl_url_cleanup(t->parsed);
}

static void read_part(CURLU *u, CURLUPart part, struct buf *out)
{
	char *text = NULL;

	if (curl_url_get(u, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK)
		buf_text(out, text);
	curl_free(text);
}

/* RFC 6761: localhost and names below it; 127.0.0.0/8; ::1. */
static bool is_loopback(const char *host)
{
	size_t n = strlen(host), of_name = strlen(".localhost");

	return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
	       (n > of_name && strcasecmp(host + n - of_name, ".localhost") == 0) ||
	       (strncmp(host, "127.", 4) == 0 && host[strspn(host, "0123456789.")] == '\0');
}

/* Takes u. */
static void fill(struct target *t, CURLU *u)
{
	curl_url_cleanup(t->parsed);
	t->parsed = u;
	buf_clear(&t->url);
	buf_clear(&t->scheme);
	buf_clear(&t->place);
	buf_clear(&t->path);
	read_part(u, CURLUPART_URL, &t->url);
	read_part(u, CURLUPART_SCHEME, &t->scheme);
	read_part(u, CURLUPART_PATH, &t->path);
	read_part(u, CURLUPART_HOST, &t->place);
	t->loopback = is_loopback(buf_cstr(&t->place));
	buf_char(&t->place, ':');
	read_part(u, CURLUPART_PORT, &t->place);
}

static bool is_http(CURLU *u)
{
	char *scheme = NULL;
	bool good = curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	            (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);

	curl_free(scheme);
	return good;
}

int target_set(struct target *t, const char *url, struct error *err)
{
	size_t n = strlen(url);

	if (n > 0 && str_is(buf_view(&t->url), url))
		return 0;
	CURLU *u = curl_url();
	CURLUcode rc = !u                      ? CURLUE_OUT_OF_MEMORY
	               : n > BUF_MAX_SMALL / 2 ? CURLUE_BAD_PATH
	                                       : curl_url_set(u, CURLUPART_URL, url, 0);
	if (rc != CURLUE_OK || !is_http(u)) {
		curl_url_cleanup(u);
		return error_set(err, FAIL_USAGE,
		                 "invalid URL '%.200s': expected http:// or https:// and a host",
		                 url);
	}
	fill(t, u);
	buf_set(&t->url, str_from(url));
	return 0;
}

int target_set_socket(struct target *t, const char *url, struct error *err)
{
	bool ws = strncmp(url, "ws:", 3) == 0 || strncmp(url, "wss:", 4) == 0;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	buf_text(&text, ws ? "http" : "");
	buf_text(&text, url + (ws ? 2 : 0));
	return target_set(t, buf_cstr(&text), err);
}

bool target_is_tls(const struct target *t)
{
	return str_is(buf_view(&t->scheme), "https");
}

void target_connect_only(const struct target *t, CURL *e, const char *ca_file, bool insecure,
                         char *why)
{
	curl_easy_setopt(e, CURLOPT_URL, buf_cstr(&t->url));
	curl_easy_setopt(e, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(e, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(e, CURLOPT_NOPROXY, t->loopback ? "*" : NULL);
	if (ca_file)
		curl_easy_setopt(e, CURLOPT_CAINFO, ca_file);
	if (insecure) {
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

bool target_redirect(struct target *t, struct str location)
{
	struct target next;

	target_init(&next);
	AUTO_BUF text = BUF(BUF_MAX_SMALL / 2);
	buf_str(&text, location);
	CURLU *u = curl_url_dup(t->parsed);
	bool same = u && location.n > 0 && !text.full &&
	            curl_url_set(u, CURLUPART_URL, buf_cstr(&text), 0) == CURLUE_OK && is_http(u);
	if (same) {
		fill(&next, u);
		same = str_eq(buf_view(&next.scheme), buf_view(&t->scheme)) &&
		       strcasecmp(buf_cstr(&next.place), buf_cstr(&t->place)) == 0;
	} else {
		curl_url_cleanup(u);
	}
	if (same) {
		struct target old = *t;

		*t = next;
		next = old;
	}
	target_release(&next);
	return same;
}
