/* The faults: see fault.h. */
#include "serve/openenv/openenv.h"

#include "json/scan.h"
#include "protocol/jsonrpc.h"
#include "serve/fault/fault.h"
#include "serve/gym/gym.h"

#include <inttypes.h>

/* ---- MCP: requests ---- */

/* As behind a proxy or on a wrong port. */
static bool html_200(const struct request *q, struct reply *r)
{
	if (!str_starts(q->path, STR("/mcp")))
		return false;
	r->status = 200;
	r->type = "text/html; charset=utf-8";
	buf_text(&r->body, "<!DOCTYPE html>\n"
	                   "<html><head><title>Welcome</title></head><body><h1>It "
	                   "works!</h1></body></html>\n");
	return true;
}

static bool http_500(const struct request *q, struct reply *r)
{
	struct jsonrpc_message m;

	jsonrpc_read(q->body, &m);
	if (!str_is(q->path, "/mcp") || !str_is(m.method, "tools/call"))
		return false;
	reply_text(r, 500, "Internal Server Error");
	return true;
}

static bool no_control_plane(const struct request *q, struct reply *r)
{
	if (!str_starts(q->path, STR("/control/")))
		return false;
	reply_text(r, 404, "Not Found");
	return true;
}

/* ---- MCP: calls ---- */

/* 15 digits, like the proxy's ids: Python object addresses, increasing. */
#define FIRST_ADDRESS   140573993008848u
#define ADDRESS_SPACING 16u

/* The broken proxy's exact response (whitespace included), with a made-up session id and without
   isError. */
static void refuse_as_proxy(struct gym *g, struct call *c)
{
	uint64_t id = FIRST_ADDRESS + ADDRESS_SPACING * g->made_up_ids++;

	buf_clear(&c->world_call.text);
	buf_printf(&c->world_call.text,
	           "{\"error\": \"Maximum concurrent environments (%" PRIu64
	           ") reached\", \"tool\": %.*s, \"session_id\": \"proxy_fallback_%" PRIu64 "\"}",
	           g->conf.max_envs, STR_ARG(c->world_call.tool), id);
	c->world_call.is_error = false;
	c->done = true;
}

static void refuse_call(struct gym *g, struct call *c)
{
	if (c->env->refused)
		refuse_as_proxy(g, c);
}

/* A proxy that cannot tell its clients apart: each call runs in a new environment, which is never
   freed; the control plane shows another one, which never changes. */
static void start_over(struct gym *g, struct call *c)
{
	if (g->slots_used >= g->conf.max_envs) {
		refuse_as_proxy(g, c);
		return;
	}
	g->slots_used++;
	g->made_up_ids++;
	gym_env_reset(g, &g->unowned, NULL);
	c->env = &g->unowned;
}

static void rebuild(struct gym *g, struct call *c)
{
	if (!c->done)
		gym_env_reset(g, c->env, NULL);
}

/* The first id of the session stays valid. */
static void replace_env(struct gym *g, struct call *c)
{
	struct transport *t = c->transport;

	if (!c->done && t->calls > 0 && t->calls % 2 == 0) {
		gym_env_reset(g, c->env, NULL);
		gym_transport_rename(t);
	}
}

/* Every second call of a transport, starting with the second, fails without effect. As on every
   MCP-Gym server, a failed call leaves the previous reward in place. */
static void fail_every_second(struct gym *g, struct call *c)
{
	(void)g;
	if (!c->done && c->transport->calls % 2 == 1) {
		world_call_fail(&c->world_call);
		buf_text(&c->world_call.text, "environment step failed");
		c->done = true;
	}
}

static void hide_error(struct gym *g, struct call *c)
{
	(void)g;
	c->world_call.is_error = false;
}

#define BAD_FIELD 10

static bool is_on_bad_field(const struct gym *g, const struct gym_env *e)
{
	AUTO_BUF state = BUF(BUF_MAX_MESSAGE);
	int64_t position = -1;

	if (e->instance) {
		g->conf.world->state(e->instance, &state);
		json_i64(JSON_GET(buf_view(&state), "position"), &position);
	}
	return position == BAD_FIELD;
}

