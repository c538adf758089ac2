/* The NeMo Gym adapter: episodes, calls, and the verification at their end. */
#include "env/nemo_gym/nemo_gym.h"

#include "base/base64.h"
#include "json/write.h"
#include "protocol/tool_list.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct env_ops env_nemo_gym;

static struct env_nemo_gym *nemo_gym_of(struct env *base)
{
	return (struct env_nemo_gym *)base;
}

/* ---- requests, with calls as items of a Responses output ---- */

#define PARAMS     "responses_create_params"
#define OTHER_TASK "rolldbg-other-task" /* one that no task has */

static void put_call(struct buf *out, const char *id, struct str name, struct str arguments)
{
	json_pack(out,
	          "{type:'function_call',call_id:%t,id:%t,name:%s,arguments:%s,status:'completed'}",
	          id, id, name, arguments);
}

/* Adds a call and what came of it to the items. */
static void add_call(struct env_nemo_gym *e, struct str name, struct str arguments,
                     const struct env_reply *reply)
{
	struct str output = reply->observation.p ? reply->observation
	                    : reply->raw.p       ? reply->raw
	                                         : reply->error.message;
	char id[32];

	snprintf(id, sizeof(id), "call_%d", e->calls++);
	buf_text(&e->items, e->items.n ? "," : "");
	put_call(&e->items, id, name, arguments);
	buf_char(&e->items, ',');
	json_pack(&e->items, "{type:'function_call_output',call_id:%t,output:%s}", id,
	          output.p ? output : STR(""));
}

/* The user's members, and the parameters that each request must have. Leaves the object open. */
static void begin_task(struct env_nemo_gym *e, struct json_writer *w)
{
	struct str args = e->http.conf->reset_args;

	buf_clear(&e->http.request);
	*w = jw_begin(&e->http.request);
	jw_put_members(w, args);
	if (!JSON_GET(args, PARAMS).p)
		jw_put_raw(w, PARAMS, STR("{\"input\":[]}"));
}

/* The members that the schema of a Response requires. */
static void put_response(struct json_writer *w, struct str items)
{
	jw_pack(w,
	        "response:{id:'resp_0',created_at:0,model:'rolldbg',object:'response',output:%r,"
	        "parallel_tool_calls:false,tool_choice:'auto',tools:[]}",
	        items);
}

/* The ids of the native contract; the episode's is that of the rollout. */
static void begin_native(struct env_nemo_gym *e, struct json_writer *w)
{
	struct str task = e->other_task ? STR("\"" OTHER_TASK "\"")
	                                : JSON_GET(e->http.conf->reset_args, "task_id");

	buf_clear(&e->http.request);
	*w = jw_form(&e->http.request, "{episode_id:%t,task_id:%r", e->http.conf->env_session,
	             task.p ? task : STR("\"0\""));
}

/* The request of /reset and /seed_session. */
static void write_task(struct env_nemo_gym *e)
{
	struct str args = e->http.conf->reset_args;
	struct str data = JSON_GET(args, "task_data");
	struct json_writer w;

	if (e->style == NEMO_GYM_NATIVE) {
		begin_native(e, &w);
		jw_put_raw(&w, "task_data", data.p ? data : args.p ? args : STR("{}"));
	} else {
		begin_task(e, &w);
	}
	jw_end(&w);
}

/* The request of /step: the task, and one call as the model's response. */
static void write_step(struct env_nemo_gym *e, struct str name, struct str arguments)
{
	AUTO_BUF items = BUF(BUF_MAX_MESSAGE);
	struct str text = JSON_GET(arguments, "text");
	bool says = str_is(name, "step") && json_type(text) == JSON_STRING;
	struct json_writer w;
	char id[32];

	(void)buf_room(&items, 256 + 2 * arguments.n); /* at once */
	snprintf(id, sizeof(id), says ? "message_%d" : "call_%d", e->calls++);
	buf_char(&items, '[');
	if (says) { /* the action of environments without tools */
		json_pack(&items,
		          "{type:'message',id:%t,role:'assistant',status:'completed',"
		          "content:[{type:'output_text',text:%r,annotations:[]}]}",
		          id, text);
	} else {
		put_call(&items, id, name, arguments);
	}
	buf_char(&items, ']');
	begin_task(e, &w);
	put_response(&w, buf_view(&items));
	jw_end(&w);
}

/* The request of /verify: the task, and all calls as the model's response. */
static void write_verify(struct env_nemo_gym *e)
{
	AUTO_BUF items = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	buf_char(&items, '[');
	buf_str(&items, buf_view(&e->items));
	buf_char(&items, ']');
	if (e->style == NEMO_GYM_NATIVE) {
		begin_native(e, &w);
		jw_put_object(&w, "verification_input");
		put_response(&w, buf_view(&items));
		jw_end(&w);
	} else {
		begin_task(e, &w);
		put_response(&w, buf_view(&items));
	}
	jw_end(&w);
}

