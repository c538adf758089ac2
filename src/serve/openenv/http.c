/* OpenEnv's HTTP endpoints: descriptions of the server, and /reset, /step and /state. Each request
   has its own environment. See openenv.h. */
#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/fault/fault.h"
#include "serve/openenv/openenv.h"
#include "serve/playback/playback.h"

#define KEY_LENGTH 24 /* of 16 bytes in base64 */
#define ERRORS_MAX ((size_t)16 << 20)

struct http_visit {
	struct openenv *server;
	const struct request *request;
	struct reply *reply;
	struct str body;             /* of POST: an object */
	struct openenv_episode *env; /* where the request acts */
};

static void answer_invalid(struct http_visit *v, const struct buf *why)
{
	reply_json(v->reply, 422, "");
	buf_printf(&v->reply->body, "{\"detail\":[%s]}", buf_cstr(why));
}

static enum metadata_place metadata_place(const struct http_visit *v)
{
	return v->server->traits & FAULT_HIDES_METADATA ? METADATA_NOWHERE : METADATA_ALWAYS;
}

static void reset(struct http_visit *v)
{
	struct str seed = JSON_GET(v->body, "seed");
	struct buf why = BUF(ERRORS_MAX);
	uint64_t number;

	if (json_is_null(seed)) {
		number = openenv_next_seed(v->server);
	} else if (!text_u64(seed, &number)) {
		fields_wrong(&why, "value_error", STR("seed"),
		             "Input should be an integer, zero or more", seed);
		answer_invalid(v, &why);
		buf_release(&why);
		return;
	}
	episode_begin(v->env, &v->server->conf, number, STR_NONE);
	episode_observe(v->env, false, metadata_place(v), &v->reply->body);
}

static bool is_step(const struct http_visit *v, struct buf *why)
{
	static const struct field fields[] = {{"action", FIELD_DICT, true}};

	return fields_validate(v->body, fields, 1, true, why) &&
	       fields_validate_action(v->server->conf.world, JSON_GET(v->body, "action"), why);
}

static void step(struct http_visit *v)
{
	struct str action = JSON_GET(v->body, "action");
	struct buf why = BUF(ERRORS_MAX);

	v->reply->wait_ms = fault_wait_ms(&v->server->conf);
	if (!is_step(v, &why))
		answer_invalid(v, &why);
	else if (v->reply->wait_ms > 0 && !v->request->waited)
		v->reply->action = REPLY_WAIT;
	else if (episode_act(v->env, action, metadata_place(v), &v->reply->body, &why))
		atomic_fetch_add(&v->server->steps, 1);
	else
		reply_text(v->reply, 500, "Internal Server Error");
	buf_release(&why);
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

/* The minimum that lets a client identify the server: title and paths. */
#define OPENAPI                                                                                                         \
	"{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"OpenEnv Environment HTTP API\",\"version\":\"1.0.0\"},"           \
	"\"paths\":{\"/reset\":{\"post\":{}},\"/step\":{\"post\":{}},\"/state\":{\"get\":{}},\"/health\":{\"get\":{}}," \
	"\"/metadata\":{\"get\":{}},\"/schema\":{\"get\":{}},\"/mcp\":{\"post\":{}}}}"

enum { NO_BODY, RAW_BODY, OBJECT_BODY };

static const struct {
	const char *path, *method;
	int body;
	void (*answer)(struct http_visit *v);
	const char *fixed; /* what is always answered; NULL: see answer */
} endpoints[] = {
	{"/step", "POST", OBJECT_BODY, step, NULL},
	{"/reset", "POST", OBJECT_BODY, reset, NULL},
	/* the framework's state model has no extra fields */
	{"/state", "GET", NO_BODY, NULL, "{\"episode_id\":null,\"step_count\":0}"},
	{"/health", "GET", NO_BODY, NULL, "{\"status\":\"healthy\"}"},
	{"/openapi.json", "GET", NO_BODY, NULL, OPENAPI},
	{"/schema", "GET", NO_BODY, schema, NULL},
	{"/metadata", "GET", NO_BODY, metadata, NULL},
	{"/list_environments", "GET", NO_BODY, environments, NULL},
	{"/mcp", "POST", RAW_BODY, mcp, NULL},
};

static bool read_body(struct http_visit *v)
{
	struct buf why = BUF(BUF_MAX_SMALL);

	v->body = v->request->body.n ? v->request->body : STR("{}");
	if (json_is_valid(v->body) && json_type(v->body) == JSON_OBJECT)
		return true;
	fields_wrong(&why, "json_invalid", STR("body"), "Input should be a JSON object",
	             STR("null"));
	answer_invalid(v, &why);
	buf_release(&why);
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
	v->env = &own;
	if (endpoints[i].fixed) {
		reply_json(v->reply, 200, endpoints[i].fixed);
	} else if (endpoints[i].body != OBJECT_BODY || read_body(v)) {
		if (endpoints[i].answer == step)
			episode_begin(&own, &v->server->conf, openenv_next_seed(v->server),
			              STR_NONE);
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
	} else if (!str_is(q->path, "/ws")) {
		reply_text(r, 403, "");
	} else {
		r->action = REPLY_UPGRADE;
	}
}

void openenv_answer(struct openenv *o, const struct request *q, struct reply *r)
{
	struct http_visit v = {.server = o, .request = q, .reply = r};

	if (q->upgrade.n > 0) {
		upgrade(&v);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(endpoints); i++) {
		if (str_is(q->path, endpoints[i].path)) {
			answer_endpoint(&v, i);
			return;
		}
	}
	reply_json(r, 404, "{\"detail\":\"Not Found\"}");
}
