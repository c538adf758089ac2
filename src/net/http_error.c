/* Error messages of HTTP exchanges: the peer, the request, the result. */
#include "net/http.h"

#include "base/text.h"
#include "net/http_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>

/* "POST /mcp", without the query. */
static const char *request_name(const struct http_exchange *x, char out[160])
{
	snprintf(out, 160, "%s %.120s", x->request->method, buf_cstr(&x->target.path));
	return out;
}

static const char *errno_words(long number, char out[80])
{
	snprintf(out, 80, "%s", strerror((int)(number == EPIPE ? ECONNRESET : number)));
	out[0] = (char)tolower((unsigned char)out[0]);
	return out;
}

static const char *reason(const struct io_transfer *t, const char *why, char out[80])
{
	long number = 0;

	curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number);
	if (number)
		return errno_words(number, out);
	return why[0] ? why : curl_easy_strerror(t->result);
}

static bool is_tls(CURLcode rc)
{
	static const CURLcode codes[] = {
		CURLE_SSL_CONNECT_ERROR,     CURLE_PEER_FAILED_VERIFICATION,
		CURLE_SSL_CERTPROBLEM,       CURLE_SSL_CIPHER,
		CURLE_SSL_ISSUER_ERROR,      CURLE_SSL_ENGINE_NOTFOUND,
		CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_SHUTDOWN_FAILED,
	};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] == rc)
			return true;
	return false;
}

/* Messages of OpenSSL and GnuTLS for a reply that is not TLS. */
static bool is_plain_answer(const char *why)
{
	static const char *const words[] = {"wrong version number", "packet length too long",
	                                    "unexpected TLS packet", "http request"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(why, words[i]))
			return true;
	return false;
}

/* The connection was closed during the handshake: possibly a server without TLS. */
static bool closed_in_handshake(const char *why)
{
	return strstr(why, "SSL_ERROR_SYSCALL") || strstr(why, "unexpected eof");
}

/* libcurl says "Failed to connect to HOST port PORT": if that is not the target, it is a proxy. */
static bool is_proxy(const char *why, const char *place, char proxy[160])
{
	static const char before[] = "Failed to connect to ", between[] = " port ";
	const char *host = why + strlen(before), *port;

	if (strncmp(why, before, strlen(before)) != 0 || !(port = strstr(host, between)))
		return false;
	int digits = (int)strspn(port + strlen(between), "0123456789");
	snprintf(proxy, 160, "%.*s:%.*s", (int)(port - host), host, digits, port + strlen(between));
	return strcasecmp(proxy, place) != 0;
}

int io_explain_connecting(const struct io_transfer *t, const char *place, const char *why,
                          struct error *err)
{
	CURLcode rc = t->result;
	char words[80], proxy[160];

	if (rc == CURLE_COULDNT_RESOLVE_HOST) {
		return error_set(err, FAIL_TRANSPORT, "cannot resolve %.*s",
		                 (int)(strrchr(place, ':') - place), place);
	}
	if (rc == CURLE_COULDNT_RESOLVE_PROXY)
		return error_set(err, FAIL_TRANSPORT, "cannot resolve the proxy for %s", place);
	if (rc == CURLE_COULDNT_CONNECT && is_proxy(why, place, proxy)) {
		return error_set(err, FAIL_TRANSPORT,
		                 "cannot connect to the proxy %s to reach %s: %s", proxy, place,
		                 reason(t, why, words));
	}
	if (rc == CURLE_COULDNT_CONNECT || rc == CURLE_OPERATION_TIMEDOUT || rc == CURLE_PROXY) {
		return error_set(err, FAIL_TRANSPORT, "cannot connect to %s: %s", place,
		                 rc == CURLE_OPERATION_TIMEDOUT ? "timed out"
		                                                : reason(t, why, words));
	}
	if (rc == CURLE_SSL_CACERT_BADFILE)
		return error_set(err, FAIL_INPUT, "cannot use the CA file: %s", why);
	if (is_tls(rc) && is_plain_answer(why)) {
		return error_set(err, FAIL_TRANSPORT,
		                 "TLS: %s replies without TLS: use http:// instead of https://",
		                 place);
	}
	if (is_tls(rc)) {
		return error_set(
			err, FAIL_TRANSPORT, "TLS: no secure connection to %s: %s%s", place,
			why[0] ? why : curl_easy_strerror(rc),
			closed_in_handshake(why)
				? " (if it does not use TLS, use http:// instead of https://)"
			: rc == CURLE_PEER_FAILED_VERIFICATION
				? " (use \1ca_file\2 FILE to trust its CA, or \1insecure\2, or "
				  "\1model_insecure\2 for the model, to accept any certificate)"
				: "");
	}
	return 0;
}

