/* The model's chat template: see template.h. */
#include "policy/llm/template.h"

#include "base/log.h"
#include "net/http.h"
#include "policy/toolformats/reader.h"

#define TEMPLATE_MAX        ((size_t)4 << 20)
#define TEMPLATE_TIMEOUT_MS 5000

/* http://HOST/v1/chat/completions as http://HOST/props: next to /v1, or at the root. */
static bool put_url(const struct llm_conf *c, struct buf *out)
{
	const char *version = strstr(strstr(c->url, "://") + 3, "/v1/");

	if (!version) {
		return http_resolve(c->url, str_from(c->profile->template_path), out);
	}
	buf_add(out, c->url, (size_t)(version - c->url));
	buf_text(out, c->profile->template_path);
	return true;
}

/* False: none came, and err says why, or the status does. */
static bool get(struct chat *c, const char *url, struct buf *body, int *status, struct error *err)
{
	const struct http_request q = {.method = "GET",
	                               .url = url,
	                               .headers = c->headers,
	                               .header_count = c->header_count,
	                               .timeout_ms = TEMPLATE_TIMEOUT_MS,
	                               .max_bytes = TEMPLATE_MAX,
	                               .may_repeat = true,
	                               .trust = c->conf->insecure ? TRUST_ANY : TRUST_VALID};
	struct http_exchange *x = NULL;

	if (http_begin(c->io, &q, &x, err)) {
		return false;
	}
	bool got = http_wait_headers(x, err) == 0;
	*status = got ? http_status(x) : 0;
	got = got && *status == 200 && http_read_all(x, body, err) == 0;
	http_drain(x);
	return got;
}

static const char *ask(void *arg)
{
	struct chat *c = arg;
	struct buf url = BUF(BUF_MAX_SMALL), body = BUF(TEMPLATE_MAX), text = BUF(TEMPLATE_MAX);
	struct error why = {0};
	const char *format = NULL;
	int status = 0;

	if (put_url(c->conf, &url) && get(c, buf_cstr(&url), &body, &status, &why) &&
	    json_is_valid(buf_view(&body))) {
		struct str template = JSON_GET(buf_view(&body), "chat_template");

		if (json_type(template) == JSON_STRING) {
			json_decode(template, &text);
			format = tool_format_of_template(buf_view(&text));
		}
	}
	log_debug("GET %s: %s%s", buf_cstr(&url),
	          format        ? "the chat template writes calls as "
	          : why.text[0] ? why.text
	          : text.n      ? "the chat template shows no known format of calls"
	                        : "no chat template",
	          format ? format : "");
	buf_release(&url);
	buf_release(&body);
	buf_release(&text);
	return format;
}

const char *chat_template_format(struct chat *c)
{
	if (c->conf->tool_format || !c->conf->profile->template_path || !c->io) {
		return NULL;
	}
	return llm_usage_format(c->usage, ask, c);
}
