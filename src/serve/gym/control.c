/* MCP-Gym's control plane: plain HTTP endpoints next to the MCP endpoint. The environment's id
   is sent as mcp-session-id. The reward is that of the last executed step: a failed call does
   not reset it. */
#include "serve/gym/gym.h"

#include "json/scan.h"
#include "json/write.h"
#include "serve/playback/playback.h"

#include <inttypes.h>

struct control {
	struct gym *gym;
	struct gym_env *env; /* NULL: not used yet */
	const struct request *request;
	struct reply *reply;
};

static PRINTF_LIKE(3, 4) void answer_error(struct reply *r, unsigned status, const char *fmt, ...)
{
	AUTO_BUF message = BUF(BUF_MAX_SMALL);
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&message, fmt, args);
	va_end(args);
	reply_json(r, status, "");
	json_pack(&r->body, "{error:%s}", buf_view(&message));
}

static void answer_playback_state(struct control *c)
{
	struct str state = c->env ? playback_control_state(c->env->played) : STR_NONE;

	if (state.p)
		buf_str(&c->reply->body, state);
	else
		answer_error(c->reply, 404, "No state was recorded for this session");
}

/* The current observation. Creates the environment if necessary. */
static void initial_state(struct control *c)
{
	if (c->gym->conf.playback) {
		answer_playback_state(c);
		return;
	}
	struct gym_env *e = gym_env_open(c->gym, c->request->session);

	if (!e) {
		answer_error(c->reply, 500, "Maximum concurrent environments (%" PRIu64 ") reached",
		             c->gym->conf.max_envs);
		return;
	}
	if (!e->instance)
		gym_env_reset(c->gym, e, NULL);
	c->gym->conf.world->state(e->instance, &c->reply->body);
}

static void answer_playback_status(struct control *c)
{
	const struct playback_session *s = c->env->played;
	const struct recorded_reply *last = playback_last(s);
	AUTO_BUF total = BUF(BUF_MAX_SMALL);

	playback_total(s, &total);
	json_pack(&c->reply->body, "{terminated:%r,truncated:%r,step_count:%i,total_reward:%r}",
	          json_flag(s->last ? last->terminated : last->terminated > 0),
	          json_flag(s->last ? last->truncated : last->truncated > 0), playback_steps(s),
	          buf_view(&total));
}

static void answer_playback_reward(struct control *c)
{
	const struct playback_session *s = c->env->played;
	struct str reward = s->last ? s->last->reply.reward : STR("0.0");

	json_pack(&c->reply->body, "{reward:%r,step_count:%i}", reward, playback_steps(s));
}

/* Before the first step: the framework's default, a float. After it: the world's, an integer. */
static void reward(struct control *c)
{
	const struct gym_env *e = c->env;

	if (e->played) {
		answer_playback_reward(c);
		return;
	}
	buf_printf(&c->reply->body, "{\"reward\":%d%s,\"step_count\":%" PRIu64 "}", e->reward,
	           e->step_count ? "" : ".0", e->step_count);
}

static void status(struct control *c)
{
	const struct gym_env *e = c->env;

	if (e->played) {
		answer_playback_status(c);
		return;
	}
	buf_printf(&c->reply->body,
	           "{\"terminated\":%s,\"truncated\":false,\"step_count\":%" PRIu64
	           ",\"total_reward\":%" PRId64 ".0}",
	           e->terminated ? "true" : "false", e->step_count, e->total_reward);
}

static void info(struct control *c)
{
	if (c->env->played || c->env->step_count == 0)
		buf_text(&c->reply->body, "{}");
	else
		c->gym->conf.world->info(c->env->instance, &c->reply->body);
}

/* Accepts a non-negative integer. Without a seed the environment uses its own. */
static bool read_seed(struct str body, bool *given, uint64_t *seed)
{
	int64_t number = 0;

	if (!json_is_valid(body) || json_type(body) != JSON_OBJECT)
		return false;
	struct str value = JSON_GET(body, "seed");

	*given = !json_is_null(value);
	if (*given && (!json_i64(value, &number) || number < 0))
		return false;
	*seed = (uint64_t)number;
	return true;
}

static void reset_playback(struct control *c, bool given, uint64_t seed)
{
	struct playback_request wanted = {.has_seed = given, .seed = (int64_t)seed};
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	if (playback_reset(c->env->played, &wanted, &why))
		buf_text(&c->reply->body, "{\"message\":\"Session reset successfully\"}");
	else
		answer_error(c->reply, 409, "%s", buf_cstr(&why));
}

/* Reports success even if the session does not exist, like the framework. */
static void reset_session(struct control *c)
{
	uint64_t seed;
	bool given;

	if (!read_seed(c->request->body, &given, &seed)) {
		reply_text(c->reply, 500, "Internal Server Error");
	} else if (c->request->session.n == 0) {
		answer_error(c->reply, 400, "Missing mcp-session-id header");
	} else if (c->env && c->env->played) {
		reset_playback(c, given, seed);
	} else {
		if (c->env)
			gym_env_reset(c->gym, c->env, given ? &seed : NULL);
		buf_text(&c->reply->body, "{\"message\":\"Session reset successfully\"}");
	}
}

static const struct {
	const char *path;
	void (*answer)(struct control *c);
	bool is_post;
	bool needs_env; /* 404 if the environment does not exist yet */
} endpoints[] = {
	{"/control/initial_state", initial_state, false, false},
	{"/control/reward", reward, false, true},
	{"/control/status", status, false, true},
	{"/control/info", info, false, true},
	{"/control/reset_session", reset_session, true, false},
};

static void answer_endpoint(struct control *c, size_t i)
{
	if (!str_is(c->request->method, endpoints[i].is_post ? "POST" : "GET")) {
		reply_text(c->reply, 405, "Method Not Allowed");
		c->reply->allow = endpoints[i].is_post ? "POST" : "GET";
		return;
	}
	c->env = gym_env(c->gym, c->request->session);
	if (c->env && !c->env->instance && !c->env->played)
		c->env = NULL;
	reply_json(c->reply, 200, "");
	if (!endpoints[i].is_post && c->request->session.n == 0)
		answer_error(c->reply, 400, "Missing mcp-session-id header");
	else if (endpoints[i].needs_env && !c->env)
		answer_error(c->reply, 404, "Session %.*s not found", STR_ARG(c->request->session));
	else
		endpoints[i].answer(c);
}

/* False when playing the recording of a plain MCP server. */
static bool has_control_plane(const struct gym *g)
{
	struct str protocol =
		g->conf.playback ? playback_sample(g->conf.playback)->protocol : STR_NONE;

	return !protocol.p || protocol_parse(protocol) == PROTOCOL_MCP_GYM;
}

void control_answer(struct gym *g, const struct request *q, struct reply *r)
{
	struct control c = {.gym = g, .request = q, .reply = r};

	for (size_t i = 0; has_control_plane(g) && i < ARRAY_LEN(endpoints); i++) {
		if (str_is(q->path, endpoints[i].path)) {
			answer_endpoint(&c, i);
			return;
		}
	}
	reply_text(r, 404, "Not Found");
}
