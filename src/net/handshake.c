/* The opening handshake: see handshake.h. */
#include "net/handshake.h"

#include "base/hash.h"
#include "base/text.h"

#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>

#define MAGIC "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455 section 1.3 */

static void add_part(CURLU *u, CURLUPart part, const char *before, struct buf *out)
{
	char *text = NULL;

	if (curl_url_get(u, part, &text, 0) == CURLUE_OK) {
		buf_text(out, before);
		buf_text(out, text);
	}
	curl_free(text);
}

/* Name and password of the URL, as a browser sends them. */
static void add_user(CURLU *u, struct buf *out)
{
	char *user = NULL, *password = NULL;
	struct buf pair = BUF(BUF_MAX_SMALL);

	if (curl_url_get(u, CURLUPART_USER, &user, CURLU_URLDECODE) == CURLUE_OK) {
		(void)!curl_url_get(u, CURLUPART_PASSWORD, &password, CURLU_URLDECODE);
		buf_printf(&pair, "%s:%s", user, password ? password : "");
		buf_text(out, "Authorization: Basic ");
		text_base64(out, buf_view(&pair));
		buf_text(out, "\r\n");
	}
	curl_free(user);
	curl_free(password);
	buf_release(&pair);
}

static void add_request_lines(struct handshake *h, const char *url, bool with_user)
{
	CURLU *u = curl_url();

	curl_url_set(u, CURLUPART_URL, url, 0);
	buf_text(&h->request, "GET ");
	add_part(u, CURLUPART_PATH, "", &h->request);
	add_part(u, CURLUPART_QUERY, "?", &h->request);
	add_part(u, CURLUPART_HOST, " HTTP/1.1\r\nHost: ", &h->request);
	add_part(u, CURLUPART_PORT, ":", &h->request);
	buf_text(&h->request, "\r\n");
	if (with_user) {
		add_user(u, &h->request);
	}
	curl_url_cleanup(u);
}

static int add_header(struct buf *out, const char *header, struct error *err)
{
	size_t name = strcspn(header, ":;\r\n");

	if (!name || !header[name] || header[strcspn(header, "\r\n")]) {
		return error_set(err, FAIL_USAGE,
		                 "'%.*s' is no header: use 'Name: value' on one line",
		                 (int)name, header);
	}
	buf_printf(out, "%.*s:%s\r\n", (int)name, header, header + name + 1);
	return 0;
}

static void set_accept(struct handshake *h, struct str key)
{
	unsigned char digest[HASH_SHA1_BYTES];
	struct buf text = BUF(256), accept = BUF(sizeof(h->accept) - 1);

	buf_str(&text, key);
	buf_text(&text, MAGIC);
	hash_sha1(buf_view(&text), digest);
	text_base64(&accept, (struct str){(const char *)digest, sizeof(digest)});
	snprintf(h->accept, sizeof(h->accept), "%s", buf_cstr(&accept));
	buf_release(&text);
	buf_release(&accept);
}

static bool names_user(const char *const *headers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!strncasecmp(headers[i], "Authorization:", 14)) {
			return true;
		}
	}
	return false;
}

int handshake_begin(struct handshake *h, const char *url, const char *user_agent,
                    const char *const *headers, size_t header_count,
                    const unsigned char *key, struct error *err)
{
	struct buf key_text = BUF(64);

	*h = (struct handshake){.request = BUF(BUF_MAX_SMALL),
	                        .reply = BUF(BUF_MAX_SMALL)};
	text_base64(&key_text, (struct str){(const char *)key, HANDSHAKE_KEY_BYTES});
	set_accept(h, buf_view(&key_text));
	add_request_lines(h, url, !names_user(headers, header_count));
	buf_printf(&h->request,
	           "Upgrade: websocket\r\nConnection: Upgrade\r\n"
	           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n"
	           "User-Agent: %s\r\n",
	           buf_cstr(&key_text), user_agent);
	buf_release(&key_text);
	for (size_t i = 0; i < header_count; i++) {
		if (add_header(&h->request, headers[i], err)) {
			return -1;
		}
	}
	buf_text(&h->request, "\r\n");
	return h->request.full ? error_set(err, FAIL_USAGE, "headers larger than 64 KiB")
	                       : 0;
}

