/* What the replies of an ORS server mean: see ors.h. The layers that report errors, from the
   outside: HTTP, the event stream, `ok` of the result, the tool's own text. */
#include "env/ors/ors.h"

#include "env/http_env.h"

static const struct http_json_meaning meanings[] = {
	{404, CLASS_SESSION}, {410, CLASS_SESSION}, {0, CLASS_NONE}};

void ors_read_other(const struct ors_answer *a, struct reply_reading *r, struct env_reply *out)
{
	*out = (struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	if (a->stream == ORS_ERROR) {
		reading_fail(r, OUTCOME_TOOL_ERROR, LAYER_FRAMEWORK, CLASS_ENVIRONMENT,
		             a->http.text, out);
		out->raw = a->http.text;
	} else if (a->stream == ORS_CUT) {
		reading_fail(r, OUTCOME_TRANSPORT_ERROR, LAYER_TRANSPORT, CLASS_TRANSPORT,
		             STR("the event stream ended without a result"), out);
	} else if (a->http.status != 200 || (a->stream == ORS_NO_STREAM && !a->http.data.p)) {
		http_json_read_failure(&a->http, meanings, r, out);
	}
	out->http_status = a->http.status;
}

/* ---- a call's result ---- */

static const struct {
	const char *reason;
	enum error_class class;
} reasons[] = {
	{"not_found", CLASS_UNKNOWN_TOOL},
	{"input_validation", CLASS_ARGUMENTS},
	{"name_collision", CLASS_OTHER},
	{"episode_finished", CLASS_ENVIRONMENT},
};

/* {"ok":false,"error","reason"}; the reason is newer than the rest. */
static void read_refusal(struct str result, struct reply_reading *r, struct env_reply *out)
{
	struct str reason = JSON_GET(result, "reason");
	enum error_class class = CLASS_TOOL;

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (json_is(reason, str_from(reasons[i].reason)))
			class = reasons[i].class;
	reading_fail(r, OUTCOME_TOOL_ERROR, LAYER_FRAMEWORK, class,
	             reading_as_text(r, JSON_GET(result, "error")), out);
	out->error.code = json_type(reason) == JSON_STRING ? reason : STR_NONE;
	out->observation = JSON_GET(result, "error");
}

/* False: it has no blocks. */
static bool read_output(struct str output, struct reply_reading *r, struct env_reply *out)
{
	enum { BLOCKS, METADATA, REWARD, FINISHED, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("blocks"), STR_INIT("metadata"),
	                                       STR_INIT("reward"), STR_INIT("finished")};
	struct str values[COUNT];
	bool finished;

	json_pick(output, keys, COUNT, values);
	if (json_type(values[BLOCKS]) != JSON_ARRAY)
		return false;
	out->observation = reading_content(values[BLOCKS], &r->observation);
	out->reward = http_env_reward(values[REWARD]);
	if (json_bool(values[FINISHED], &finished))
		out->terminated = (int8_t)finished;
	if (!json_is_null(values[METADATA]))
		reading_structured(r, "metadata", values[METADATA], out);
	return true;
}

static void read_no_result(const struct ors_answer *a, struct reply_reading *r, const char *what,
                           struct env_reply *out)
{
	reading_fail(r, OUTCOME_PROTOCOL_ERROR, LAYER_BODY, CLASS_PROTOCOL, str_from(what), out);
	out->observation = a->http.data;
	out->raw = a->http.data.p || !a->http.text.n ? STR_NONE : a->http.text;
}

void ors_read_call(const struct ors_answer *a, struct hidden_error_context before,
                   const struct env_conf *conf, struct reply_reading *r, struct env_reply *out)
{
	enum { OK, OUTPUT, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("ok"), STR_INIT("output")};
	struct str values[COUNT];
	bool ok = false;

	ors_read_other(a, r, out);
	if (out->outcome != OUTCOME_OK)
		return;
	json_pick(a->http.data, keys, COUNT, values);
	if (!json_bool(values[OK], &ok))
		read_no_result(a, r, "the reply is not the result of a call: it has no 'ok'", out);
	else if (!ok)
		read_refusal(a->http.data, r, out);
	else if (!read_output(values[OUTPUT], r, out))
		read_no_result(a, r, "the result of the call has no 'blocks'", out);
	else
		http_env_find_error(before, conf, r, out);
}

void ors_read_prompt(const struct ors_answer *a, struct reply_reading *r, struct env_reply *out)
{
	ors_read_other(a, r, out);
	if (out->outcome == OUTCOME_OK && json_type(a->http.data) != JSON_ARRAY)
		read_no_result(a, r, "the prompt is not a list of blocks", out);
	else if (out->outcome == OUTCOME_OK)
		out->observation = reading_content(a->http.data, &r->observation);
}
