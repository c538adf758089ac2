/* Interprets recorded answers: see outcome.h. */
#include "convert/outcome.h"

#include "base/text.h"
#include "env/error_text.h"
#include "env/failure.h"
#include "env/hidden_error.h"
#include "json/python.h"

/* truncation of an error's message; the observation is complete */
#define MESSAGE_MAX ((size_t)4096)

/* ---- the observation ---- */

/* Returns the text of [{"type":"text","text":".."}]. */
static struct str only_text(struct str content)
{
	struct str part;
	size_t cursor = 0;

	if (json_type(content) != JSON_ARRAY || json_count(content) != 1 ||
	    !json_next(content, &cursor, &part)) {
		return content;
	}
	struct str text = JSON_GET(part, "text");
	return json_type(text) == JSON_STRING ? text : content;
}

struct str outcome_observation(struct import *m, struct str content)
{
	struct str text = only_text(content), found = text;
	struct json_fault fault;
	size_t used;

	if (json_type(text) != JSON_STRING) {
		return text;
	}
	buf_clear(&m->value);
	if (!json_decode(text, &m->value)) {
		return text;
	}
	struct str decoded = buf_view(&m->value);
	if (decoded.n && json_validate(decoded, &fault) == 0) {
		return arena_str(&m->arena, decoded);
	}
	buf_clear(&m->work);
	if (decoded.n && strchr("{[(", decoded.p[0]) && python_literal(decoded, &used, &m->work) &&
	    used == decoded.n) {
		found = arena_str(&m->arena, buf_view(&m->work));
	}
	return found;
}

/* ---- the outcome ---- */

static struct str text_of(struct import *m, struct str value)
{
	buf_clear(&m->value);
	json_text_or_json(value, &m->value);
	return arena_str(&m->arena, text_utf8_cut(buf_view(&m->value), MESSAGE_MAX));
}

static void set_failure(struct import *m, enum error_layer layer, struct str message,
                        struct str code, struct import_reply *reply)
{
	enum json_type type = json_type(code);

	reply->error_message = text_of(m, message);
	reply->layer = layer;
	reply->class = error_text_class(reply->error_message, layer, CLASS_TOOL);
	reply->outcome = error_class_outcome(reply->class, OUTCOME_TOOL_ERROR);
	reply->error_code = type == JSON_NUMBER || type == JSON_STRING ? code : STR_NONE;
}

/* Sets the error recorded by the source: a string, or an object with message and type. */
static void set_stated(struct import *m, struct str error, struct str observation,
                       struct import_reply *reply)
{
	struct str message = JSON_GET(error, "message"), code = JSON_GET(error, "code");

	if (json_type(error) == JSON_OBJECT) {
		code = code.p ? code : JSON_GET(error, "type");
		set_failure(m, LAYER_FRAMEWORK, message.p ? message : error, code, reply);
		if (json_is(code, STR("timeout"))) {
			reply->class = CLASS_TIMEOUT;
		}
		return;
	}
	bool text = json_type(error) == JSON_STRING && json_inner(error).n;
	set_failure(m, LAYER_FRAMEWORK, text ? error : observation, STR_NONE, reply);
}

static bool is_stated(struct outcome_hint hint)
{
	enum json_type type = json_type(hint.error);

	return hint.failed > 0 || (type == JSON_STRING && json_inner(hint.error).n) ||
	       (type == JSON_OBJECT && json_count(hint.error)) || type == JSON_TRUE;
}

static struct hidden_error hidden_in(struct str observation, struct str last)
{
	if (json_type(observation) == JSON_OBJECT) {
		return hidden_error_in_body(observation,
		                            (struct hidden_error_context){.last = last});
	}
	return hidden_error_in_text(observation);
}

/* Some proxies use a short error name and put its text in the observation. */
static struct str fuller_message(struct str observation, struct str message)
{
	struct str text = JSON_GET(observation, "observation");

	return hidden_error_in_text(text).strength ? text : message;
}

void outcome_set(struct import *m, struct outcome_hint hint, struct str last,
                 struct import_reply *reply)
{
	struct hidden_error hidden;

	if (is_stated(hint)) {
		set_stated(m, hint.error, reply->observation, reply);
		return;
	}
	hidden = hidden_in(reply->observation, last);
	if (!hidden_error_holds(&hidden, hint.failed == 0 ? 1 : -1)) {
		reply->outcome = OUTCOME_OK;
		return;
	}
	set_failure(m, hidden.layer, fuller_message(reply->observation, hidden.message),
	            hidden.code, reply);
}
