/* Classification of OpenEnv's answers: see openenv_reply.h. Who says that something went
   wrong, from the wire inwards: the connection, the frame, the framework (error of an MCP
   action), the tool, the environment's own fields. */
#include "env/openenv_reply.h"

#include "env/error_text.h"
#include "json/write.h"

#include <stdio.h>

#define MESSAGE_MAX ((size_t)4096)

void openenv_reading_init(struct openenv_reading *r)
{
	r->message = r->structured = r->text = BUF(BUF_MAX_MESSAGE);
}

void openenv_reading_release(struct openenv_reading *r)
{
	buf_release(&r->message);
	buf_release(&r->structured);
	buf_release(&r->text);
}

static void fail(struct env_reply *out, enum outcome outcome, enum error_layer layer,
                 enum error_class class)
{
	out->outcome = outcome;
	out->error.layer = layer;
	out->error.class = class;
}

static void keep_message(struct openenv_reading *r, struct str text,
                         struct env_reply *out)
{
	size_t n = text.n < MESSAGE_MAX ? text.n : MESSAGE_MAX;

	while (n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80) {
		n--; /* not in the middle of a character */
	}
	buf_clear(&r->message);
	buf_add(&r->message, text.p, n);
	out->error.message = buf_view(&r->message);
}

static struct str as_text(struct openenv_reading *r, struct str value)
{
	buf_clear(&r->text);
	if (json_type(value) == JSON_STRING) {
		json_decode(value, &r->text);
	} else {
		buf_str(&r->text, value);
	}
	return buf_view(&r->text);
}

static struct str code_number(struct openenv_reading *r, int code)
{
	snprintf(r->code, sizeof(r->code), "%d", code);
	return code ? str_from(r->code) : (struct str){NULL, 0};
}

/* ---- no answer ---- */

static void read_end(const struct openenv_answer *a, struct openenv_reading *r,
                     struct env_reply *out)
{
	switch (a->end) {
	case WEBSOCKET_CLOSED: /* whatever its code, 1000 too: the session is no more */
		fail(out, OUTCOME_SESSION_LOST, LAYER_WEBSOCKET, CLASS_SESSION);
		break;
	case WEBSOCKET_BROKEN:
		fail(out, OUTCOME_PROTOCOL_ERROR, LAYER_WEBSOCKET, CLASS_PROTOCOL);
		break;
	case WEBSOCKET_OPEN:
	case WEBSOCKET_DECLINED:
	case WEBSOCKET_LOST:
		fail(out, OUTCOME_TRANSPORT_ERROR, LAYER_TRANSPORT, CLASS_TRANSPORT);
		break;
	}
	out->error.code = code_number(r, a->code);
	keep_message(r, a->text, out);
}

static enum error_class status_class(int status)
{
	switch (status) {
	case 401:
	case 403:
		return CLASS_AUTH;
	case 408:
	case 504:
		return CLASS_TIMEOUT;
	case 422:
		return CLASS_ARGUMENTS;
	case 429:
	case 503:
		return CLASS_CAPACITY;
	case 400:
	case 500:
		return CLASS_ENVIRONMENT;
	default:
		return CLASS_PROTOCOL;
	}
}

static void read_status(const struct openenv_answer *a, struct openenv_reading *r,
                        struct env_reply *out)
{
	enum error_class class = status_class(a->code);
	bool refused_step = class == CLASS_ARGUMENTS || class == CLASS_ENVIRONMENT;
	struct str error = JSON_GET(a->data, "error");

	fail(out,
	     error_class_outcome(class, refused_step ? OUTCOME_TOOL_ERROR
	                                             : OUTCOME_PROTOCOL_ERROR),
	     LAYER_HTTP, class);
	out->error.code = code_number(r, a->code);
	keep_message(r, json_type(error) == JSON_STRING ? as_text(r, error) : a->text,
	             out);
	out->observation = a->data;
	out->raw = a->data.p ? (struct str){NULL, 0} : a->text;
}

