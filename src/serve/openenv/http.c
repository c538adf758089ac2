/* OpenEnv's HTTP endpoints: descriptions of the server, and the stateless /reset, /step and
   /state, where each request has its own environment. See openenv.h. */
#include "serve/openenv/openenv.h"

#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/fault/fault.h"
#include "serve/openenv/fields.h"
#include "serve/playback/playback.h"

#define JSON_TYPE  "application/json"
#define KEY_LENGTH 24 /* of 16 bytes in base64 */
#define ERRORS_MAX ((size_t)16 << 20)

struct http_visit {
	struct openenv *server;
	const struct request *request;
	struct reply *reply;
	struct str body; /* JSON; absent: no body */
};

static void answer_invalid(struct reply *r, const struct field_errors *c)
{
	reply_json(r, 422, "{\"detail\":[");
	buf_str(&r->body, buf_view(&c->list));
	buf_text(&r->body, "]}");
}

/* ---- validation of requests ---- */

static const char *check_seed(struct str value)
{
	uint64_t number;

	return json_is_null(value) || text_u64(value, &number)
	               ? NULL
	               : "Input should be an integer, zero or more";
}

static const char *check_timeout(struct str value)
{
	double seconds = 0;

	return json_is_null(value) || (json_double(value, &seconds) && seconds > 0)
	               ? NULL
	               : "Input should be a number greater than 0";
}

static enum metadata_place metadata_place(const struct http_visit *v)
{
	return v->server->traits & FAULT_HIDES_METADATA ? METADATA_NOWHERE : METADATA_ALWAYS;
}

static void reset(struct http_visit *v, struct field_errors *c)
{
	static const struct field fields[] = {{"seed", check_seed, false},
	                                      {"episode_id", field_check_optional_string, false}};
	struct str seed = JSON_GET(v->body, "seed");
	struct openenv_episode e = {0};
	int64_t number = 0;

	if (!fields_validate(v->body, fields, ARRAY_LEN(fields), true, c)) {
		return;
	}
	uint64_t own = json_i64(seed, &number) ? (uint64_t)number : openenv_next_seed(v->server);
	episode_begin(&e, &v->server->conf, own, STR_NONE);
	reply_json(v->reply, 200, "");
	episode_observe(&e, false, metadata_place(v), &v->reply->body);
	episode_release(&e);
}

static void run_step(struct http_visit *v, struct str action)
{
	struct openenv_episode e = {0};

	v->reply->wait_ms = fault_wait_ms(&v->server->conf);
	if (v->reply->wait_ms > 0 && !v->request->waited) {
		v->reply->action = REPLY_WAIT;
		return;
	}
	struct buf why = BUF(ERRORS_MAX);
	episode_begin(&e, &v->server->conf, openenv_next_seed(v->server), STR_NONE);
	if (episode_act(&e, action, metadata_place(v), &v->reply->body, &why)) {
		atomic_fetch_add(&v->server->steps, e.step_count);
		reply_json(v->reply, 200, "");
	} else {
		reply_text(v->reply, 500, "Internal Server Error");
	}
	buf_release(&why);
	episode_release(&e);
}

static void step(struct http_visit *v, struct field_errors *c)
{
	static const struct field fields[] = {{"action", field_check_dict, true},
	                                      {"timeout_s", check_timeout, false},
	                                      {"request_id", field_check_optional_string, false}};
	struct str action = JSON_GET(v->body, "action");

	if (!v->body.p) {
		fields_add_error(c, "missing", NULL, "Field required", v->body);
	} else if (fields_validate(v->body, fields, ARRAY_LEN(fields), true, c)) {
		c->root = NULL; /* the environment validates its action */
		if (fields_validate_action(v->server->conf.world, action, c)) {
			run_step(v, action);
		}
	}
}

/* The framework's state model has no extra fields. */
static void state(struct http_visit *v, struct field_errors *c)
{
	(void)c;
	reply_json(v->reply, 200, "{\"episode_id\":null,\"step_count\":0}");
}

static void health(struct http_visit *v, struct field_errors *c)
{
	(void)c;
	reply_json(v->reply, 200, "{\"status\":\"healthy\"}");
}

static void played_metadata(struct http_visit *v)
{
	const struct recorded_rollout *r = playback_sample(v->server->conf.playback);

	json_put(&v->reply->body, "{name:%s,description:'Plays back a recording',version:%s}",
	         r->name, r->version);
}

static void metadata(struct http_visit *v, struct field_errors *c)
{
	const struct world *w = v->server->conf.world;

	(void)c;
	reply_json(v->reply, 200, "");
	if (v->server->conf.playback) {
		played_metadata(v);
		return;
	}
	buf_printf(
		&v->reply->body,
		"{\"name\":\"%s\",\"description\":\"%s\",\"readme_content\":null,\"version\":\"builtin-1\",\"author\":null,\"documentation_url\":null}",
		w->server, w->help);
}

static void schema(struct http_visit *v, struct field_errors *c)
{
	(void)c;
	reply_json(v->reply, 200, "");
	if (v->server->conf.playback) {
		openenv_playback_schema(v->server->conf.playback, &v->reply->body);
	} else {
		episode_schema(v->server->conf.world, &v->reply->body);
	}
}

