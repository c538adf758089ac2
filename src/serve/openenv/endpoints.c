/* OpenEnv's HTTP endpoints: descriptions of the server, and /reset, /step and /state. Each request
   has its own environment, except on a server of core 0.1. See openenv.h. */
#include "base/text.h"
#include "json/arguments.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/fault/fault.h"
#include "serve/openenv/openenv.h"
#include "serve/playback/playback.h"

/* ---- validation of the members of messages and actions ---- */

bool fields_fit(struct str object, struct str schema, struct buf *why)
{
	AUTO_ARENA arena = {0};
	struct error err;
	bool fit = arguments_check(arguments_read(&arena, schema), object, &err) == 0;

	if (!fit) {
		json_pack(why, "{type:'value_error',loc:['body'],msg:%t,input:%r}", err.text,
		          object);
	}
	return fit;
}

bool fields_fit_action(const struct world *w, struct str action, struct buf *why)
{
	AUTO_BUF schema = BUF(BUF_MAX_MESSAGE);

	episode_action_schema(w, action, &schema);
	return fields_fit(action, buf_view(&schema), why);
}

/* ---- JSON-RPC, named mcp, but not MCP: the list of tools ---- */

#define INVALID_REQUEST (-32600)
#define UNKNOWN_METHOD  (-32601)
#define INTERNAL_ERROR  (-32603)

/* Absent: the environment has no tools. */
static struct str offered_tools(const struct openenv *o)
{
	if (o->conf.playback)
		return openenv_playback_tools(o->conf.playback);
	return episode_has_tools(o->conf.world) ? *o->conf.world->tools : STR_NONE;
}

/* Tools are listed without a step; they are called in steps, which a recording has. */
void openenv_rpc(const struct openenv *o, struct str request, struct buf *out)
{
	struct str id = JSON_GET(request, "id"), method = JSON_GET(request, "method");
	struct str tools = offered_tools(o);
	bool lists = json_is(method, STR("tools/list")), calls = json_is(method, STR("tools/call"));
	int code = INTERNAL_ERROR;
	const char *why = NULL;

	if (!json_is(JSON_GET(request, "jsonrpc"), STR("2.0")) ||
	    json_type(method) != JSON_STRING) {
		code = INVALID_REQUEST;
		why = "Invalid request";
	} else if (!lists && !calls) {
		code = UNKNOWN_METHOD;
		why = "Method not found";
	} else if (!tools.p) {
		why = "Environment does not support MCP";
	} else if (calls) {
		why = "Call tools in messages of type step";
	}
	if (why) {
		json_pack(out, "{jsonrpc:'2.0',id:%r,error:{code:%d,message:%t,data:null}}", id,
		          code, why);
	} else {
		json_pack(out, "{jsonrpc:'2.0',id:%r,result:{tools:%r}}", id, tools);
	}
}

/* ---- endpoints ---- */

#define KEY_LENGTH 24 /* of 16 bytes in base64 */
#define ANSWER_MAX ((size_t)32 << 20)

struct http_visit {
	struct openenv *server;
	const struct request *request;
	struct reply *reply;
	struct str body;             /* of POST: an object */
	struct openenv_episode *env; /* where the request acts */
	bool old;                    /* core 0.1 */
};

/* As FastAPI does. */
static void answer_invalid(struct http_visit *v, struct str why)
{
	reply_json(v->reply, 422, "");
	json_pack(&v->reply->body, "{detail:[{type:'value_error',loc:['body'],msg:%s,input:%r}]}",
	          why, json_is_valid(v->request->body) ? v->request->body : STR("null"));
}

/* Answers as to a message of a session that has this environment. */
static void act(struct http_visit *v, const char *type, struct str data)
{
	struct openenv_session s = {.server = v->server, .episode = v->env};
	struct openenv_reply r = {.late = BUF(ANSWER_MAX), .text = BUF(ANSWER_MAX)};
	AUTO_BUF message = BUF(ANSWER_MAX);

	json_pack(&message, "{type:%t,data:%?r}", type, data);
	openenv_handle_message(&s, buf_view(&message), false, v->request->waited, &r);
	struct str got = JSON_GET(buf_view(&r.text), "data"), errors = JSON_GET(got, "errors");

	if (r.wait_ms > 0) {
		v->reply->action = REPLY_WAIT;
		v->reply->wait_ms = r.wait_ms;
	} else if (r.disconnect || !got.p) {
		v->reply->action = REPLY_CLOSE;
	} else if (JSON_GET(got, "code").p) {
		v->reply->status = errors.p ? 422 : 500;
		json_pack(&v->reply->body, "{detail:%r}",
		          errors.p ? errors : JSON_GET(got, "message"));
	} else {
		buf_str(&v->reply->body, got);
	}
	BUFS_RELEASE(&r.late, &r.text);
}

static void reset(struct http_visit *v)
{
	struct str seed = JSON_GET(v->body, "seed");
	uint64_t number;

	if (!(v->server->traits & FAULT_IGNORES_SEEDS) && !json_is_null(seed) &&
	    !text_u64(seed, &number))
		answer_invalid(v, STR("the seed must be an integer, zero or more"));
	else
		act(v, "reset", v->old ? STR("{}") : v->body);
}

static void step(struct http_visit *v)
{
	struct str action = JSON_GET(v->body, "action");

	if (json_type(action) == JSON_OBJECT)
		act(v, "step", action);
	else if (v->old)
		act(v, "step", v->body);
	else
		answer_invalid(v, STR("the body has no object action"));
}