/* CURLE_TOO_LARGE has been the code for it since libcurl 8.6. If memory really runs out, the program
   exits (base/mem.h). */
static bool is_header_too_long(CURLcode rc)
{
#if LIBCURL_VERSION_NUM >= 0x080600
	return rc == CURLE_OUT_OF_MEMORY || rc == CURLE_TOO_LARGE;
#else
	return rc == CURLE_OUT_OF_MEMORY;
#endif
}

static int explain_protocol(struct http_exchange *x, const char *what, struct error *err)
{
	CURLcode rc = x->transfer.result;
	const char *place = buf_cstr(&x->target.place);

	if (x->head.full) {
		return error_set(err, FAIL_PROTOCOL, "%s replied to %s with headers over %zu KiB",
		                 place, what, x->head.max >> 10);
	}
	if (is_header_too_long(rc)) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s replied to %s with a header line longer than libcurl accepts "
		                 "(100 KiB)",
		                 place, what);
	}
	if (x->too_large) {
		return error_set(err, FAIL_PROTOCOL,
		                 "the response of %s to %s is larger than %zu bytes", place, what,
		                 x->request->max_bytes ? x->request->max_bytes : BUF_MAX_MESSAGE);
	}
	if (rc == CURLE_UNSUPPORTED_PROTOCOL || rc == CURLE_WEIRD_SERVER_REPLY) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s replied to %s with something other than HTTP", place, what);
	}
	return 0;
}

int http_explain(struct http_exchange *x, struct error *err)
{
	CURLcode rc = x->transfer.result;
	const char *place = buf_cstr(&x->target.place);
	char words[80], name[160];
	long status = 0;
	const char *what = request_name(x, name), *why = reason(&x->transfer, x->why, words);

	curl_easy_getinfo(x->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status / 100 == 1) {
		return error_set(err, FAIL_TRANSPORT,
		                 "%s sent interim replies (HTTP %ld) to %s, but no final one",
		                 place, status, what);
	}
	if (io_explain_connecting(&x->transfer, place, x->why, err) < 0 ||
	    explain_protocol(x, what, err) < 0) {
		return -1;
	}
	/* libcurl treats a reply that ends inside its headers as complete. */
	if (rc == CURLE_GOT_NOTHING || rc == CURLE_OK || x->repeat_refused) {
		return error_set(err, FAIL_TRANSPORT, "%s closed the connection %s %s", place,
		                 rc == CURLE_OK ? "in the middle of the response headers to"
		                                : "before replying to",
		                 what);
	}
	if (rc == CURLE_PARTIAL_FILE) {
		return error_set(err, FAIL_TRANSPORT,
		                 "%s closed the connection in the middle of its response to "
		                 "%s, after %zu bytes",
		                 place, what, x->received);
	}
	if (x->headers_done) {
		return error_set(err, FAIL_TRANSPORT, "the response of %s to %s was cut off: %s",
		                 place, what, why);
	}
	return error_set(err, FAIL_TRANSPORT, "no response from %s to %s: %s", place, what, why);
}

int http_explain_encoding(struct http_exchange *x, struct error *err)
{
	struct str coding = http_header(x, "Content-Encoding");
	char name[160];

	return error_set(err, FAIL_PROTOCOL,
	                 "%s replied to %s with Content-Encoding %.*s, which was not requested: "
	                 "turn compression off in the server or its proxy",
	                 buf_cstr(&x->target.place), request_name(x, name), STR_ARG(coding));
}

int http_explain_timeout(struct http_exchange *x, struct error *err)
{
	const char *place = buf_cstr(&x->target.place);
	bool begun = x->headers_done && !x->redirected;
	const char *what = begun              ? "the response of"
	                   : http_was_sent(x) ? "no response from"
	                                      : "cannot connect to";
	AUTO_BUF span = BUF(BUF_MAX_SMALL);
	char name[160];

	text_put_duration(&span, x->request->timeout_ms);
	return error_set(err, FAIL_TIMEOUT, "%s %s%s within %s (%s)", what, place,
	                 begun ? " did not end" : "", buf_cstr(&span), request_name(x, name));
}