/* ---- exchanges, with the session in a cookie ---- */

/* Without a cookie, the next request gets a new session. */
static void forget_cookie(struct env_nemo_gym *e)
{
	buf_clear(&e->http.http.session);
	buf_clear(&e->session);
	e->replaced = false;
}

bool nemo_gym_session_id(struct str cookie, struct buf *out)
{
	AUTO_BUF payload = BUF(BUF_MAX_SMALL), json = BUF(BUF_MAX_SMALL);

	str_cut(&cookie, '=');
	buf_str(&payload, str_cut(&cookie, '.'));
	while (payload.n % 4)
		buf_char(&payload, '=');
	bool found = base64_decode(&json, buf_view(&payload)) && json_is_valid(buf_view(&json)) &&
	             json_type(JSON_GET(buf_view(&json), "session_id")) == JSON_STRING;
	buf_clear(out);
	if (found)
		json_decode(JSON_GET(buf_view(&json), "session_id"), out);
	return found;
}

#define COOKIE "Cookie: "

static void take_cookie(struct env_nemo_gym *e, struct str set_cookie)
{
	struct str cookie = str_cut(&set_cookie, ';'), rest = cookie;
	struct str sent = str_skip(buf_view(&e->http.http.session), strlen(COOKIE));
	AUTO_BUF id = BUF(BUF_MAX_SMALL);

	if (!cookie.n)
		return;
	str_cut(&rest, '.');
	bool same = str_starts(sent, (struct str){cookie.p, cookie.n - rest.n});
	buf_set(&e->http.http.session, STR(COOKIE));
	buf_str(&e->http.http.session, cookie);
	if (!same && nemo_gym_session_id(cookie, &id)) {
		buf_set(&e->before, buf_view(&e->session));
		e->replaced = e->session.n && !str_eq(buf_view(&id), buf_view(&e->session));
		buf_set(&e->session, buf_view(&id));
	}
}

/* POST path, sent once. -1: interrupted, or a local failure. */
static int post(struct env_nemo_gym *e, const char *path, struct http_json_answer *a,
                struct error *err)
{
	struct http_json *h = &e->http.http;
	struct http_exchange *x;

	e->replaced = false;
	if (http_json_begin(h, path, buf_view(&e->http.request), h->conf->timeout_ms, &x, a, err))
		return -1;
	if (x)
		take_cookie(e, http_header(x, "Set-Cookie"));
	e->http.base.facts.session = e->http.base.facts.env_session = buf_view(&e->session);
	return x ? http_json_finish(h, x, a, err) : 0;
}

/* The server did not accept the cookie: it has answered for a new, empty session. */
static void note_replaced(struct env_nemo_gym *e)
{
	if (e->replaced) {
		reading_note(&e->http.base.events, EVENT_SESSION_REPLACED, "cookie",
		             STR("the server answered for a new session"));
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
	json_pack(&e->http.request, "{resources_session_id:%s,episode_id:%t}",
	          buf_view(&e->resources_session), e->http.conf->env_session);
	if (!post(e, "/close_session", &a, &ignored) && a.status != 200)
		reading_note(&e->http.base.events, EVENT_NOTIFICATION, "close_session", a.text);
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
		reading_note(&e->http.base.events, EVENT_NOTIFICATION, "resources_tools",
		             STR("the server also offers its tools over MCP"));
	}
}

static int nemo_gym_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);
	struct http_json_answer a;

	close_session(e);
	forget_cookie(e);
	buf_clear(&e->items);
	e->calls = 0;
	e->http.base.facts.total_reward = e->http.base.facts.reward_components = STR_NONE;
	write_task(e);
	if (post(e, nemo_gym_styles[e->style].begin, &a, err))
		return -1;
	nemo_gym_read_begin(&a, e->style == NEMO_GYM_STEPS, &e->http.reading, out);
	if (e->style != NEMO_GYM_STEPS)
		take_session(e, a.data);
	return http_env_begin_episode(&e->http, out, e->style == NEMO_GYM_STEPS, err);
}

/* ---- calls and the state ---- */

