/* What is known of an exchange's reply, and where it came from: see http.h. */
#include "base/text.h"
#include "net/exchange.h"

#include <strings.h>

int http_status(const struct http_exchange *x)
{
	return x->status;
}

static struct str trim(struct str s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_skip(s, 1);
	while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
		s.n--;
	return s;
}

struct str http_header(const struct http_exchange *x, const char *name)
{
	struct str rest = buf_view(&x->head), found = {NULL, 0};
	size_t n = strlen(name);
	while (x->headers_done && rest.n) {
		const char *lf = memchr(rest.p, '\n', rest.n);
		struct str line = {rest.p, lf ? (size_t)(lf - rest.p) + 1 : rest.n};
		if (line.n > n && line.p[n] == ':' && strncasecmp(line.p, name, n) == 0)
			found = trim(str_skip(line, n + 1));
		rest = str_skip(rest, line.n);
	}
	return found;
}

struct str http_media_type(const struct http_exchange *x)
{
	struct str type = http_header(x, "Content-Type");
	const char *semicolon = type.n ? memchr(type.p, ';', type.n) : NULL;
	if (semicolon)
		type.n = (size_t)(semicolon - type.p);
	return type.p ? trim(type) : type;
}

bool http_media_is(const struct http_exchange *x, const char *type)
{
	struct str media = http_media_type(x);

	return media.n == strlen(type) && !strncasecmp(media.p, type, media.n);
}

uint64_t http_retry_after_ms(const struct http_exchange *x)
{
	uint64_t ms = 0;
	curl_off_t seconds = 0;

	if (text_u64(http_header(x, "retry-after-ms"), &ms))
		return ms;
	curl_easy_getinfo(x->transfer.easy, CURLINFO_RETRY_AFTER, &seconds);
	return seconds > 0 ? (uint64_t)seconds * 1000 : 0;
}

const char *http_url(const struct http_exchange *x)
{
	return buf_cstr(&x->target.url);
}

unsigned http_repeats(const struct http_exchange *x)
{
	return x->repeats;
}

bool http_resolve(const char *url, struct str reference, struct buf *out)
{
	struct error ignored;
	struct target t;
	target_init(&t);
	bool same = target_set(&t, url, &ignored) == 0 && target_redirect(&t, reference);
	if (same)
		buf_str(out, buf_view(&t.url));
	target_release(&t);
	return same;
}
