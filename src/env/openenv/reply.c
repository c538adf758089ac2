/* Classifies OpenEnv's replies: see openenv.h. Layers that report errors, from the transport
   inwards: the connection, the frame, the framework (error of an MCP action), the tool, the
   environment's own fields. */
#include "env/openenv/openenv.h"

#include "base/text.h"
#include "env/failure.h"
#include "env/http_env.h"
#include "env/reading.h"

/* ---- no reply ---- */

static void read_end(const struct openenv_answer *a, struct reply_reading *r, struct env_reply *out)
{
	if (a->end == WEBSOCKET_CLOSED) /* with any code, even 1000: the session has ended */
		reading_fail(r, OUTCOME_SESSION_LOST, LAYER_WEBSOCKET, CLASS_SESSION, a->text, out);
	else if (a->end == WEBSOCKET_BROKEN)
		reading_fail(r, OUTCOME_PROTOCOL_ERROR, LAYER_WEBSOCKET, CLASS_PROTOCOL, a->text,
		             out);
	else
		reading_fail(r, OUTCOME_TRANSPORT_ERROR, LAYER_TRANSPORT, CLASS_TRANSPORT, a->text,
		             out);
	out->error.code = a->code ? reading_code(r, a->code) : STR_NONE;
}

/* Also of a handshake that was declined. */
static void read_http(const struct openenv_answer *a, struct reply_reading *r,
                      struct env_reply *out)
{
	http_json_read_failure(&(struct http_json_answer){.status = a->code,
	                                                  .late = a->got == OPENENV_LATE,
	                                                  .data = a->data,
	                                                  .text = a->text,
	                                                  .page = a->page},
	                       NULL, r, out);
}

/* ---- error frames ---- */

/* The message of an exception or a tool can be more specific than its layer: no capacity, or an
   environment that was closed during its session. */
static void refine(struct env_reply *out)
{
	enum error_class class = out->error.class;

	if (class != CLASS_ENVIRONMENT && class != CLASS_TOOL)
		return;
	class = error_text_class(out->error.message, out->error.layer, class);
	if (class == CLASS_SESSION || class == CLASS_CAPACITY) {
		out->error.class = class;
		out->outcome = error_class_outcome(class, out->outcome);
	}
}

/* Of a call over POST /mcp, which has numbers for all that the environment raises. */
static bool is_rpc_error(struct str data)
{
	return json_type(JSON_GET(data, "code")) == JSON_NUMBER;
}

static void read_error_frame(struct str data, struct reply_reading *r, struct env_reply *out)
{
	const struct openenv_frame_error *known = openenv_frame_error(data);
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	json_text_or_json(JSON_GET(data, "message"), &text);
	if (json_count(JSON_GET(data, "errors"))) { /* "Invalid message" alone is not helpful */
		buf_text(&text, ": ");
		http_json_first_error(JSON_GET(data, "errors"), &text);
	}
	enum error_class other = is_rpc_error(data) ? CLASS_TOOL : CLASS_OTHER;
	reading_fail(r, known ? known->outcome : OUTCOME_TOOL_ERROR, LAYER_FRAMEWORK,
	             known ? known->class : other, buf_view(&text), out);
	out->error.code = error_code_of(data);
	out->observation = data;
	refine(out);
}

/* ---- errors inside an observation ---- */

static const struct {
	const char *type;
	enum error_class class;
} error_types[] = {
	{"execution_error", CLASS_TOOL},        {"invalid_args", CLASS_ARGUMENTS},
	{"tool_not_found", CLASS_UNKNOWN_TOOL}, {"timeout", CLASS_TIMEOUT},
	{"transport_error", CLASS_TRANSPORT},
};

/* observation.error of an MCP action. The framework guesses its type from the text, so "not
   found" for an advertised tool is ignored. */
static void read_framework_error(struct str error, bool known_tool, struct reply_reading *r,
                                 struct env_reply *out)
{
	struct str type = JSON_GET(error, "error_type");
	enum error_class class = CLASS_TOOL;

	for (size_t i = 0; i < ARRAY_LEN(error_types); i++)
		if (json_is(type, str_from(error_types[i].type)))
			class = error_types[i].class;
	if (class == CLASS_UNKNOWN_TOOL && known_tool)
		class = CLASS_TOOL;
	reading_fail(r, OUTCOME_TOOL_ERROR, LAYER_FRAMEWORK, class,
	             reading_as_text(r, JSON_GET(error, "message")), out);
	out->error.code = type;
	refine(out);
}

static struct str tool_text(struct str result)
{
	struct str text = JSON_GET(json_first(JSON_GET(result, "content")), "text");

	return json_type(text) == JSON_STRING ? text : result;
}

static void set_claim(const struct hidden_error *claim, enum error_layer success,
                      struct reply_reading *r, struct env_reply *out)
{
	reading_fail(r, OUTCOME_TOOL_ERROR, claim->layer, CLASS_ENVIRONMENT,
	             reading_as_text(r, claim->message), out);
	out->error.disagrees = success;
	out->error.code = claim->code;
	refine(out);
}

