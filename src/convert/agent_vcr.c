/* agent-vcr cassettes: one MCP session per document, with its requests and responses. No model is
   involved: each tools/call is a turn. */
#include "recording/foreign.h"

#include "convert/import.h"
#include "env/failure.h"

static bool is_agent_vcr(struct str value)
{
	return JSON_GET(value, "format_version").p &&
	       json_type(JSON_GET(JSON_GET(value, "session"), "interactions")) == JSON_ARRAY;
}

static bool is_method(struct str interaction, struct str method)
{
	return json_is(JSON_GET(JSON_GET(interaction, "request"), "method"), method);
}

/* The tools of the first tools/list; absent: there was none. */
static struct str tools_of(struct str interactions)
{
	struct str one;

	for (size_t cursor = 0; json_next(interactions, &cursor, &one);)
		if (is_method(one, STR("tools/list")))
			return JSON_GET(JSON_GET(JSON_GET(one, "response"), "result"), "tools");
	return STR_NONE;
}

static void set_protocol_error(struct import *m, struct str error, struct import_reply *r)
{
	r->layer = LAYER_JSONRPC;
	r->error_code = JSON_GET(error, "code");
	r->error_message = import_text(m, JSON_GET(error, "message"));
	r->class = error_text_class(r->error_message, r->layer, CLASS_PROTOCOL);
	r->outcome = error_class_outcome(r->class, OUTCOME_PROTOCOL_ERROR);
}

static struct import_reply reply_of(struct import *m, struct str response, struct str last)
{
	struct str error = JSON_GET(response, "error"), result = JSON_GET(response, "result");
	struct str structured = JSON_GET(result, "structuredContent");
	struct import_reply r = {REPLY_UNKNOWN};
	struct outcome_hint hint = {.failed = import_flag(JSON_GET(result, "isError"))};

	if (!json_is_null(error)) {
		set_protocol_error(m, error, &r);
		return r;
	}
	r.observation = outcome_observation(m, JSON_GET(result, "content"));
	if (json_count(r.observation) == 0 && json_type(structured) == JSON_OBJECT)
		r.observation = structured;
	outcome_set(m, hint, last, &r);
	r.layer = r.layer == LAYER_FRAMEWORK ? LAYER_MCP : r.layer;
	return r;
}

static void take_call(struct import *m, struct import_rollout *r, struct str one, struct str *last)
{
	struct str params = JSON_GET(JSON_GET(one, "request"), "params");
	struct str response = JSON_GET(one, "response");
	struct import_step s = {.sent = !json_is_null(response),
	                        .new_turn = true,
	                        .call_name = JSON_GET(params, "name"),
	                        .arguments = JSON_GET(params, "arguments"),
	                        .reply = {REPLY_UNKNOWN}};

	if (s.sent)
		s.reply = reply_of(m, response, *last);
	if (s.reply.outcome == OUTCOME_OK)
		*last = s.reply.observation;
	import_step(m, r, &s);
}

static int import_agent_vcr(struct import *m, struct str value, struct error *err)
{
	struct str session = JSON_GET(value, "session"), metadata = JSON_GET(value, "metadata"),
		   one;
	struct str interactions = JSON_GET(session, "interactions"), last = STR_NONE;
	struct str server = JSON_GET(metadata, "server_info"),
		   client = JSON_GET(metadata, "client_info");
	struct import_header h = {.task = import_task(m, JSON_GET(server, "name")),
	                          .env_name = import_text(m, JSON_GET(server, "name")),
	                          .env_version = import_text(m, JSON_GET(server, "version")),
	                          .policy_name = import_text(m, JSON_GET(client, "name")),
	                          .tools = tools_of(interactions)};
	struct import_reply none = {REPLY_UNKNOWN};
	struct import_rollout r = {0};
	size_t cursor = 0;

	r.id = import_rollout_id(m, h.task, &h.sample);
	import_header(m, &r, &h);
	import_reset(m, &r, &none, STR(""));
	while (json_next(interactions, &cursor, &one))
		if (is_method(one, STR("tools/call")))
			take_call(m, &r, one, &last);
	import_end(m, &r, &(struct import_end){0});
	return 0;
}

const struct format format_agent_vcr = {
	.name = "agent-vcr",
	.what = "cassettes of agent-vcr (MCP): format_version, session",
	.facts = FACT(OBSERVATION) | FACT(OUTCOME) | FACT(ERROR) | FACT(TOOLS),
	.is = is_agent_vcr,
	.take = import_agent_vcr,
};
