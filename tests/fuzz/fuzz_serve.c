/* Requests of a client to the built-in servers over HTTP: MCP, the control plane, OpenEnv.
   The first byte selects the server and a fault; requests end with a NUL, and their first
   byte selects method, path and session. Every reply has a status and is JSON, a stream of
   it or text; there are never more steps than requests. */
#include "replies.h"
#include "serve/gym/gym.h"
#include "serve/openenv/openenv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const targets[] = {
	"frozen_lake",
	"desk",
	"frozen_lake?protocol=openenv",
	"desk?protocol=openenv",
	"frozen_lake?fault=session-churn",
	"frozen_lake?fault=fallback-session&max_envs=1",
	"frozen_lake?fault=capacity&max_envs=1",
	"frozen_lake?fault=drop-iserror&fault=stale-reward",
	"frozen_lake?fault=no-control-plane&fault=no-tools",
	"frozen_lake?fault=html-200",
	"frozen_lake?protocol=openenv&fault=no-metadata",
	"frozen_lake?protocol=openenv&fault=stateless&fault=alias",
};

static const char *const paths[] = {"/mcp",
                                    "/mcp/",
                                    "/control/initial_state",
                                    "/control/reward",
                                    "/control/status",
                                    "/control/reset_session",
                                    "/reset",
                                    "/step",
                                    "/state",
                                    "/schema",
                                    "/metadata",
                                    "/openapi.json",
                                    "/ws",
                                    "/nowhere"};

struct served {
	struct gym gym;
	struct openenv openenv;
	bool is_openenv;
	char session[TRANSPORT_ID + 1];
};

/* A stream is one event per message, each a `data:` line. */
static void check_stream(struct str body)
{
	while (body.n) {
		struct str line = take_line(&body);

		if (str_starts(line, STR("data: ")))
			require_json(text_trim(str_skip(line, 6)));
	}
}

static void check_answer(const struct reply *r)
{
	struct str body = buf_view(&r->body);

	if (r->action == REPLY_CLOSE || r->action == REPLY_WAIT)
		return;
	require(r->action == REPLY_UPGRADE || (r->status >= 200 && r->status <= 599));
	if (r->stream)
		check_stream(body);
	else if (r->type && strcmp(r->type, "application/json") == 0 && body.n)
		require_json(body);
}

/* True: call it again. */
static bool answer(struct served *s, const struct request *q)
{
	struct reply r = {.body = BUF(BUF_MAX_MESSAGE)};

	if (s->is_openenv)
		openenv_answer(&s->openenv, q, &r);
	else
		exchange_answer(&s->gym, q, &r);
	check_answer(&r);
	if (r.session[0])
		memcpy(s->session, r.session, sizeof(s->session));
	buf_release(&r.body);
	return r.action == REPLY_WAIT;
}

static void request(struct served *s, struct str text)
{
	static const char *const methods[] = {"POST", "GET", "DELETE", "OPTIONS"};
	unsigned how = text.n ? (unsigned char)text.p[0] : 0;
	struct request q = {.method = str_from(methods[how / 64]),
	                    .path = str_from(paths[how % ARRAY_LEN(paths)]),
	                    .body = str_skip(text, 1),
	                    .accept = STR("application/json, text/event-stream"),
	                    .content_type = STR("application/json"),
	                    .host = STR("localhost")};

	if (s->session[0] && (how & 32))
		q.session = str_from(s->session);
	if (str_is(q.path, "/ws")) {
		q.upgrade = STR("websocket");
		q.ws_key = str_skip(text, 1);
		q.ws_version = STR("13");
	}
	q.waited = answer(s, &q);
	if (q.waited)
		answer(s, &q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data + 1, size ? size - 1 : 0};
	struct serve_conf conf;
	struct served s = {.session = ""};
	struct error err;
	uint64_t requests = 0;

	serve_conf_init(&conf, clock_real());
	require(serve_conf_target(&conf, str_from(targets[size ? data[0] % ARRAY_LEN(targets) : 0]),
	                          &err) == 0 &&
	        serve_conf_check(&conf, &err) == 0);
	gym_init(&s.gym, &conf);
	openenv_init(&s.openenv, &conf);
	s.is_openenv = conf.protocol == SERVE_OPENENV;
	while (rest.n && requests < 64) {
		const char *nul = memchr(rest.p, '\0', rest.n);
		size_t n = nul ? (size_t)(nul - rest.p) : rest.n;

		request(&s, (struct str){rest.p, n});
		rest = str_skip(rest, nul ? n + 1 : n);
		requests++;
	}
	require(s.gym.steps + s.openenv.steps <= requests);
	gym_release(&s.gym);
	openenv_release(&s.openenv);
	return 0;
}
