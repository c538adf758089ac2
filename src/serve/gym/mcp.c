/* The server side of MCP's Streamable HTTP transport, modeled on servers of the Python SDK 1.x:
   checks before a message is parsed, sessions, methods. (A GET stream is not offered: 405, as
   the specification allows.) */
#include "serve/gym/gym.h"

#include "base/text.h"
#include "json/write.h"
#include "protocol/jsonrpc.h"
#include "serve/fault/fault.h"
#include "serve/playback/playback.h"

#define INVALID_REQUEST (-32600)
#define INVALID_PARAMS  (-32602)
#define INTERNAL_ERROR  (-32603)
#define PARSE_ERROR     (-32700)

static const char *const revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
#define NEWEST revisions[ARRAY_LEN(revisions) - 1]

/* ---- answers ---- */

void mcp_make_stream(struct reply *r)
{
	static const struct str head = STR_INIT("event: message\r\ndata: ");
	char *room = buf_room(&r->body, head.n + 4);

	if (!room)
		return;
	memmove(r->body.p + head.n, r->body.p, r->body.n);
	memcpy(r->body.p, head.p, head.n);
	memcpy(r->body.p + head.n + r->body.n, "\r\n\r\n", 4);
	r->body.n += head.n + 4;
	r->status = 200;
	r->type = "text/event-stream";
	r->stream = true;
}

void mcp_answer_result(struct exchange *x, struct str result)
{
	jsonrpc_write_result(&x->reply->body, x->message.id, result);
	mcp_make_stream(x->reply);
}

static void answer_error(struct exchange *x, int code, struct str message, const char *data)
{
	json_pack(&x->reply->body, "{jsonrpc:'2.0',id:%r,error:{code:%d,message:%s,data:%?t}}",
	          x->message.id, code, message, data);
	mcp_make_stream(x->reply);
}

static void answer_invalid(struct exchange *x)
{
	answer_error(x, INVALID_PARAMS, STR("Invalid request parameters"), "");
}

/* ---- methods ---- */

/* Reads the environment id chosen by the client; *out is absent if there is none. False: not
   usable. */
static bool read_env_id(struct str params, struct buf *id, struct str *out)
{
	struct str extra = JSON_GET(JSON_GET(params, "clientInfo"), "_extra");
	struct str chosen = JSON_GET(extra, "session_id");

	*out = STR_NONE;
	if (json_is_null(chosen))
		return true;
	if (json_type(chosen) != JSON_STRING)
		return false;
	json_decode(chosen, id);
	*out = buf_view(id);
	return !id->full && id->n <= ENV_ID_MAX;
}

/* NULL: not supported. */
static const char *revision_of(struct str version)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		if (str_is(version, revisions[i]))
			return revisions[i];
	return NULL;
}

static void write_server(const struct gym *g, const char *revision, struct buf *out)
{
	const struct recorded_rollout *r =
		g->conf.playback ? playback_sample(g->conf.playback) : NULL;

	json_pack(out,
	          "{protocolVersion:%t,capabilities:{experimental:{},prompts:{listChanged:false},"
	          "resources:{subscribe:false,listChanged:false},tools:{listChanged:false}},"
	          "serverInfo:{name:%s,version:%?s}}",
	          revision, r ? r->name : str_from(g->conf.world->server),
	          r ? r->version : STR("builtin-1"));
}

static void initialize(struct exchange *x)
{
	struct str params = x->message.params, env_id;
	struct str wanted = JSON_GET(params, "protocolVersion");
	const char *revision = revision_of(json_inner(wanted));
	AUTO_BUF id = BUF(BUF_MAX_SMALL), result = BUF(BUF_MAX_SMALL);

	if (json_type(wanted) != JSON_STRING ||
	    json_type(JSON_GET(params, "clientInfo")) != JSON_OBJECT ||
	    !read_env_id(params, &id, &env_id)) {
		answer_invalid(x);
	} else if (!(x->transport ? gym_transport_point(x->gym, x->transport, env_id)
	                          : !!(x->transport = gym_transport_open(x->gym, env_id)))) {
		reply_refusal(x->reply, 503, INTERNAL_ERROR, "Too many open sessions");
	} else if (!x->gym->conf.playback || gym_play_begin(x)) {
		write_server(x->gym, revision ? revision : NEWEST, &result);
		mcp_answer_result(x, buf_view(&result));
	}
}

static void list_tools(struct exchange *x)
{
	struct str tools = call_tools(x->gym);
	AUTO_BUF result = BUF(BUF_MAX_MESSAGE);

	buf_printf(&result, "{\"tools\":%.*s}", STR_ARG(tools));
	mcp_answer_result(x, buf_view(&result));
}

/* FastMCP wraps the result of a tool that returns a dict or a list. */
static void write_result(const struct world_call *a, struct buf *result)
{

	struct json_writer w =
		jw_form(result, "{content:[{type:'text',text:%s}]", buf_view(&a->text));
	if (a->structured.n > 0)
		jw_pack(&w, "structuredContent:{result:%r}", buf_view(&a->structured));
	jw_pack(&w, "isError:%b}", a->is_error);
}

static void call_tool(struct exchange *x)
{
	struct str params = x->message.params;
	struct str name = JSON_GET(params, "name"), arguments = JSON_GET(params, "arguments");
	AUTO_BUF result = BUF(BUF_MAX_MESSAGE);
	struct call c;

	if (json_type(name) != JSON_STRING ||
	    (!json_is_null(arguments) && json_type(arguments) != JSON_OBJECT)) {
		answer_invalid(x);
		return;
	}
	x->reply->wait_ms = fault_wait_ms(&x->gym->conf);
	if (x->reply->wait_ms > 0 && !x->request->waited) {
		x->reply->action = REPLY_WAIT;
		return;
	}
	if (x->gym->conf.playback) {
		gym_play_call(x, name, arguments);
		return;
	}
	call_execute(x->gym, x->transport, name, arguments, &c);
	if (c.close) {
		x->reply->action = REPLY_CLOSE;
	} else {
		write_result(&c.world_call, &result);
		mcp_answer_result(x, buf_view(&result));
	}
	call_release(&c);
}