/* A client sees the errors of the field only after it has moved there. */
static void fail_on_bad_field(struct gym *g, struct call *c)
{
	if (!c->done && !c->world_call.is_error && is_on_bad_field(g, c->env)) {
		buf_clear(&c->world_call.text);
		buf_clear(&c->world_call.structured);
		world_call_fail(&c->world_call);
		buf_printf(&c->world_call.text, "field %d is broken", BAD_FIELD);
	}
}

/* The step is executed, and the connection closes before the first byte of the response: a client
   that retries acts twice. */
static void disconnect(struct gym *g, struct call *c)
{
	(void)g;
	c->close = true;
}

/* ---- OpenEnv: messages ---- */

static void disconnect_socket(struct openenv_message *t)
{
	t->reply->disconnect = t->kind == MESSAGE_STEP;
}

/* A regular observation, except for its text. */
static void refuse_step(struct openenv_message *t)
{
	if (t->kind == MESSAGE_STEP && t->session->refused) {
		buf_printf(
			&t->reply->text,
			"{\"type\":\"observation\",\"data\":{\"observation\":{\"metadata\":{},\"error\":\"Maximum "
			"concurrent environments (%" PRIu64
			") reached\"},\"reward\":null,\"done\":false}}",
			t->session->server->conf.max_envs);
		t->done = true;
	}
}

#define STEPS_BEFORE 2 /* of close-1011 and zombie */

static void close_at_third(struct openenv_message *t)
{
	if (t->kind == MESSAGE_STEP && t->session->steps >= STEPS_BEFORE) {
		t->done = true;
		t->reply->close = 1011;
		t->reply->reason = "keepalive ping timeout";
	}
}

/* As over plain HTTP, each request runs in a new environment without a reset, which is discarded
   after the reply. */
static void act_in_new(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	if (t->kind == MESSAGE_STEP || t->kind == MESSAGE_STATE)
		episode_begin(s->episode, &s->server->conf, openenv_next_seed(s->server), STR_NONE);
}

/* A session that is idle for too long loses its environment and its slot, but not its socket. Here
   the third step counts as too late, so that tests need not wait. */
static void reap(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	if (t->kind == MESSAGE_STEP && s->steps >= STEPS_BEFORE) {
		openenv_free_slot(s);
		s->episode->reward = 0;
		openenv_reply_observation(t, true);
		t->done = true;
	}
}

#define LATE_STEP 2

/* A step that takes longer than the client's timeout: its reply is held back until the client sends
   its next step or reset. A client that mistakes it for the new reply is one behind from then on. */
static void send_held(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	if (s->holding && (t->kind == MESSAGE_STEP || t->kind == MESSAGE_RESET)) {
		struct buf none = t->reply->late;

		t->reply->late = s->held;
		s->held = none;
		s->holding = false;
	}
}

static void hold(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	s->holding |= t->kind == MESSAGE_STEP && s->steps == LATE_STEP;
	if (s->holding) {
		buf_str(&s->held, buf_view(&t->reply->text));
		buf_char(&s->held, '\n');
		buf_clear(&t->reply->text);
	}
}

/* ---- the table ---- */

#define ON_MCP     (1u << SERVE_MCP)
#define ON_OPENENV (1u << SERVE_OPENENV)
#define ON_BOTH    (ON_MCP | ON_OPENENV)

const struct fault serve_faults[] = {
#define FAULT(...) {__VA_ARGS__},
#include "serve/fault/faults.def"
#undef FAULT
};
const size_t serve_faults_count = ARRAY_LEN(serve_faults);
_Static_assert(ARRAY_LEN(serve_faults) <= 64, "serve_conf.faults has a bit for each");

const struct fault *fault_of(const struct serve_conf *c, size_t *cursor)
{
	while (*cursor < serve_faults_count) {
		size_t i = (*cursor)++;

		if (c->faults >> i & 1)
			return &serve_faults[i];
	}
	return NULL;
}

unsigned fault_traits(const struct serve_conf *c)
{
	unsigned traits = 0;
	size_t cursor = 0;

	for (const struct fault *f; (f = fault_of(c, &cursor));)
		traits |= f->traits;
	return traits;
}

uint64_t fault_wait_ms(const struct serve_conf *c)
{
	uint64_t wait_ms = c->delay_ms;
	size_t cursor = 0;

	for (const struct fault *f; (f = fault_of(c, &cursor));)
		wait_ms = !wait_ms || f->wait_ms == WAIT_FOREVER ? f->wait_ms : wait_ms;
	return wait_ms;
}
