/* Handles results that request input: see input.h. */
#include "env/mcp/input.h"

#include "json/index.h"
#include "json/write.h"

#define SHOWN_MAX ((size_t)200)

static struct str cut(struct str s)
{
	return (struct str){s.p, s.n < SHOWN_MAX ? s.n : SHOWN_MAX};
}

enum mcp_result_kind mcp_result_kind(struct str result)
{
	struct str type = JSON_GET(result, "resultType");

	if (json_is_null(type) || json_is(type, STR("complete")))
		return MCP_RESULT_COMPLETE;
	return json_is(type, STR("input_required")) ? MCP_RESULT_INPUT_REQUIRED
	                                            : MCP_RESULT_UNKNOWN;
}

/* ---- forms ---- */

/* A required field without a default, raw; absent: there is none. */
static struct str lacking_default(struct str required, const struct json_index *fields)
{
	AUTO_ARENA names = {0};
	struct json_index wanted;
	struct str name;

	json_index_begin(&wanted, required, &names);
	for (size_t cursor = 0; json_next(required, &cursor, &name);) {
		struct str text = json_text(&names, name);
		/* a repeated name is checked once */
		bool again = text.p && json_index_find(&wanted, text).p != name.p;

		if (!text.p || (!again && !JSON_GET(json_index_find(fields, text), "default").p))
			return name;
	}
	return STR_NONE;
}

/* False: a required field has no default. */
static bool answer_form(struct str schema, struct buf *result, struct buf *why)
{
	struct str properties = JSON_GET(schema, "properties");
	AUTO_ARENA names = {0};
	struct json_index fields;
	struct json_member field;

	json_index_begin(&fields, properties, &names);
	struct str lacking = lacking_default(JSON_GET(schema, "required"), &fields);
	if (lacking.p) {
		buf_text(why, "no default for the required field ");
		buf_str(why, lacking);
		return false;
	}
	struct json_writer w = jw_form(result, "{action:'accept',content:{");
	for (size_t cursor = 0; json_next_member(properties, &cursor, &field);) {
		struct str name = json_key_text(&names, field.key);
		/* of duplicate fields the last one counts */
		bool last = json_index_find(&fields, name).p == field.value.p;
		struct str value = last ? JSON_GET(field.value, "default") : STR_NONE;

		if (value.p)
			jw_put_member(&w, name, value);
	}
	jw_pack(&w, "}}");
	return true;
}

bool elicit_answer(struct str params, struct buf *result, struct buf *why)
{
	struct str schema = JSON_GET(params, "requestedSchema");
	struct str mode = JSON_GET(params, "mode");

	if (mode.p && !json_is(mode, STR("form"))) {
		buf_text(why, "not a form: mode ");
		buf_str(why, mode);
	} else if (json_type(schema) != JSON_OBJECT) {
		buf_text(why, "the request has no requestedSchema");
	} else if (answer_form(schema, result, why)) {
		return true;
	}
	buf_text(result, "{\"action\":\"decline\"}");
	return false;
}

/* ---- answering requests ---- */

bool mcp_answer_request(struct str method, struct str params, struct buf *result, struct buf *why)
{
	if (str_is(method, "elicitation/create"))
		(void)elicit_answer(params, result, why); /* declining is also an answer */
	else if (str_is(method, "roots/list"))
		buf_text(result, "{\"roots\":[]}");
	else if (str_is(method, "ping"))
		buf_text(result, "{}");
	return result->n > 0;
}

static bool answer_all(struct str requests, struct json_writer *w, struct buf *why)
{
	AUTO_ARENA texts = {0};
	struct json_member m;
	size_t cursor = 0;
	bool answered = true;

	while (answered && json_next_member(requests, &cursor, &m)) {
		AUTO_BUF answer = BUF(BUF_MAX_MESSAGE), declined = BUF(BUF_MAX_SMALL);
		struct str method = JSON_GET(m.value, "method");

		answered = mcp_answer_request(json_text(&texts, method),
		                              JSON_GET(m.value, "params"), &answer, &declined);
		if (answered) {
			jw_put_member(w, json_key_text(&texts, m.key), buf_view(&answer));
			continue;
		}
		buf_text(why, "the server asks for an unsupported kind of input, ");
		buf_str(why, method.p ? cut(method) : STR("a request without a method"));
	}
	return answered;
}

bool mcp_input_answer(struct str result, struct buf *responses, struct buf *state, struct buf *why)
{
	struct str requests = JSON_GET(result, "inputRequests");
	struct str opaque = JSON_GET(result, "requestState");
	struct json_writer w;
	bool answered = true;

	buf_clear(responses);
	buf_clear(state);
	if (json_is_null(requests) && json_is_null(opaque)) {
		buf_text(why, "the server requires more input, but requests none");
		return false;
	}
	if (!json_is_null(requests) && json_type(requests) != JSON_OBJECT) {
		buf_text(why, "the server's request for input is malformed: inputRequests is "
		              "not an object");
		return false;
	}
	if (!json_is_null(requests)) {
		w = jw_begin(responses);
		answered = answer_all(requests, &w, why);
		jw_end(&w);
	}
	if (!json_is_null(opaque))
		buf_str(state, opaque);
	return answered;
}

/* ---- results that are not results ---- */

bool mcp_result_is_unusable(struct str result, struct str given_up, struct buf *why)
{
	switch (mcp_result_kind(result)) {
	case MCP_RESULT_INPUT_REQUIRED:
		buf_text(why, "the server requires more input before it acts (resultType "
		              "input_required)");
		if (given_up.n) {
			buf_text(why, ": ");
			buf_str(why, given_up);
		}
		break;
	case MCP_RESULT_UNKNOWN:
		buf_text(why, "the result is of an unknown kind (resultType ");
		buf_str(why, cut(JSON_GET(result, "resultType")));
		buf_char(why, ')');
		break;
	case MCP_RESULT_COMPLETE:
		if (json_type(JSON_GET(result, "content")) != JSON_ARRAY &&
		    json_is_null(JSON_GET(result, "structuredContent"))) {
			buf_text(why, "the result of the tool call has no content");
		}
		break;
	}
	return why->n > 0;
}
