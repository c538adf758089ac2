/* The properties of an exchange's reply: see http.h. */
#include "net/http.h"

#include "base/text.h"
#include "net/handshake.h"
#include "net/http_internal.h"

#include <strings.h>

int http_status(const struct http_exchange *x)
{
	return x->status;
}

struct str http_header(const struct http_exchange *x, const char *name)
{
	return x->headers_done ? head_value(buf_view(&x->head), name) : STR_NONE;
}

struct str http_media_type(const struct http_exchange *x)
{
	struct str type = http_header(x, "Content-Type");

	return type.p ? text_trim(str_cut(&type, ';')) : type;
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

bool http_is_loopback(const char *url)
{
	struct error ignored;
	struct target t;

	target_init(&t);
	bool loopback = target_set(&t, url, &ignored) == 0 && t.loopback;
	target_release(&t);
	return loopback;
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