static void environments(struct http_visit *v, struct field_errors *c)
{
	(void)c;
	reply_json(v->reply, 200, "");
	buf_printf(&v->reply->body, "[\"%s\"]", v->server->conf.world->server);
}

/* The minimum that lets a client identify the server: title and paths. */
static void openapi(struct http_visit *v, struct field_errors *c)
{
	(void)c;
	reply_json(
		v->reply, 200,
		"{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"OpenEnv Environment HTTP "
		"API\",\"version\":\"1.0.0\"},\"paths\":{\"/reset\":{\"post\":{}},\"/step\":{\"post\":{}},\"/state\":{\"get\":{}},\"/metadata\":{\"get\":{}},\"/health\":{\"get\":{}},\"/schema\":{\"get\":{}},\"/mcp\":{\"post\":{}}}}");
}

static void mcp(struct http_visit *v, struct field_errors *c)
{
	struct json_fault fault;

	(void)c;
	reply_json(v->reply, 200, "");
	if (json_validate(v->request->body, &fault) == 0 &&
	    json_type(v->request->body) == JSON_OBJECT) {
		openenv_rpc(v->server, NULL, v->request->body, &v->reply->body);
	} else {
		buf_text(
			&v->reply->body,
			"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse "
			"error\",\"data\":null}}");
	}
}

enum { NO_BODY, RAW_BODY, JSON_BODY };

static const struct {
	const char *path, *method;
	int body;
	void (*answer)(struct http_visit *v, struct field_errors *c);
} endpoints[] = {
	{"/step", "POST", JSON_BODY, step},
	{"/reset", "POST", JSON_BODY, reset},
	{"/state", "GET", NO_BODY, state},
	{"/health", "GET", NO_BODY, health},
	{"/schema", "GET", NO_BODY, schema},
	{"/metadata", "GET", NO_BODY, metadata},
	{"/openapi.json", "GET", NO_BODY, openapi},
	{"/list_environments", "GET", NO_BODY, environments},
	{"/mcp", "POST", RAW_BODY, mcp},
};

/* ---- checks before an endpoint is called ---- */

static void add_not_object(struct field_errors *c, struct str input)
{
	fields_add_error(c, "model_attributes_type", NULL, "Input should be a valid dictionary",
	                 input);
}

/* False: refused. */
static bool read_body(struct http_visit *v, struct field_errors *c)
{
	struct str body = v->request->body;
	struct json_fault fault;
	struct buf text = BUF(ERRORS_MAX);

	if (body.n == 0) {
		return true;
	}
	if (!str_starts(v->request->content_type, STR(JSON_TYPE))) {
		json_quote(&text, body);
		add_not_object(c, buf_view(&text));
		buf_release(&text);
		return false;
	}
	if (json_validate(body, &fault) != 0) {
		fields_add_error(c, "json_invalid", NULL, "JSON decode error", STR("{}"));
		return false;
	}
	if (json_type(body) != JSON_OBJECT) {
		add_not_object(c, body);
		return false;
	}
	v->body = body;
	return true;
}

static void answer_endpoint(struct http_visit *v, size_t i)
{
	struct field_errors c = {.root = "body", .list = BUF(ERRORS_MAX)};

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
	if (endpoints[i].body != JSON_BODY || read_body(v, &c)) {
		endpoints[i].answer(v, &c);
	}
	if (c.count > 0) {
		answer_invalid(v->reply, &c);
	}
	buf_release(&c.list);
}

/* ---- WebSockets ---- */

#define FAILED "Failed to open a WebSocket connection: "

static void refuse_upgrade(struct reply *r, unsigned status, const char *why, struct str what)
{
	reply_text(r, status, FAILED);
	buf_printf(&r->body, "%s%.*s.\n", why, STR_ARG(what));
}

static void upgrade(const struct request *q, struct reply *r)
{
	if (!str_is(q->method, "GET")) {
		refuse_upgrade(r, 405, "unsupported HTTP method: ", q->method);
		r->allow = "GET";
	} else if (!q->ws_key.p) {
		refuse_upgrade(r, 400, "missing Sec-WebSocket-Key header", STR(""));
	} else if (q->ws_key.n != KEY_LENGTH) {
		refuse_upgrade(r, 400, "invalid Sec-WebSocket-Key header: ", q->ws_key);
	} else if (!q->ws_version.p) {
		refuse_upgrade(r, 400, "missing Sec-WebSocket-Version header", STR(""));
	} else if (!str_is(q->ws_version, "13")) {
		refuse_upgrade(r, 400, "invalid Sec-WebSocket-Version header: ", q->ws_version);
	} else if (!str_is(q->path, "/ws")) {
		reply_text(r, 403, "");
	} else {
		r->action = REPLY_UPGRADE;
	}
}

void openenv_answer(struct openenv *o, const struct request *q, struct reply *r)
{
	struct http_visit v = {.server = o, .request = q, .reply = r};
	size_t cursor = 0;

	for (const struct fault *f; (f = fault_of(&o->conf, &cursor));) {
		if (f->openenv_request && f->openenv_request(o, q, r)) {
			return;
		}
	}
	if (q->upgrade.n > 0) {
		upgrade(q, r);
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
