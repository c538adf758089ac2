/* The NeMo Gym adapter: episodes, calls, and the verification at their end. */
#include "env/nemo_gym/nemo_gym.h"

#include "env/tool_list.h"
#include "json/write.h"

#include <stdlib.h>

extern const struct env_ops env_nemo_gym;

static struct env_nemo_gym *nemo_gym_of(struct env *base)
{
	return (struct env_nemo_gym *)base;
}

static int post(struct env_nemo_gym *e, const char *path, struct http_json_answer *a,
                struct error *err)
{
	if (nemo_gym_post(&e->wire, path, buf_view(&e->http.request), a, err))
		return -1;
	e->http.facts.session = e->http.facts.env_session = buf_view(&e->wire.session);
	return 0;
}

/* The server did not accept the cookie: it has answered for a new, empty session. */
static void note_replaced(struct env_nemo_gym *e)
{
	if (e->wire.replaced) {
		reading_note(&e->http.events, EVENT_SESSION_REPLACED, "cookie",
		             STR("the server answered for a new session"), false);
	}
}

/* ---- an episode ---- */

/* The status of the reply; 0: none, or no session was open. */
static int close_session(struct env_nemo_gym *e)
{
	struct http_json_answer a = {0};
	struct error ignored = {0};

	if (!e->resources_session.n)
		return 0;
	buf_clear(&e->http.request);
	struct json_writer w = jw_begin(&e->http.request);
	jw_put_str(&w, "resources_session_id", buf_view(&e->resources_session));
	jw_put_text(&w, "episode_id", e->http.conf->env_session);
	jw_end(&w);
	if (!post(e, "/close_session", &a, &ignored) && a.status != 200)
		reading_note(&e->http.events, EVENT_NOTIFICATION, "close_session", a.text, false);
	buf_clear(&e->resources_session);
	return a.status;
}

static bool is_session(const struct env_nemo_gym *e, struct str reply)
{
	return json_is(JSON_GET(reply, "resources_session_id"), buf_view(&e->resources_session));
}

/* The native contract's session; its tools may be served over MCP only. */
static void take_session(struct env_nemo_gym *e, struct str reply)
{
	struct str id = JSON_GET(reply, "resources_session_id");
	struct str tools = JSON_GET(reply, "resources_tools");

	if (json_type(id) == JSON_STRING)
		json_decode(id, &e->resources_session);
	if (!json_is_null(tools)) {
		reading_note(&e->http.events, EVENT_NOTIFICATION, "resources_tools",
		             STR("the server also offers its tools over MCP"), false);
	}
}

static int nemo_gym_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);
	struct http_json_answer a;

	*out = (struct env_reply){REPLY_UNKNOWN};
	close_session(e);
	nemo_gym_forget(&e->wire);
	buf_clear(&e->items);
	e->calls = 0;
	e->http.facts.total_reward = e->http.facts.reward_components = STR_NONE;
	nemo_gym_write_task(e);
	if (post(e, nemo_gym_styles[e->style].begin, &a, err))
		return -1;
	if (e->style == NEMO_GYM_STEPS) {
		nemo_gym_read_step(&a, &e->reading, out);
	} else {
		nemo_gym_read_other(&a, &e->reading, out);
		take_session(e, a.data);
	}
	http_env_keep_reset(&e->http, out, e->style == NEMO_GYM_STEPS);
	out->env_session = e->http.facts.env_session;
	return http_env_choose_ignored(&e->http, err);
}

/* ---- calls and the state ---- */

static int call(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);
	struct buf path = BUF(BUF_MAX_SMALL);
	struct http_json_answer a;
	int failed;

	if (e->style == NEMO_GYM_STEPS) {
		nemo_gym_write_step(e, name, arguments);
		failed = post(e, "/step", &a, err);
	} else {
		http_env_store(&e->http.request, arguments);
		buf_printf(&path, "/%.*s", STR_ARG(name));
		failed = post(e, buf_cstr(&path), &a, err);
	}
	buf_release(&path);
	if (failed)
		return -1;
	if (e->style == NEMO_GYM_STEPS) {
		nemo_gym_read_step(&a, &e->reading, out);
	} else {
		nemo_gym_read_tool(&a, tool_is_listed(e->http.facts.tools, name),
		                   http_env_before(&e->http), e->http.conf, &e->reading, out);
	}
	note_replaced(e);
	return 0;
}

