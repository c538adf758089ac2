/* JSON-RPC 2.0 messages: see jsonrpc.h. */
#include "protocol/jsonrpc.h"

#include "base/text.h"
#include "json/write.h"

static bool is_id(struct str id)
{
	enum json_type type = json_type(id);

	return type == JSON_STRING || type == JSON_NUMBER;
}

static bool is_container(struct str value)
{
	enum json_type type = json_type(value);

	return type == JSON_OBJECT || type == JSON_ARRAY;
}

static enum jsonrpc_kind kind_of_call(const struct jsonrpc_message *m)
{
	bool good = json_type(m->method) == JSON_STRING && !m->result.p && !m->error.p &&
	            (!m->params.p || is_container(m->params)) && (!m->id.p || is_id(m->id));

	if (!good)
		return JSONRPC_INVALID;
	return m->id.p ? JSONRPC_REQUEST : JSONRPC_NOTIFICATION;
}

static enum jsonrpc_kind kind_of_reply(const struct jsonrpc_message *m)
{
	bool failed = !json_is_null(m->error);

	if (failed && json_is_null(m->result) && json_type(m->error) == JSON_OBJECT)
		return json_is_null(m->id) || is_id(m->id) ? JSONRPC_ERROR : JSONRPC_INVALID;
	return !failed && m->result.p && is_id(m->id) ? JSONRPC_RESULT : JSONRPC_INVALID;
}

/* Called after all members: determines the type of the message. */
static void finish(struct jsonrpc_message *m, bool is_2_0)
{
	if (json_type(m->params) == JSON_NULL)
		m->params = STR_NONE;
	m->kind = m->method.p ? kind_of_call(m) : kind_of_reply(m);
	if (!is_2_0)
		m->kind = JSONRPC_INVALID;
	if (json_type(m->method) == JSON_STRING)
		m->method = json_inner(m->method);
	if (m->kind == JSONRPC_RESULT)
		m->error = STR_NONE;
	if (m->kind == JSONRPC_ERROR)
		m->result = STR_NONE;
	if (json_type(m->error) != JSON_OBJECT)
		return;
	m->error_code = JSON_GET(m->error, "code");
	m->error_message = JSON_GET(m->error, "message");
	m->error_data = JSON_GET(m->error, "data");
}

void jsonrpc_read_valid(struct str value, struct jsonrpc_message *out)
{
	enum { ID, METHOD, PARAMS, RESULT, ERROR, JSONRPC, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("id"),     STR_INIT("method"),
	                                       STR_INIT("params"), STR_INIT("result"),
	                                       STR_INIT("error"),  STR_INIT("jsonrpc")};
	struct str values[COUNT];

	*out = (struct jsonrpc_message){.kind = JSONRPC_INVALID};
	if (json_type(value) == JSON_ARRAY)
		out->kind = JSONRPC_BATCH;
	if (json_type(value) != JSON_OBJECT)
		return;
	json_pick(value, keys, COUNT, values);
	out->id = values[ID];
	out->method = values[METHOD];
	out->params = values[PARAMS];
	out->result = values[RESULT];
	out->error = values[ERROR];
	finish(out, json_is(values[JSONRPC], STR("2.0")));
}

void jsonrpc_read(struct str text, struct jsonrpc_message *out)
{
	*out = (struct jsonrpc_message){.kind = JSONRPC_NOT_JSON};
	if (json_validate(text, &out->fault) == 0)
		jsonrpc_read_valid(text_trim(text), out);
}

bool jsonrpc_id_is(struct str id, int64_t number)
{
	int64_t n;

	return json_type(id) == JSON_NUMBER && json_i64(id, &n) && n == number;
}

void jsonrpc_write_request(struct buf *out, int64_t id, const char *method, struct str params)
{
	json_pack(out, "{jsonrpc:'2.0',id:%i,method:%t,params:%?r}", id, method, params);
}

void jsonrpc_write_notification(struct buf *out, const char *method, struct str params)
{
	json_pack(out, "{jsonrpc:'2.0',method:%t,params:%?r}", method, params);
}

void jsonrpc_write_result(struct buf *out, struct str raw_id, struct str result)
{
	json_pack(out, "{jsonrpc:'2.0',id:%r,result:%r}", raw_id, result);
}

void jsonrpc_write_error(struct buf *out, struct str raw_id, int code, const char *message)
{
	json_pack(out, "{jsonrpc:'2.0',id:%r,error:{code:%d,message:%t}}", raw_id, code, message);
}