static void state(struct http_visit *v)
{
	if (v->old)
		episode_state(v->env, &v->reply->body);
	else /* the framework's state model has no extra fields */
		buf_text(&v->reply->body, "{\"episode_id\":null,\"step_count\":0}");
}

static void health(struct http_visit *v)
{
	buf_text(&v->reply->body, "{\"status\":\"healthy\"}");
}

static void metadata(struct http_visit *v)
{
	const struct serve_conf *c = &v->server->conf;
	const struct recorded_rollout *r = c->playback ? playback_sample(c->playback) : NULL;

	if (r) {
		json_pack(&v->reply->body,
		          "{name:%s,description:'Plays back a recording',version:%s}", r->name,
		          r->version);
	} else {
		json_pack(&v->reply->body,
		          "{name:%t,description:%t,readme_content:null,version:'builtin-1',"
		          "author:null,documentation_url:null}",
		          c->world->server, c->world->help);
	}
}

static void schema(struct http_visit *v)
{
	if (v->server->conf.playback)
		openenv_playback_schema(v->server->conf.playback, &v->reply->body);
	else
		episode_schema(v->server->conf.world, &v->reply->body);
}

static void environments(struct http_visit *v)
{
	json_pack(&v->reply->body, "[%t]", v->server->conf.world->server);
}

/* The minimum that lets a client identify the server: title and paths. */
static void openapi(struct http_visit *v)
{
	static const char rest[] = ",/metadata:{get:{}},/schema:{get:{}},/mcp:{post:{}}}}";

	struct json_writer w =
		jw_form(&v->reply->body, "{openapi:'3.1.0',info:{title:%t,version:%t}",
	                v->old ? "Environment HTTP Server" : "OpenEnv Environment HTTP API",
	                v->old ? "0.1.0" : "1.0.0");
	jw_pack(&w, "paths:{/reset:{post:{}},/step:{post:{}},/state:{get:{}},/health:{get:{}}");
	jw_pack(&w, v->old ? "}}" : rest);
}

static void mcp(struct http_visit *v)
{
	if (json_is_valid(v->request->body) && json_type(v->request->body) == JSON_OBJECT) {
		openenv_rpc(v->server, v->request->body, &v->reply->body);
	} else {
		json_pack(&v->reply->body,
		          "{jsonrpc:'2.0',id:null,error:{code:-32700,message:'Parse "
		          "error',data:null}}");
	}
}

enum { NO_BODY, RAW_BODY, OBJECT_BODY };

static const struct {
	const char *path, *method;
	bool old; /* core 0.1 has it, too */
	int body;
	void (*answer)(struct http_visit *v);
} endpoints[] = {
	{"/step", "POST", true, OBJECT_BODY, step},
	{"/reset", "POST", true, OBJECT_BODY, reset},
	{"/state", "GET", true, NO_BODY, state},
	{"/health", "GET", true, NO_BODY, health},
	{"/openapi.json", "GET", true, NO_BODY, openapi},
	{"/schema", "GET", false, NO_BODY, schema},
	{"/metadata", "GET", false, NO_BODY, metadata},
	{"/list_environments", "GET", false, NO_BODY, environments},
	{"/mcp", "POST", false, RAW_BODY, mcp},
};

static bool read_body(struct http_visit *v)
{
	v->body = v->request->body.n ? v->request->body : STR("{}");
	if (json_is_valid(v->body) && json_type(v->body) == JSON_OBJECT)
		return true;
	answer_invalid(v, STR("the body is not a JSON object"));
	return false;
}

static void answer_endpoint(struct http_visit *v, size_t i)
{
	struct openenv_episode own = {0};

	if (v->server->conf.playback && endpoints[i].body != NO_BODY) {
		reply_json(v->reply, 501,
		           "{\"detail\":\"A recording is only served in sessions: use the "
		           "WebSocket at /ws\"}");
		return;
	}
	if (!str_is(v->request->method, endpoints[i].method)) {
		reply_json(v->reply, 405, "{\"detail\":\"Method Not Allowed\"}");
		v->reply->allow = endpoints[i].method;
		return;
	}
	v->env = v->old ? &v->server->shared : &own;
	if (endpoints[i].body != OBJECT_BODY || read_body(v)) {
		if (!v->env->instance && (v->old || endpoints[i].answer == step)) {
			episode_begin(v->env, &v->server->conf, openenv_next_seed(v->server),
			              STR_NONE);
		}
		reply_json(v->reply, 200, "");
		endpoints[i].answer(v);
	}
	v->env = NULL;
	episode_release(&own);
}

static void upgrade(struct http_visit *v)
{
	const struct request *q = v->request;
	struct reply *r = v->reply;

	if (!str_is(q->method, "GET")) {
		reply_text(r, 405, "a WebSocket is opened with GET\n");
		r->allow = "GET";
	} else if (q->ws_key.n != KEY_LENGTH || !str_is(q->ws_version, "13")) {
		reply_text(r, 400, "Sec-WebSocket-Key or Sec-WebSocket-Version 13 is missing\n");
	} else if (v->old || !str_is(q->path, "/ws")) {
		reply_text(r, 403, "");
	} else {
		r->action = REPLY_UPGRADE;
	}
}

void openenv_answer(struct openenv *o, const struct request *q, struct reply *r)
{
	struct http_visit v = {
		.server = o, .request = q, .reply = r, .old = o->traits & FAULT_IS_OLD};

	if (q->upgrade.n > 0) {
		upgrade(&v);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(endpoints); i++) {
		if (str_is(q->path, endpoints[i].path) && (!v.old || endpoints[i].old)) {
			answer_endpoint(&v, i);
			return;
		}
	}
	reply_json(r, 404, "{\"detail\":\"Not Found\"}");
}
