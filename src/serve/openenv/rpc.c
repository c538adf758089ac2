/* OpenEnv's JSON-RPC endpoint (named /mcp, but not MCP): tool calls outside of steps, and
   session names. See openenv.h. */
#include "serve/openenv/openenv.h"

#include "json/scan.h"
#include "json/write.h"
#include "serve/openenv/pydantic_errors.h"
#include "serve/openenv/python.h"

#define INVALID_REQUEST (-32600)
#define UNKNOWN_METHOD  (-32601)
#define INVALID_PARAMS  (-32602)
#define INTERNAL_ERROR  (-32603)

static void answer_error(struct str id, int code, struct str message, struct buf *out)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (json_is_null(id)) {
		buf_text(out, "null");
	} else {
		python_json(id, out);
	}
	buf_printf(out, ",\"error\":{\"code\":%d,\"message\":", code);
	json_quote(out, message);
	buf_text(out, ",\"data\":null}}");
}

static enum validation_error check_version(struct str value)
{
	return json_type(value) == JSON_STRING && json_is(value, STR("2.0")) ? VALID : NOT_VERSION;
}

static enum validation_error check_id(struct str value)
{
	int64_t number;

	if (json_is_null(value) || json_i64(value, &number)) {
		return VALID;
	}
	return check_string(value);
}

static bool is_request(struct str request, struct buf *out)
{
	static const struct field_check fields[] = {{"jsonrpc", check_version, true},
	                                            {"method", check_string, true},
	                                            {"params", check_dict, false},
	                                            {"id", check_id, false}};
	struct validation_errors c = {.format = FORMAT_TEXT, .list = BUF(BUF_MAX_MESSAGE)};
	struct buf why = BUF(BUF_MAX_MESSAGE);
	bool fits = openenv_validate(request, fields, ARRAY_LEN(fields), false, &c);

	if (!fits) {
		buf_printf(&why, "Invalid request: %u validation error%s for JsonRpcRequest",
		           c.count, c.count == 1 ? "" : "s");
		buf_str(&why, buf_view(&c.list));
		answer_error(STR_NONE, INVALID_REQUEST, buf_view(&why), out);
	}
	buf_release(&why);
	buf_release(&c.list);
	return fits;
}

static void begin_result(struct str id, struct buf *out)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (json_is_null(id)) {
		buf_text(out, "null");
	} else {
		python_json(id, out);
	}
	buf_text(out, ",\"result\":");
}

/* Each session can only name itself. */
static void create(struct str id, const char *session_id, struct buf *out)
{
	begin_result(id, out);
	buf_printf(out, "{\"session_id\":\"%s\"}}", session_id);
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
		begin_result(id, out);
		buf_str(out, buf_view(&result));
		buf_char(out, '}');
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
		begin_result(id, out);
		buf_printf(out, "{\"tools\":%.*s}}", STR_ARG(tools));
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
		begin_result(id, out);
		buf_text(out, "{\"tools\":");
		buf_str(out, o->conf.world->tools);
		buf_text(out, "}}");
	} else {
		if (!s) {
			episode_begin(e, &o->conf, openenv_next_seed(o), STR_NONE);
		}
		call_tool(o, e, id, params, out);
	}
	episode_release(&own);
}

static void close_session(struct str id, struct str params, const char *session_id, struct buf *out)
{
	struct str which = JSON_GET(params, "session_id");
	struct buf why = BUF(BUF_MAX_MESSAGE);

	if (json_is_null(which) || json_is(which, STR(""))) {
		answer_error(id, INVALID_PARAMS, STR("Invalid params - 'session_id' is required"),
		             out);
	} else if (session_id && json_type(which) == JSON_STRING &&
	           json_is(which, str_from(session_id))) {
		answer_error(id, INVALID_REQUEST,
		             STR("Cannot close active WebSocket-managed session via MCP method"),
		             out);
	} else {
		buf_text(&why, "Unknown session_id: ");
		python_str(which, &why);
		answer_error(id, INVALID_PARAMS, buf_view(&why), out);
	}
	buf_release(&why);
}

void openenv_rpc(struct openenv *o, struct openenv_session *s, struct str request, struct buf *out)
{
	const char *session_id = s ? s->id : NULL;
	struct buf method = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);
	struct str id = JSON_GET(request, "id"), params = JSON_GET(request, "params");

	if (!is_request(request, out)) {
		return;
	}
	json_decode(JSON_GET(request, "method"), &method);
	struct str name = buf_view(&method);
	if (str_is(name, "openenv/session/create") && session_id) {
		create(id, session_id, out);
	} else if (str_is(name, "openenv/session/close")) {
		close_session(id, params, session_id, out);
	} else if (str_is(name, "tools/list") || str_is(name, "tools/call")) {
		use_tools(o, s, request, out);
	} else {
		buf_printf(&why, "Method not found: %.*s", STR_ARG(name));
		answer_error(id, UNKNOWN_METHOD, buf_view(&why), out);
	}
	buf_release(&method);
	buf_release(&why);
}
