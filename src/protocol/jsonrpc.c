/* JSON-RPC 2.0 messages: see jsonrpc.h. */
#include "protocol/jsonrpc.h"

#include "base/text.h"
#include "json/write.h"

#define USUAL_MEMBERS 16 /* a message has five */

static bool key_is(struct str key, const char *name)
{
	return json_is((struct str){key.p - 1, key.n + 2}, str_from(name));
}

static void read_member(struct jsonrpc_message *m, const struct json_member *member, bool *is_2_0)
{
	struct {
		const char *key;
		struct str *to;
	} known[] = {
		{"id", &m->id},         {"method", &m->method}, {"params", &m->params},
		{"result", &m->result}, {"error", &m->error},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (key_is(member->key, known[i].key)) {
			*known[i].to = member->value;
			return;
		}
	}
	if (key_is(member->key, "jsonrpc"))
		*is_2_0 = json_is(member->value, STR("2.0"));
}

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
	*out = (struct jsonrpc_message){.kind = JSONRPC_INVALID};
	if (json_type(value) == JSON_ARRAY)
		out->kind = JSONRPC_BATCH;
	if (json_type(value) != JSON_OBJECT)
		return;
	size_t cursor = 0;
	struct json_member member;
	bool is_2_0 = false;
	while (json_next_member(value, &cursor, &member))
		read_member(out, &member, &is_2_0);
	finish(out, is_2_0);
}

void jsonrpc_read(struct str text, struct jsonrpc_message *out)
{
	struct json_member members[USUAL_MEMBERS];
	struct str value = text_trim(text);
	size_t count, used;
	bool is_2_0 = false;

	*out = (struct jsonrpc_message){.kind = JSONRPC_NOT_JSON};
	/* Messages of usual size are validated and split in one pass. */
	if (value.n && value.p[0] == '{' &&
	    json_validate_object(value, members, ARRAY_LEN(members), &count, &used, &out->fault) ==
	            0 &&
	    used == value.n && count < ARRAY_LEN(members)) {
		for (size_t i = 0; i < count; i++)
			read_member(out, &members[i], &is_2_0);
		finish(out, is_2_0);
		return;
	}
	if (json_validate(text, &out->fault) == 0)
		jsonrpc_read_valid(value, out);
}

bool jsonrpc_id_is(struct str id, int64_t number)
{
	int64_t n;

	return json_type(id) == JSON_NUMBER && json_i64(id, &n) && n == number;
}

static void begin(struct json_writer *w, struct buf *out)
{
	jw_init(w, out);
	jw_object(w);
	jw_put_text(w, "jsonrpc", "2.0");
}

static void call(struct json_writer *w, const char *method, struct str params)
{
	jw_put_text(w, "method", method);
	if (params.p)
		jw_put_raw(w, "params", params);
	jw_end(w);
}

void jsonrpc_write_request(struct buf *out, int64_t id, const char *method, struct str params)
{
	struct json_writer w;

	begin(&w, out);
	jw_put_i64(&w, "id", id);
	call(&w, method, params);
}

void jsonrpc_write_notification(struct buf *out, const char *method, struct str params)
{
	struct json_writer w;

	begin(&w, out);
	call(&w, method, params);
}

void jsonrpc_write_result(struct buf *out, struct str raw_id, struct str result)
{
	struct json_writer w;

	begin(&w, out);
	jw_put_raw(&w, "id", raw_id);
	jw_put_raw(&w, "result", result);
	jw_end(&w);
}

void jsonrpc_write_error(struct buf *out, struct str raw_id, int code, const char *message)
{
	struct json_writer w;

	begin(&w, out);
	jw_put_raw(&w, "id", raw_id);
	jw_put_object(&w, "error");
	jw_put_i64(&w, "code", code);
	jw_put_text(&w, "message", message);
	jw_end(&w);
	jw_end(&w);
}
