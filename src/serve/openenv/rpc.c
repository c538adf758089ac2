/* OpenEnv's JSON-RPC endpoint (named mcp, but not MCP): the list of tools. See
   openenv.h. */
#include "serve/openenv/openenv.h"

#include "json/scan.h"
#include "json/write.h"

#define INVALID_REQUEST (-32600)
#define UNKNOWN_METHOD  (-32601)
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

/* Tools are listed without a step; they are called in steps, which a recording has. */
static void use_tools(const struct openenv *o, struct str request, struct buf *out)
{
	struct str id = JSON_GET(request, "id"), tools = STR_NONE;

	if (o->conf.playback)
		tools = openenv_playback_tools(o->conf.playback);
	else if (episode_has_tools(o->conf.world))
		tools = o->conf.world->tools;
	if (!tools.p)
		answer_error(id, INTERNAL_ERROR, STR("Environment does not support MCP"), out);
	else if (json_is(JSON_GET(request, "method"), STR("tools/list")))
		json_pack(out, "{jsonrpc:'2.0',id:%r,result:{tools:%r}}", id, tools);
	else
		answer_error(id, INTERNAL_ERROR, STR("Call tools in messages of type step"), out);
}

void openenv_rpc(const struct openenv *o, struct str request, struct buf *out)
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
		use_tools(o, request, out);
	} else {
		buf_printf(&why, "Method not found: %.*s", STR_ARG(name));
		answer_error(id, UNKNOWN_METHOD, buf_view(&why), out);
	}
	BUFS_RELEASE(&method, &why);
}