/* An observation that is a text, or whose only member is one. */
static struct str only_text(struct str observation)
{
	struct str text = json_type(observation) == JSON_STRING ? observation : STR_NONE;
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(observation, &cursor, &m)) {
		if (str_is(m.key, "metadata") || m.type == JSON_NULL ||
		    (m.type == JSON_STRING && !json_inner(m.value).n)) {
			continue;
		}
		if (text.p || m.type != JSON_STRING)
			return STR_NONE;
		text = m.value;
	}
	return text;
}

/* Checks a tool's result: its data, or how its text starts. */
static struct hidden_error hidden_error_in_result(struct str result,
                                                  const struct openenv_question *q)
{
	struct str data = JSON_GET(result, "data");
	struct hidden_error_context before = {JSON_GET(JSON_GET(q->before.start, "result"), "data"),
	                                      JSON_GET(JSON_GET(q->before.last, "result"), "data")};
	struct hidden_error found = hidden_error_in_body(data, before);
	struct str text = json_type(result) == JSON_STRING ? result
	                  : json_type(data) == JSON_STRING ? data
	                                                   : tool_text(result);

	return hidden_error_stronger(found, hidden_error_in_text(text));
}

/* Checks the environment's own fields. Metadata may contain anything: only a certain error in it
   counts. */
static struct hidden_error hidden_error_in_fields(struct str observation, struct str metadata,
                                                  const struct openenv_question *q)
{
	struct hidden_error_context before = {JSON_GET(q->before.start, "metadata"),
	                                      JSON_GET(q->before.last, "metadata")};
	struct hidden_error aside = hidden_error_in_body(metadata, before);
	struct hidden_error found = hidden_error_in_body(observation, q->before);

	if (aside.strength == HIDDEN_ERROR_CERTAIN) {
		aside.bare = false;
		found = hidden_error_stronger(found, aside);
	}
	found = hidden_error_stronger(found, hidden_error_in_text(only_text(observation)));
	return hidden_error_stronger(found, hidden_error_in_strings(observation, q->before.last));
}

/* A first observation may have a member "error" that is data. The reset failed only if it is
   certainly an error, and reports that there is no environment, or is the only content. */
static bool is_failed_reset(const struct hidden_error *r, struct reply_reading *reading)
{
	enum error_class class =
		error_text_class(reading_as_text(reading, r->message), r->layer, CLASS_NONE);

	return r->strength == HIDDEN_ERROR_CERTAIN &&
	       (r->bare || class == CLASS_CAPACITY || class == CLASS_SESSION);
}

static void find_hidden_error(struct str observation, struct str metadata,
                              const struct openenv_question *q, struct reply_reading *r,
                              struct env_reply *out)
{
	struct hidden_error in_result = hidden_error_in_result(JSON_GET(observation, "result"), q);
	struct hidden_error found =
		hidden_error_stronger(in_result, hidden_error_in_fields(observation, metadata, q));
	bool of_tool = in_result.strength && found.strength == in_result.strength;

	if (q->is_reset && !is_failed_reset(&found, r))
		return;
	if (found.strength != HIDDEN_ERROR_CERTAIN) {
		found = hidden_error_stronger(
			found,
			hidden_error_by_pattern(observation, q->error_texts, q->error_text_count));
	}
	if (found.strength >= HIDDEN_ERROR_LIKELY) { /* a count cannot contradict it here */
		set_claim(&found, of_tool ? LAYER_MCP : LAYER_FRAMEWORK, r, out);
	} else if (found.strength == HIDDEN_ERROR_POSSIBLE) {
		r->suspected = found;
		reading_message(r, reading_as_text(r, found.message), out);
		out->error.message = STR_NONE;
	}
}

static void read_failure(struct str observation, struct str metadata,
                         const struct openenv_question *q, struct reply_reading *r,
                         struct env_reply *out)
{
	static const struct str keys[] = {STR_INIT("error"), STR_INIT("result")};
	struct str values[ARRAY_LEN(keys)];

	json_pick(observation, keys, ARRAY_LEN(keys), values);
	struct str error = values[0], result = values[1], type = JSON_GET(error, "error_type");

	if (json_type(type) == JSON_STRING && json_inner(type).n) {
		read_framework_error(error, q->known_tool, r, out);
	} else if (json_type(JSON_GET(result, "is_error")) == JSON_TRUE ||
	           json_type(JSON_GET(result, "isError")) == JSON_TRUE) {
		reading_fail(r, OUTCOME_TOOL_ERROR, LAYER_MCP, CLASS_TOOL,
		             reading_as_text(r, tool_text(result)), out);
		refine(out);
	} else {
		find_hidden_error(observation, metadata, q, r, out);
	}
}

/* ---- an observation ---- */

