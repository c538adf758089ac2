/* The opening handshake: see handshake.h. */
#include "net/handshake.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"

#include <curl/curl.h>

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

/* User name and password of the URL, sent as browsers do. */
static void add_user(CURLU *u, struct buf *out)
{
	char *user = NULL, *password = NULL;
	AUTO_BUF pair = BUF(BUF_MAX_SMALL);

	if (curl_url_get(u, CURLUPART_USER, &user, CURLU_URLDECODE) == CURLUE_OK) {
		(void)!curl_url_get(u, CURLUPART_PASSWORD, &password, CURLU_URLDECODE);
		buf_printf(&pair, "%s:%s", user, password ? password : "");
		buf_text(out, "Authorization: Basic ");
		base64_encode(out, buf_view(&pair));
		buf_text(out, "\r\n");
	}
	curl_free(user);
	curl_free(password);
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
	if (with_user)
		add_user(u, &h->request);
	curl_url_cleanup(u);
}

int handshake_check_header(const char *header, struct error *err)
{
	size_t name = strcspn(header, ":;\r\n");

	if (name && header[name] && !header[strcspn(header, "\r\n")])
		return 0;
	return error_set(err, FAIL_USAGE, "invalid header '%.*s': use 'Name: value' on one line",
	                 (int)name, header);
}

static int add_header(struct buf *out, const char *header, struct error *err)
{
	size_t name = strcspn(header, ":;\r\n");

	if (handshake_check_header(header, err))
		return -1;
	buf_printf(out, "%.*s:%s\r\n", (int)name, header, header + name + 1);
	return 0;
}

void handshake_accept(struct str key, char out[HANDSHAKE_ACCEPT_MAX])
{
	unsigned char digest[HASH_SHA1_BYTES];
	AUTO_BUF text = BUF(BUF_MAX_SMALL), encoded = BUF(BUF_MAX_SMALL);

	buf_str(&text, key);
	buf_text(&text, MAGIC);
	hash_sha1(buf_view(&text), digest);
	base64_encode(&encoded, (struct str){(const char *)digest, sizeof(digest)});
	text_copy(out, HANDSHAKE_ACCEPT_MAX, buf_view(&encoded));
}

static bool names_user(const char *const *headers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_starts_nocase(str_from(headers[i]), STR("Authorization:")))
			return true;
	return false;
}

int handshake_begin(struct handshake *h, const char *url, const char *user_agent,
                    const char *const *headers, size_t header_count, const unsigned char *key,
                    struct error *err)
{
	AUTO_BUF key_text = BUF(64);

	*h = (struct handshake){.request = BUF(BUF_MAX_SMALL),
	                        .fields = BUF(BUF_MAX_SMALL),
	                        .rest = BUF(BUF_MAX_SMALL)};
	http_stream_init(&h->stream, true);
	base64_encode(&key_text, (struct str){(const char *)key, HANDSHAKE_KEY_BYTES});
	handshake_accept(buf_view(&key_text), h->accept);
	add_request_lines(h, url, !names_user(headers, header_count));
	buf_printf(&h->request,
	           "Upgrade: websocket\r\n"
	           "Connection: Upgrade\r\n"
	           "Sec-WebSocket-Version: 13\r\n"
	           "Sec-WebSocket-Key: %s\r\n"
	           "User-Agent: %s\r\n",
	           buf_cstr(&key_text), user_agent);
	for (size_t i = 0; i < header_count; i++)
		if (add_header(&h->request, headers[i], err))
			return -1;
	buf_text(&h->request, "\r\n");
	return h->request.full ? error_set(err, FAIL_USAGE, "headers larger than 64 KiB") : 0;
}

void handshake_release(struct handshake *h)
{
	BUFS_RELEASE(&h->request, &h->fields, &h->rest);
	http_stream_release(&h->stream);
}

static struct str header(const struct handshake *h, const char *name)
{
	return http_field(buf_view(&h->fields), name);
}

/* RFC 6455 section 4.1: the conditions for a 101 that opens a WebSocket. */
static int check_upgrade(const struct handshake *h, struct error *err)
{
	const char *what = NULL;

	if (!http_lists(header(h, "Upgrade"), "websocket") ||
	    !http_lists(header(h, "Connection"), "upgrade")) {
		what = "without the upgrade to websocket";
	} else if (!str_is(header(h, "Sec-WebSocket-Accept"), h->accept)) {
		what = "whose Sec-WebSocket-Accept does not match the key";
	} else if (header(h, "Sec-WebSocket-Extensions").n) {
		what = "with an extension that was not offered";
	} else if (header(h, "Sec-WebSocket-Protocol").n) {
		what = "with a subprotocol that was not offered";
	}
	return what ? error_set(err, FAIL_PROTOCOL,
	                        "replied to the WebSocket handshake with a 101 %s", what)
	            : 0;
}

int handshake_feed(struct handshake *h, struct str bytes, struct error *err)
{
	struct http_part p;

	http_stream_feed(&h->stream, bytes);
	while (http_stream_next(&h->stream, &p)) {
		if (p.kind == HTTP_BROKEN) {
			return error_set(err, FAIL_PROTOCOL,
			                 "replied to the WebSocket handshake with an invalid "
			                 "head: %s",
			                 p.why);
		}
		if (p.kind != HTTP_HEAD || (p.status < 200 && p.status != 101))
			continue;
		h->status = p.status;
		buf_str(&h->fields, p.fields);
		buf_str(&h->rest, h->stream.rest);
		return h->status == 101 && check_upgrade(h, err) ? -1 : 1;
	}
	return 0;
}