/* ---- error frames ---- */

static const struct frame_error {
	const char *code;
	enum outcome outcome;
	enum error_class class;
} frame_errors[] = {
	{"CAPACITY_REACHED", OUTCOME_CAPACITY, CLASS_CAPACITY},
	{"SESSION_ERROR", OUTCOME_SESSION_LOST, CLASS_SESSION},
	{"FACTORY_ERROR", OUTCOME_TOOL_ERROR, CLASS_ENVIRONMENT},
	{"EXECUTION_ERROR", OUTCOME_TOOL_ERROR, CLASS_ENVIRONMENT},
	{"VALIDATION_ERROR", OUTCOME_TOOL_ERROR, CLASS_ARGUMENTS},
	{"INVALID_JSON", OUTCOME_PROTOCOL_ERROR, CLASS_PROTOCOL},
	{"UNKNOWN_TYPE", OUTCOME_PROTOCOL_ERROR, CLASS_PROTOCOL},
};

/* "Invalid message" alone tells nobody what to change: the first of `errors` does. */
static void add_first_error(struct str errors, struct buf *text)
{
	struct str first, part;
	size_t cursor = 0, at = 0;

	if (!json_next(errors, &cursor, &first)) {
		return;
	}
	buf_text(text, ": ");
	for (struct str loc = JSON_GET(first, "loc"); json_next(loc, &at, &part);) {
		buf_str(text, json_type(part) == JSON_STRING ? json_inner(part) : part);
		buf_text(text, ": ");
	}
	if (json_type(JSON_GET(first, "msg")) == JSON_STRING) {
		json_decode(JSON_GET(first, "msg"), text);
	}
}

/* The words of an environment that raised, or of a tool, may say more than who said them:
   that there is no room, or that it was closed under a session that lives on. */
static void refine(struct env_reply *out)
{
	enum error_class class = out->error.class;

	if (class != CLASS_ENVIRONMENT && class != CLASS_TOOL) {
		return;
	}
	class = error_text_class(out->error.message, out->error.layer, class);
	if (class == CLASS_SESSION || class == CLASS_CAPACITY) {
		out->error.class = class;
		out->outcome = error_class_outcome(class, out->outcome);
	}
}

static void read_error_frame(struct str data, struct openenv_reading *r,
                             struct env_reply *out)
{
	struct str code = JSON_GET(data, "code");
	struct buf text = BUF(BUF_MAX_MESSAGE);

	fail(out, OUTCOME_TOOL_ERROR, LAYER_FRAMEWORK, CLASS_OTHER);
	for (size_t i = 0; i < ARRAY_LEN(frame_errors); i++) {
		if (json_type(code) == JSON_STRING &&
		    json_is(code, str_from(frame_errors[i].code))) {
			fail(out, frame_errors[i].outcome, LAYER_FRAMEWORK,
			     frame_errors[i].class);
		}
	}
	out->error.code = json_type(code) == JSON_STRING || json_type(code) == JSON_NUMBER
	                          ? code
	                          : (struct str){NULL, 0};
	buf_str(&text, as_text(r, JSON_GET(data, "message")));
	add_first_error(JSON_GET(data, "errors"), &text);
	keep_message(r, buf_view(&text), out);
	buf_release(&text);
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

/* observation.error of an MCP action. Its type is guessed by the framework from the
   words: a tool that is advertised was found. */
static void read_framework_error(struct str error, bool known_tool,
                                 struct openenv_reading *r, struct env_reply *out)
{
	struct str type = JSON_GET(error, "error_type");
	enum error_class class = CLASS_TOOL;