static int call(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);
	bool steps = e->style == NEMO_GYM_STEPS;
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	struct http_json_answer a;

	if (steps)
		write_step(e, name, arguments);
	else
		buf_set(&e->http.request, arguments);
	buf_char(&path, '/');
	buf_str(&path, steps ? STR("step") : name);
	int failed = post(e, buf_cstr(&path), &a, err);
	if (failed)
		return -1;
	if (steps) {
		nemo_gym_read_step(&a, &e->http.reading, out);
	} else {
		bool known = a.status == 404 && tool_find(buf_view(&e->served), name).p;

		nemo_gym_read_tool(&a, known, http_env_before(&e->http), e->http.conf,
		                   &e->http.reading, out);
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

	if (call(base, name, arguments, out, err))
		return -1;
	if (e->style != NEMO_GYM_STEPS)
		add_call(e, name, arguments, out);
	http_env_keep_step(&e->http, out);
	if (e->replaced) { /* who was asked, and who answered */
		out->env_session = buf_view(&e->before);
		out->reply_session = buf_view(&e->session);
	}
	return 0;
}

/* ---- verification ---- */

static int nemo_gym_finish(struct env *base, struct error *err)
{
	struct env_nemo_gym *e = nemo_gym_of(base);
	AUTO_BUF detail = BUF(BUF_MAX_MESSAGE);
	struct nemo_gym_verified v;
	struct http_json_answer a;

	if (e->style == NEMO_GYM_STEPS)
		return 0;
	write_verify(e);
	if (post(e, "/verify", &a, err))
		return -1;
	note_replaced(e);
	nemo_gym_read_verify(&a, buf_view(&e->http.request), &e->http.reading, &v, &detail);
	if (!v.reward.p) {
		reading_note(&e->http.base.events, EVENT_CONTROL_PLANE_FAILED, "verify", v.why);
		return 0;
	}
	buf_set(&e->reward, v.reward);
	e->http.base.facts.total_reward = buf_view(&e->reward);
	if (v.components.p) {
		buf_set(&e->components, v.components);
		e->http.base.facts.reward_components = buf_view(&e->components);
	}
	events_push_json(&e->http.base.events, EVENT_NOTIFICATION, &detail);
	return 0;
}

/* ---- the session's contract ---- */

/* The native contract: an episode is of one task. A session that was given all the same is closed. */
static int begin_other(struct env_nemo_gym *e, struct env_contract *out, struct error *err)
{
	AUTO_BUF id = BUF(BUF_MAX_SMALL);
	struct http_json_answer a;

	e->other_task = true;
	write_task(e);
	e->other_task = false;
	if (post(e, nemo_gym_styles[e->style].begin, &a, err))
		return -1;
	env_contract_note(out, a.status >= 400, &out->broken,
	                  "a seed_session of another task in the same episode is accepted");
	if (a.status == 200 && !is_session(e, a.data)) {
		buf_set(&id, buf_view(&e->resources_session));
		buf_clear(&e->resources_session);
		take_session(e, a.data);
		close_session(e);
		buf_set(&e->resources_session, buf_view(&id));
	}
	return 0;
}

/* The task's request once more, with the cookie. */
static int begin_again(struct env_nemo_gym *e, struct env_contract *out, struct error *err)
{
	struct http_json_answer a;

	write_task(e);
	if (post(e, nemo_gym_styles[e->style].begin, &a, err))
		return -1;
	bool native = e->resources_session.n > 0;

	env_contract_note(out, !e->replaced && (!native || is_session(e, a.data)), &out->broken,
	                  "a second seed_session gets another session");
	return native ? begin_other(e, out, err) : 0;
}

/* The native contract: both requests are idempotent. */
static int close_twice(struct env_nemo_gym *e, struct str name, struct str arguments,
                       struct env_contract *out, struct error *err)
{
	AUTO_BUF id = BUF(BUF_MAX_SMALL);
	struct env_reply reply;

	buf_set(&id, buf_view(&e->resources_session));
	int first = close_session(e);
	buf_set(&e->resources_session, buf_view(&id));
	int second = close_session(e);
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
	forget_cookie(e);
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
	http_env_init(&e->http, &env_nemo_gym, conf, io);
	e->items = e->components = e->served = BUF(BUF_MAX_MESSAGE);
	e->reward = e->resources_session = e->session = e->before = BUF(BUF_MAX_SMALL);
	e->http.base.facts.traits.has_episodes = e->http.base.facts.traits.starts_over = true;
	if (state_source_parse(conf->state_spec, &e->http.source, err) ||
	    nemo_gym_describe(e, refusal, err)) {
		return -1;
	}
	enum state_kind usual = e->style == NEMO_GYM_STEPS ? STATE_OBSERVATION : STATE_NONE;

	return refusal->outcome == OUTCOME_OK ? http_env_set_source(&e->http, usual, err) : 0;
}

static void nemo_gym_close(struct env *base)
{
	struct env_nemo_gym *e = nemo_gym_of(base);

	if (!e)
		return;
	close_session(e);
	BUFS_RELEASE(&e->served, &e->items, &e->reward, &e->components, &e->resources_session,
	             &e->session, &e->before);
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
	.close = nemo_gym_close,
};