static void read_resource(struct exchange *x)
{
	struct str uri = JSON_GET(x->message.params, "uri");
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	if (json_type(uri) != JSON_STRING) {
		answer_invalid(x);
		return;
	}
	if (x->gym->conf.playback && gym_play_resource(x, uri))
		return;
	buf_text(&why, "Unknown resource: ");
	json_decode(uri, &why);
	answer_error(x, 0, buf_view(&why), NULL);
}

static const struct {
	const char *method;
	void (*answer)(struct exchange *x);
	const char *result; /* what is always answered; NULL: see answer */
} methods[] = {
	{"tools/call", call_tool, NULL},
	{"initialize", initialize, NULL},
	{"ping", NULL, "{}"},
	{"tools/list", list_tools, NULL},
	{"resources/list", NULL, "{\"resources\":[]}"},
	{"resources/templates/list", NULL, "{\"resourceTemplates\":[]}"},
	{"resources/read", read_resource, NULL},
	{"prompts/list", NULL, "{\"prompts\":[]}"},
};

/* ---- checks before a method is called ---- */

/* Required for everything but initialize: a session, and a supported revision. */
static bool has_session(struct exchange *x)
{
	struct str version = x->request->protocol_version;
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	if (!x->transport) {
		reply_refusal(x->reply, 400, INVALID_REQUEST, "Bad Request: Missing session ID");
		return false;
	}
	if (!version.p || revision_of(version))
		return true;
	buf_printf(&why, "Bad Request: Unsupported protocol version: %.*s. Supported versions: ",
	           STR_ARG(version));
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		buf_printf(&why, "%s%s", i ? ", " : "", revisions[i]);
	reply_refusal(x->reply, 400, INVALID_REQUEST, buf_cstr(&why));
	return false;
}

static bool is_json_type(struct str type)
{
	struct str json = STR("application/json");

	return str_starts(type, json) && (type.n == json.n || strchr("; ", type.p[json.n]));
}

/* A request's id is a string or an integer; a message with another id gets no response. */
static bool wants_answer(const struct jsonrpc_message *m)
{
	int64_t number;

	return m->kind == JSONRPC_REQUEST &&
	       (json_type(m->id) == JSON_STRING || json_i64(m->id, &number));
}

static void answer_message(struct exchange *x)
{
	bool opens = str_is(x->message.method, "initialize");

	if (!(opens && wants_answer(&x->message)) && !has_session(x))
		return;
	if (!wants_answer(&x->message)) {
		x->reply->status = 202;
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (!str_is(x->message.method, methods[i].method))
			continue;
		if (methods[i].result)
			mcp_answer_result(x, str_from(methods[i].result));
		else
			methods[i].answer(x);
		return;
	}
	answer_invalid(x);
}

static void answer_post(struct exchange *x)
{
	const struct request *q = x->request;
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	if (!find_in(q->accept, STR("application/json")) ||
	    !find_in(q->accept, STR("text/event-stream"))) {
		reply_refusal(x->reply, 406, INVALID_REQUEST,
		              "Not Acceptable: Client must accept both application/json and "
		              "text/event-stream");
		return;
	}
	jsonrpc_read(q->body, &x->message);
	switch (x->message.kind) {
	case JSONRPC_NOT_JSON:
		buf_printf(&why, "Parse error: %s at byte %zu", x->message.fault.why,
		           x->message.fault.at);
		reply_refusal(x->reply, 400, PARSE_ERROR, buf_cstr(&why));
		break;
	case JSONRPC_INVALID:
	case JSONRPC_BATCH:
		reply_refusal(x->reply, 400, INVALID_PARAMS,
		              "Validation error: not a JSON-RPC message");
		break;
	case JSONRPC_REQUEST:
	case JSONRPC_NOTIFICATION:
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		answer_message(x);
		break;
	}
}

static void answer_delete(struct exchange *x)
{
	if (!has_session(x))
		return;
	x->reply->status = 200;
	x->reply->ended = true;
}

/* Every reply names a session; one outside a session gets a random id, as from the SDK: clients
   must not adopt it. */
static void name_session(struct exchange *x)
{
	if (x->transport)
		memcpy(x->reply->session, x->transport->reply_id, sizeof(x->reply->session));
	else if (x->reply->status != 503)
		gym_new_id(x->reply->session);
}

void mcp_answer(struct gym *g, const struct request *q, struct reply *r)
{
	struct exchange x = {.gym = g, .request = q, .reply = r};
	bool post = str_is(q->method, "POST");

	if (post && !is_json_type(q->content_type)) {
		reply_text(r, 400, "Invalid Content-Type header");
		return;
	}
	if (q->session.p) {
		x.transport = gym_transport(g, q->session);
		if (!x.transport) {
			reply_refusal(r, 404, INVALID_REQUEST, "Session not found");
			return;
		}
	}
	if (post) {
		answer_post(&x);
	} else if (str_is(q->method, "DELETE")) {
		answer_delete(&x);
	} else {
		reply_refusal(r, 405, INVALID_REQUEST, "Method Not Allowed");
		r->allow = "POST, DELETE";
	}
	name_session(&x);
	if (r->ended)
		gym_transport_close(g, x.transport);
}