void handshake_release(struct handshake *h)
{
	buf_release(&h->request);
	buf_release(&h->reply);
}

static struct str trim(struct str s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s = str_skip(s, 1);
	}
	while (s.n && (unsigned char)s.p[s.n - 1] <= ' ') {
		s.n--;
	}
	return s;
}

struct str handshake_header(const struct handshake *h, struct str name)
{
	struct str rest = {h->reply.p, h->head}, found = {NULL, 0};

	while (rest.n) {
		const char *lf = memchr(rest.p, '\n', rest.n);
		struct str line = {rest.p, lf ? (size_t)(lf - rest.p) + 1 : rest.n};

		if (line.n > name.n && line.p[name.n] == ':' &&
		    !strncasecmp(line.p, name.p, name.n)) {
			found = trim(str_skip(line, name.n + 1));
		}
		rest = str_skip(rest, line.n);
	}
	return found;
}

static bool is_folded(struct str s, struct str word)
{
	return s.n == word.n && !strncasecmp(s.p, word.p, word.n);
}

/* Is the word among the comma-separated ones? */
static bool lists(struct str list, struct str word)
{
	while (list.n) {
		const char *comma = memchr(list.p, ',', list.n);
		size_t n = comma ? (size_t)(comma - list.p) : list.n;

		if (is_folded(trim((struct str){list.p, n}), word)) {
			return true;
		}
		list = str_skip(list, n + 1);
	}
	return false;
}

/* RFC 6455 section 4.1: what makes a 101 the beginning of a WebSocket. */
static int check_upgrade(const struct handshake *h, struct error *err)
{
	const char *what = NULL;

	if (!is_folded(handshake_header(h, STR("Upgrade")), STR("websocket")) ||
	    !lists(handshake_header(h, STR("Connection")), STR("upgrade"))) {
		what = "without the upgrade to websocket";
	} else if (!str_is(handshake_header(h, STR("Sec-WebSocket-Accept")), h->accept)) {
		what = "whose Sec-WebSocket-Accept does not fit our key";
	} else if (handshake_header(h, STR("Sec-WebSocket-Extensions")).n) {
		what = "with an extension that was not offered";
	} else if (handshake_header(h, STR("Sec-WebSocket-Protocol")).n) {
		what = "with a subprotocol that was not offered";
	}
	return what ? error_set(err, FAIL_PROTOCOL,
	                        "answered the WebSocket handshake with a 101 %s", what)
	            : 0;
}

/* "HTTP/1.1 101 ..." */
static int read_status(struct handshake *h, struct error *err)
{
	const char *p = h->reply.p;
	uint64_t status;

	if (h->head < 14 || strncmp(p, "HTTP/1.", 7) != 0 || p[8] != ' ' ||
	    !text_u64((struct str){p + 9, 3}, &status)) {
		return error_set(err, FAIL_PROTOCOL,
		                 "answered the WebSocket handshake with something that "
		                 "is no HTTP");
	}
	h->status = (int)status;
	return 0;
}

static const char *end_of_head(const struct buf *reply, size_t from)
{
	for (size_t at = from; at + 4 <= reply->n; at++) {
		if (!memcmp(reply->p + at, "\r\n\r\n", 4)) {
			return reply->p + at + 4;
		}
	}
	return NULL;
}

int handshake_feed(struct handshake *h, struct str bytes, struct error *err)
{
	size_t from = h->reply.n > 3 ? h->reply.n - 3 : 0;

	buf_str(&h->reply, bytes);
	const char *end = end_of_head(&h->reply, from);
	if (!end && h->reply.n >= 5 && strncmp(h->reply.p, "HTTP/", 5) != 0) {
		h->head = 0;
		return read_status(h, err);
	}
	if (!end) {
		return h->reply.full ? error_set(err, FAIL_PROTOCOL,
		                                 "answered the WebSocket handshake with "
		                                 "headers over %zu KiB",
		                                 h->reply.max >> 10)
		                     : 0;
	}
	h->head = (size_t)(end - h->reply.p);
	if (read_status(h, err) || (h->status == 101 && check_upgrade(h, err))) {
		return -1;
	}
	return 1;
}