static int nemo_gym_state(struct env *base, struct str *out, struct error *err)
{
	return http_env_state(&nemo_gym_of(base)->http, call, out, err);
}

static int nemo_gym_step(struct env *base, struct str name, struct str arguments,
                         struct env_reply *out, struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);

	*out = (struct env_reply){REPLY_UNKNOWN};
	if (call(base, name, arguments, out, err))
		return -1;
	if (e->style != NEMO_GYM_STEPS)
		nemo_gym_add_call(e, name, arguments, out);
	http_env_keep_step(&e->http, out);
	if (e->wire.replaced) { /* who was asked, and who answered */
		out->env_session = buf_view(&e->wire.before);
		out->reply_session = buf_view(&e->wire.session);
	}
	return 0;
}

/* ---- verification ---- */

/* The members that the server added to the request: reward_components, failure_kind .. */
static void note_verified(struct env_nemo_gym *e, struct str reply)
{
	struct str request = buf_view(&e->http.request);
	struct buf detail = BUF(BUF_MAX_MESSAGE);
	struct json_member m;
	struct json_writer w = jw_begin(&detail);

	jw_put_text(&w, "what", "verify");
	for (size_t cursor = 0; json_next_member(reply, &cursor, &m);)
		if (!json_get(request, m.key).p)
			jw_put_member(&w, m.key, m.value);
	jw_end(&w);
	events_push_json(&e->http.events, EVENT_NOTIFICATION, &detail);
	buf_release(&detail);
}

static int nemo_gym_finish(struct env *base, struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);
	struct http_json_answer a;
	struct env_reply reply;

	if (e->style == NEMO_GYM_STEPS)
		return 0;
	nemo_gym_write_verify(e);
	if (post(e, "/verify", &a, err))
		return -1;
	note_replaced(e);
	nemo_gym_read_other(&a, &e->reading, &reply);
	struct str reward = http_env_reward(JSON_GET(a.data, "reward"));
	if (reply.outcome != OUTCOME_OK || !reward.p) {
		reading_note(&e->http.events, EVENT_CONTROL_PLANE_FAILED, "verify",
		             reply.outcome == OUTCOME_OK ? STR("the reply has no reward")
		                                         : reply.error.message,
		             false);
		return 0;
	}
	http_env_store(&e->reward, reward);
	e->http.facts.total_reward = buf_view(&e->reward);
	struct str components = JSON_GET(a.data, "reward_components");
	if (json_type(components) == JSON_OBJECT) {
		http_env_store(&e->components, components);
		e->http.facts.reward_components = buf_view(&e->components);
	}
	note_verified(e, a.data);
	return 0;
}

/* ---- the session's contract ---- */

/* The native contract: an episode is of one task. A session that was given all the same is closed. */
static int begin_other(struct env_nemo_gym *e, struct env_contract *out, struct error *err)
{
	struct buf id = BUF(BUF_MAX_SMALL);
	struct http_json_answer a;

	e->other_task = true;
	nemo_gym_write_task(e);
	e->other_task = false;
	if (post(e, nemo_gym_styles[e->style].begin, &a, err))
		return -1;
	env_contract_note(out, a.status >= 400, &out->broken,
	                  "a seed_session of another task in the same episode is accepted");
	if (a.status == 200 && !is_session(e, a.data)) {
		http_env_store(&id, buf_view(&e->resources_session));
		buf_clear(&e->resources_session);
		take_session(e, a.data);
		close_session(e);
		http_env_store(&e->resources_session, buf_view(&id));
		buf_release(&id);
	}
	return 0;
}

