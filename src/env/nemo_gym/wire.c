/* Exchanges with a resources server of NeMo Gym: see wire.h. */
#include "env/nemo_gym/wire.h"

#include "base/base64.h"

#define COOKIE "Cookie: "

void nemo_gym_wire_init(struct nemo_gym_wire *w, struct http_json *http)
{
	*w = (struct nemo_gym_wire){
		.http = http, .session = BUF(BUF_MAX_SMALL), .before = BUF(BUF_MAX_SMALL)};
}

void nemo_gym_wire_release(struct nemo_gym_wire *w)
{
	BUFS_RELEASE(&w->session, &w->before);
}

void nemo_gym_forget(struct nemo_gym_wire *w)
{
	buf_clear(&w->http->session);
	buf_clear(&w->session);
	w->replaced = false;
}

static struct str until(struct str s, char end)
{
	const char *at = s.n ? memchr(s.p, end, s.n) : NULL;

	return at ? (struct str){s.p, (size_t)(at - s.p)} : s;
}

bool nemo_gym_session_id(struct str cookie, struct buf *out)
{
	struct buf payload = BUF(BUF_MAX_SMALL), json = BUF(BUF_MAX_SMALL);
	struct str value = str_skip(cookie, until(cookie, '=').n + 1);

	buf_str(&payload, until(value, '.'));
	while (payload.n % 4)
		buf_char(&payload, '=');
	bool found = base64_decode(&json, buf_view(&payload)) && json_is_valid(buf_view(&json)) &&
	             json_type(JSON_GET(buf_view(&json), "session_id")) == JSON_STRING;
	buf_clear(out);
	if (found)
		json_decode(JSON_GET(buf_view(&json), "session_id"), out);
	BUFS_RELEASE(&payload, &json);
	return found;
}

static void take_cookie(struct nemo_gym_wire *w, struct str set_cookie)
{
	struct str cookie = until(set_cookie, ';');
	struct buf id = BUF(BUF_MAX_SMALL);

	w->replaced = false;
	if (!cookie.n)
		return;
	buf_clear(&w->http->session);
	buf_text(&w->http->session, COOKIE);
	buf_str(&w->http->session, cookie);
	if (nemo_gym_session_id(cookie, &id)) {
		buf_set(&w->before, buf_view(&w->session));
		w->replaced = w->session.n && !str_eq(buf_view(&id), buf_view(&w->session));
		buf_set(&w->session, buf_view(&id));
	}
	buf_release(&id);
}

int nemo_gym_post(struct nemo_gym_wire *w, const char *path, struct str body,
                  struct http_json_answer *out, struct error *err)
{
	struct http_exchange *x;

	w->replaced = false;
	if (http_json_begin(w->http, path, body, w->http->conf->timeout_ms, &x, out, err))
		return -1;
	if (!x)
		return 0;
	take_cookie(w, http_header(x, "Set-Cookie"));
	return http_json_finish(w->http, x, out, err);
}