	for (size_t i = 0; i < ARRAY_LEN(error_types); i++) {
		if (json_is(type, str_from(error_types[i].type))) {
			class = error_types[i].class;
		}
	}
	if (class == CLASS_UNKNOWN_TOOL && known_tool) {
		class = CLASS_TOOL;
	}
	fail(out, OUTCOME_TOOL_ERROR, LAYER_FRAMEWORK, class);
	out->error.code = type;
	keep_message(r, as_text(r, JSON_GET(error, "message")), out);
	refine(out);
}

static bool says_something(struct str value)
{
	enum json_type type = json_type(value);

	return (type == JSON_STRING && json_inner(value).n > 0) || type == JSON_TRUE ||
	       ((type == JSON_OBJECT || type == JSON_ARRAY) && json_count(value) > 0);
}

/* Fields in which environments report that an action failed. A success of false alone is
   none: it is also how tasks say "not solved yet". */
static struct str field_error(struct str object)
{
	static const struct str keys[] = {STR_INIT("error"),
	                                  STR_INIT("last_action_error"),
	                                  STR_INIT("error_message")};
	struct str values[ARRAY_LEN(keys)];

	json_pick(object, keys, ARRAY_LEN(keys), values);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (says_something(values[i])) {
			return values[i];
		}
	}
	return (struct str){NULL, 0};
}

static struct str tool_text(struct str result)
{
	struct str block;
	size_t cursor = 0;

	if (json_next(JSON_GET(result, "content"), &cursor, &block) &&
	    json_type(JSON_GET(block, "text")) == JSON_STRING) {
		return JSON_GET(block, "text");
	}
	return result;
}

static void body_error(struct str error, enum error_layer success,
                       struct openenv_reading *r, struct env_reply *out)
{
	struct str message = JSON_GET(error, "message");

	fail(out, OUTCOME_TOOL_ERROR, LAYER_BODY, CLASS_ENVIRONMENT);
	out->error.disagrees = success;
	keep_message(r, as_text(r, json_type(message) == JSON_STRING ? message : error),
	             out);
	refine(out);
}

static void read_failure(struct str observation, struct str metadata, bool known_tool,
                         struct openenv_reading *r, struct env_reply *out)
{
	static const struct str keys[] = {STR_INIT("error"), STR_INIT("result")};
	struct str values[ARRAY_LEN(keys)];

	json_pick(observation, keys, ARRAY_LEN(keys), values);
	struct str error = values[0], result = values[1];
	struct str in_data = field_error(JSON_GET(result, "data"));
	struct str in_fields = field_error(observation);
	struct str in_metadata = JSON_GET(metadata, "error");

	if (json_type(JSON_GET(error, "error_type")) == JSON_STRING) {
		read_framework_error(error, known_tool, r, out);
	} else if (json_type(JSON_GET(result, "is_error")) == JSON_TRUE ||
	           json_type(JSON_GET(result, "isError")) == JSON_TRUE) {
		fail(out, OUTCOME_TOOL_ERROR, LAYER_MCP, CLASS_TOOL);
		keep_message(r, as_text(r, tool_text(result)), out);
		refine(out);
	} else if (in_data.p) {
		body_error(in_data, LAYER_MCP, r, out);
	} else if (in_fields.p) {
		body_error(in_fields, LAYER_FRAMEWORK, r, out);
	} else if (says_something(in_metadata)) {
		body_error(in_metadata, LAYER_FRAMEWORK, r, out);
	}
}

/* ---- an observation ---- */

static struct str reward_of(struct str reward)
{
	switch (json_type(reward)) {
	case JSON_NUMBER:
		return reward;
	case JSON_TRUE:
		return STR("1");
	case JSON_FALSE:
		return STR("0");
	case JSON_ABSENT:
	case JSON_NULL:
	case JSON_STRING:
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	return (struct str){NULL, 0};
}

/* Releases put metadata inside the observation, beside it, both, or nowhere: one copy is
   kept, the one inside. */
static struct str read_metadata(struct str beside, struct openenv_reading *r,
                                struct env_reply *out)
{
	struct str inside = JSON_GET(out->observation, "metadata");
	struct json_writer w;

