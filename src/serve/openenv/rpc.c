/* OpenEnv's JSON-RPC endpoint (named /mcp, but not MCP): tool calls outside of steps. See
   openenv.h. */
#include "serve/openenv/openenv.h"

#include "json/scan.h"
#include "json/write.h"

#define INVALID_REQUEST (-32600)
#define UNKNOWN_METHOD  (-32601)
#define INVALID_PARAMS  (-32602)
#define INTERNAL_ERROR  (-32603)

static void answer_error(struct str id, int code, struct str message, struct buf *out)
{
	json_pack(out, "{jsonrpc:'2.0',id:%r,error:{code:%d,message:%s,data:null}}", id, code,
	          message);
}

/* The id of a request is null, a string or an integer. */
static bool is_request(struct str request)
{
	struct str id = JSON_GET(request, "id"), params = JSON_GET(request, "params");
	int64_t number;

	return json_is(JSON_GET(request, "jsonrpc"), STR("2.0")) &&
	       json_type(JSON_GET(request, "method")) == JSON_STRING &&
	       (!params.p || json_type(params) == JSON_OBJECT) &&
	       (json_is_null(id) || json_type(id) == JSON_STRING || json_i64(id, &number));
}

static void call_tool(struct openenv *o, struct openenv_episode *e, struct str id,
                      struct str params, struct buf *out)
{
	struct buf result = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);
	struct str name = JSON_GET(params, "name"), arguments = JSON_GET(params, "arguments");

	if (json_type(name) != JSON_STRING) {
		answer_error(id, INVALID_PARAMS, STR("Missing 'name' in params"), out);
	} else if (episode_call(e, name, arguments, &result, &why)) {
		atomic_fetch_add(&o->steps, 1);
		json_pack(out, "{jsonrpc:'2.0',id:%r,result:%r}", id, buf_view(&result));
	} else {
		answer_error(id, INTERNAL_ERROR, buf_view(&why), out);
	}
	buf_release(&result);
	buf_release(&why);
}

/* Tool calls outside of steps were never recorded. */
static void use_played_tools(const struct openenv *o, struct str request, struct buf *out)
{
	struct str id = JSON_GET(request, "id"), tools = openenv_playback_tools(o->conf.playback);

	if (!tools.p) {
		answer_error(id, INTERNAL_ERROR, STR("Environment does not support MCP"), out);
	} else if (json_is(JSON_GET(request, "method"), STR("tools/list"))) {
		json_pack(out, "{jsonrpc:'2.0',id:%r,result:{tools:%r}}", id, tools);
	} else {
		answer_error(id, INTERNAL_ERROR,
		             STR("A recording is played step by step: call tools in messages of "
		                 "type step"),
		             out);
	}
}

static void use_tools(struct openenv *o, struct openenv_session *s, struct str request,
                      struct buf *out)
{
	struct str id = JSON_GET(request, "id"), params = JSON_GET(request, "params");
	struct openenv_episode own = {0}, *e = s ? s->episode : &own;

	if (o->conf.playback) {
		use_played_tools(o, request, out);
	} else if (!episode_has_tools(o->conf.world)) {
		answer_error(id, INTERNAL_ERROR, STR("Environment does not support MCP"), out);
	} else if (json_is(JSON_GET(request, "method"), STR("tools/list"))) {
		json_pack(out, "{jsonrpc:'2.0',id:%r,result:{tools:%r}}", id, o->conf.world->tools);
	} else {
		if (!s)
			episode_begin(e, &o->conf, openenv_next_seed(o), STR_NONE);
		call_tool(o, e, id, params, out);
	}
	episode_release(&own);
}

void openenv_rpc(struct openenv *o, struct openenv_session *s, struct str request, struct buf *out)
{
	struct buf method = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);
	struct str id = JSON_GET(request, "id");

	if (!is_request(request)) {
		answer_error(STR_NONE, INVALID_REQUEST, STR("Invalid request"), out);
		return;
	}
	json_decode(JSON_GET(request, "method"), &method);
	struct str name = buf_view(&method);
	if (str_is(name, "tools/list") || str_is(name, "tools/call")) {
		use_tools(o, s, request, out);
	} else {
		buf_printf(&why, "Method not found: %.*s", STR_ARG(name));
		answer_error(id, UNKNOWN_METHOD, buf_view(&why), out);
	}
	buf_release(&method);
	buf_release(&why);
}