/* Releases put metadata inside the observation, next to it, both, or nowhere: one copy is kept,
   the inner one. */
static struct str read_metadata(struct str beside, struct reply_reading *r, struct env_reply *out)
{
	struct str inside = JSON_GET(out->observation, "metadata");

	if (json_count(inside) > 0 || json_count(beside) == 0)
		return inside;
	reading_structured(r, "metadata", beside, out);
	return beside;
}

/* A reply without an observation. The message mentions a similar key. */
static void read_no_observation(struct str data, struct reply_reading *r, struct env_reply *out)
{
	static const char *const meant[] = {"observation"};
	AUTO_BUF text = BUF(BUF_MAX_SMALL);
	struct json_member m;

	buf_text(&text, "the reply has no observation");
	for (size_t cursor = 0; json_next_member(data, &cursor, &m);) {
		if (text_nearest(m.key, meant, 1)) {
			buf_text(&text, "; a similar key exists: ");
			text_escape_cut(&text, m.key, 60);
			break;
		}
	}
	reading_fail(r, OUTCOME_PROTOCOL_ERROR, LAYER_BODY, CLASS_PROTOCOL, buf_view(&text), out);
}

static void read_observation(struct str data, const struct openenv_question *q,
                             struct reply_reading *r, struct env_reply *out)
{
	enum { OBSERVATION, REWARD, DONE, METADATA, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("observation"), STR_INIT("reward"),
	                                       STR_INIT("done"), STR_INIT("metadata")};
	struct str values[COUNT];
	bool done;

	json_pick(data, keys, COUNT, values);
	out->observation = values[OBSERVATION];
	if (!out->observation.p) {
		read_no_observation(data, r, out);
		out->observation = data;
		return;
	}
	out->reward = http_env_reward(values[REWARD]);
	if (json_bool(values[DONE], &done))
		out->terminated = (int8_t)done;
	struct str metadata = read_metadata(values[METADATA], r, out);
	if (q)
		read_failure(out->observation, metadata, q, r, out);
}

static void confirm_suspected(struct reply_reading *r, struct env_reply *out)
{
	if (out->outcome == OUTCOME_OK && hidden_error_holds(&r->suspected, 0)) {
		reading_fail(r, OUTCOME_TOOL_ERROR, r->suspected.layer, CLASS_ENVIRONMENT, STR_NONE,
		             out);
		out->error.disagrees = LAYER_FRAMEWORK;
		out->error.message = buf_view(&r->message);
		refine(out);
	}
	r->suspected.strength = HIDDEN_ERROR_NONE;
}

/* A count that never changed is no evidence: some environments do not count. */
void openenv_confirm_uncounted(struct reply_reading *r, int64_t before, bool *counts,
                               struct env_reply *out)
{
	bool known = before >= 0 && out->env_steps >= 0;

	*counts |= known && out->env_steps > before;
	bool evidence = *counts || r->suspected.unchanged;
	if (known && evidence && out->env_steps == before)
		confirm_suspected(r, out);
}

static void read_no_message(const struct openenv_answer *a, struct reply_reading *r,
                            struct env_reply *out)
{
	buf_set(&r->text, STR("the reply is not an OpenEnv JSON message"));
	if (a->fault.why)
		buf_printf(&r->text, ", byte %zu: %s", a->fault.at, a->fault.why);
	reading_fail(r, OUTCOME_PROTOCOL_ERROR, LAYER_BODY, CLASS_PROTOCOL, buf_view(&r->text),
	             out);
	out->raw = a->text;
}

void openenv_read(const struct openenv_answer *a, const struct openenv_question *q,
                  struct reply_reading *r, struct env_reply *out)
{
	r->suspected.strength = HIDDEN_ERROR_NONE;
	*out = (struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	switch (a->got) {
	case OPENENV_ANSWER:
		read_observation(a->data, q, r, out);
		break;
	case OPENENV_ERROR:
		read_error_frame(a->data, r, out);
		break;
	case OPENENV_NOT_JSON:
		read_no_message(a, r, out);
		break;
	case OPENENV_STRAY:
		reading_fail(r, OUTCOME_SESSION_LOST, LAYER_FRAMEWORK, CLASS_PROTOCOL,
		             STR("the reply's type does not match the request: it belongs to an "
		                 "earlier one"),
		             out);
		out->raw = a->text;
		break;
	case OPENENV_ENDED:
		read_end(a, r, out);
		break;
	case OPENENV_STATUS:
	case OPENENV_UNREACHABLE:
	case OPENENV_LATE:
		read_http(a, r, out);
		break;
	}
	bool is_rpc = a->got == OPENENV_ERROR && is_rpc_error(a->data);
	if (q && !q->known_tool && (out->error.class == CLASS_ARGUMENTS || is_rpc))
		out->error.class = CLASS_UNKNOWN_TOOL;
	out->http_status = a->got == OPENENV_STATUS ? a->code : 0;
}