	if (json_count(inside) > 0 || json_count(beside) == 0) {
		return inside;
	}
	buf_clear(&r->structured);
	jw_init(&w, &r->structured);
	jw_object(&w);
	jw_key(&w, "metadata");
	jw_raw(&w, beside);
	jw_end(&w);
	out->structured = buf_view(&r->structured);
	return beside;
}

static void read_observation(struct str data, bool known_tool, struct openenv_reading *r,
                             struct env_reply *out)
{
	enum { OBSERVATION, REWARD, DONE, METADATA, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("observation"),
	                                       STR_INIT("reward"), STR_INIT("done"),
	                                       STR_INIT("metadata")};
	struct str values[COUNT];
	bool done;

	json_pick(data, keys, COUNT, values);
	out->observation = values[OBSERVATION];
	if (!out->observation.p) {
		fail(out, OUTCOME_PROTOCOL_ERROR, LAYER_BODY, CLASS_PROTOCOL);
		keep_message(r, STR("the answer has no observation"), out);
		out->observation = data;
		return;
	}
	out->reward = reward_of(values[REWARD]);
	if (json_bool(values[DONE], &done)) {
		out->terminated = (int8_t)done;
	}
	struct str metadata = read_metadata(values[METADATA], r, out);
	read_failure(out->observation, metadata, known_tool, r, out);
}

void openenv_doubt(struct openenv_reading *r, struct env_reply *out)
{
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(out->observation, &cursor, &m)) {
		if (json_type(m.value) == JSON_STRING &&
		    error_text_suspected(json_inner(m.value))) {
			fail(out, OUTCOME_TOOL_ERROR, LAYER_TEXT, CLASS_ENVIRONMENT);
			out->error.disagrees = LAYER_FRAMEWORK;
			keep_message(r, as_text(r, m.value), out);
			refine(out);
			return;
		}
	}
}

static void say_no_message(const struct openenv_answer *a, struct openenv_reading *r,
                           struct env_reply *out)
{
	buf_clear(&r->text);
	buf_text(&r->text, "the answer is no JSON message of OpenEnv");
	if (a->fault.why) {
		buf_printf(&r->text, ", byte %zu: %s", a->fault.at, a->fault.why);
	}
	keep_message(r, buf_view(&r->text), out);
}

void openenv_read(const struct openenv_answer *a, bool known_tool,
                  struct openenv_reading *r, struct env_reply *out)
{
	*out = (struct env_reply){.outcome = OUTCOME_OK,
	                          .terminated = -1,
	                          .truncated = -1,
	                          .env_steps = -1};
	switch (a->got) {
	case OPENENV_ANSWER:
		read_observation(a->data, known_tool, r, out);
		break;
	case OPENENV_ERROR:
		read_error_frame(a->data, r, out);
		break;
	case OPENENV_STATUS:
		read_status(a, r, out);
		break;
	case OPENENV_NOT_JSON:
		fail(out, OUTCOME_PROTOCOL_ERROR, LAYER_BODY, CLASS_PROTOCOL);
		say_no_message(a, r, out);
		out->raw = a->text;
		break;
	case OPENENV_STRAY:
		fail(out, OUTCOME_SESSION_LOST, LAYER_FRAMEWORK, CLASS_PROTOCOL);
		keep_message(r,
		             STR("the answer is of another type than the question: it "
		                 "belongs to an earlier one"),
		             out);
		out->raw = a->text;
		break;
	case OPENENV_ENDED:
		read_end(a, r, out);
		break;
	case OPENENV_NOBODY:
	case OPENENV_LATE:
		fail(out,
		     a->got == OPENENV_LATE ? OUTCOME_TIMEOUT : OUTCOME_TRANSPORT_ERROR,
		     LAYER_TRANSPORT,
		     a->got == OPENENV_LATE ? CLASS_TIMEOUT : CLASS_TRANSPORT);
		keep_message(r, a->text, out);
		break;
	}
	out->http_status = a->got == OPENENV_STATUS ? a->code : 0;
}