/* The task's request once more, with the cookie. */
static int begin_again(struct env_nemo_gym *e, struct env_contract *out, struct error *err)
{
	struct http_json_answer a;

	nemo_gym_write_task(e);
	if (post(e, nemo_gym_styles[e->style].begin, &a, err))
		return -1;
	bool native = e->resources_session.n > 0;

	env_contract_note(out, !e->wire.replaced && (!native || is_session(e, a.data)),
	                  &out->broken, "a second seed_session gets another session");
	return native ? begin_other(e, out, err) : 0;
}

/* The native contract: both requests are idempotent. */
static int close_twice(struct env_nemo_gym *e, struct str name, struct str arguments,
                       struct env_contract *out, struct error *err)
{
	struct buf id = BUF(BUF_MAX_SMALL);
	struct env_reply reply;

	http_env_store(&id, buf_view(&e->resources_session));
	int first = close_session(e);
	http_env_store(&e->resources_session, buf_view(&id));
	int second = close_session(e);
	buf_release(&id);
	env_contract_note(out, first == 200 && second == 200, &out->broken,
	                  "a second close_session fails");
	if (call(&e->http.base, name, arguments, &reply, err))
		return -1;
	env_contract_note(out, reply.outcome != OUTCOME_OK, &out->broken,
	                  "a call after close_session is answered");
	return 0;
}

static int nemo_gym_examine(struct env *base, struct str name, struct str arguments,
                            struct env_contract *out, struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);
	struct env_reply reply;

	if (begin_again(e, out, err) ||
	    (e->resources_session.n && close_twice(e, name, arguments, out, err))) {
		return -1;
	}
	nemo_gym_forget(&e->wire);
	if (call(base, name, arguments, &reply, err))
		return -1;
	env_contract_note(out, reply.outcome != OUTCOME_OK, &out->odd,
	                  "a call without the cookie is answered, for a new session");
	return 0;
}

/* ---- opening and closing ---- */

static int nemo_gym_open(const struct env_conf *conf, struct io *io, struct env **out,
                         struct env_reply *refusal, struct error *err)
{
	struct env_nemo_gym *e = mem_new(sizeof(*e));

	*out = &e->http.base;
	*refusal = (struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	http_env_init(&e->http, &env_nemo_gym, conf, io);
	e->items = e->components = BUF(BUF_MAX_MESSAGE);
	e->reward = e->resources_session = BUF(BUF_MAX_SMALL);
	nemo_gym_wire_init(&e->wire, &e->http.http);
	nemo_gym_reading_init(&e->reading, &e->http.words);
	e->http.facts.traits.has_episodes = e->http.facts.traits.starts_over = true;
	if (state_source_parse(conf->state_spec, &e->http.source, err) ||
	    nemo_gym_describe(e, refusal, err)) {
		return -1;
	}
	if (e->http.source.kind == STATE_AUTO)
		e->http.source.kind = e->style == NEMO_GYM_STEPS ? STATE_OBSERVATION : STATE_NONE;
	return refusal->outcome == OUTCOME_OK ? http_env_set_source(&e->http, err) : 0;
}

static void nemo_gym_close(struct env *base)
{
	struct env_nemo_gym *e = nemo_gym_of(base);

	if (!e)
		return;
	close_session(e);
	BUFS_RELEASE(&e->items, &e->reward, &e->components, &e->resources_session);
	nemo_gym_wire_release(&e->wire);
	nemo_gym_reading_release(&e->reading);
	http_env_release(&e->http);
	free(e);
}

const struct env_ops env_nemo_gym = {
	.name = "nemo-gym",
	.help = "NeMo Gym's resources servers",
	.protocols = (const char *const[]){"nemo-gym", NULL},
	.places = "http(s)://HOST",
	.limit_fix = "start more servers, or raise the server's limit of sessions",
	.claims = http_env_claims,
	.recognizes = nemo_gym_answers,
	.open = nemo_gym_open,
	.reset = nemo_gym_reset,
	.state = nemo_gym_state,
	.step = nemo_gym_step,
	.finish = nemo_gym_finish,
	.examine = nemo_gym_examine,
	.facts = http_env_facts,
	.event = http_env_event,
	.close = nemo_gym_close,
};
