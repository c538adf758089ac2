/* The conversation of a rollout, as recorded or made from its calls and answers: see export.h. */
#include "convert/export.h"

#include <stdio.h>

void export_text(struct json_writer *j, struct str value)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (json_type(value) == JSON_STRING) {
		jw_raw(j, value);
		return;
	}
	if (!json_is_null(value)) {
		json_text_or_json(value, &text);
	}
	jw_str(j, buf_view(&text));
	buf_release(&text);
}

bool export_is_failed(const struct line *step)
{
	return step->outcome != OUTCOME_OK && step->outcome != OUTCOME_NONE;
}

size_t export_turn_end(const struct export *x, size_t i)
{
	size_t end = i + 1;

	while (end < x->count && x->steps[end].turn == x->steps[i].turn &&
	       x->steps[end].turn >= 0) {
		end++;
	}
	return end;
}

/* ---- calls ---- */

static void put_arguments(struct json_writer *j, struct str arguments, unsigned how)
{
	bool text = json_type(arguments) == JSON_STRING;

	if (!(how & MESSAGES_OBJECTS)) {
		export_text(j, arguments.p ? arguments : STR("{}"));
	} else if (text || json_is_null(arguments)) {
		jw_raw(j, STR("{}"));
	} else {
		jw_raw(j, arguments);
	}
}

static void put_call(struct json_writer *j, struct str id, struct str name, struct str arguments,
                     unsigned how)
{
	jw_object(j);
	jw_put_raw(j, "id", id);
	jw_put_text(j, "type", "function");
	jw_put_object(j, "function");
	jw_put_raw(j, "name", name);
	jw_key(j, "arguments");
	put_arguments(j, arguments, how);
	jw_end(j);
	jw_end(j);
}

/* Writes a call in any of the shapes that dialog.c reads. */
static void put_spelled_call(struct json_writer *j, struct str call, unsigned how)
{
	struct str function = JSON_GET(call, "function"), name = JSON_GET(call, "name");
	struct str arguments = JSON_GET(call, "arguments"), decoded;
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct json_fault fault;

	if (json_type(function) == JSON_OBJECT) {
		name = JSON_GET(function, "name");
		arguments = JSON_GET(function, "arguments");
	} else if (json_type(function) == JSON_STRING) {
		name = function;
	}
	if (how & MESSAGES_OBJECTS && json_type(arguments) == JSON_STRING) {
		json_decode(arguments, &text);
		decoded = buf_view(&text);
		arguments = json_validate(decoded, &fault) == 0 ? decoded : arguments;
	}
	put_call(j, JSON_GET(call, "id"), name, arguments, how);
	buf_release(&text);
}

/* ---- messages ---- */

struct message_list {
	struct buf *out;
	size_t start;
	unsigned how;
};

static struct json_writer begin_message(const struct message_list *list, const char *role)
{
	struct json_writer j;

	buf_text(list->out, list->out->n > list->start ? "," : "");
	jw_init(&j, list->out);
	jw_object(&j);
	jw_put_text(&j, "role", role);
	return j;
}

/* eval-protocol's metadata: the control plane's data after the step. */
static void put_metadata(struct json_writer *j, const struct line *step)
{
	struct str call = step->value[KEY_TOOL_CALL];
	bool reward = line_has(step, KEY_REWARD), status = step->terminated >= 0;

	jw_put_object(j, "metadata");
	jw_put_raw(j, "reward", reward ? step->value[KEY_REWARD] : STR("0.0"));
	jw_put_bool(j, "terminated", step->terminated > 0);
	jw_put_object(j, "info");
	jw_put_i64(j, "steps", 0);
	jw_put_raw(j, "tool_call", JSON_GET(call, "name"));
	jw_put_raw(j, "arguments", JSON_GET(call, "arguments"));
	jw_put_object(j, "control_plane");
	if (reward) {
		jw_put_text(j, "reward_source", "control_plane_endpoint");
	}
	if (status) {
		jw_put_text(j, "status_source", "control_plane_endpoint");
	}
	jw_end(j);
	jw_end(j);
	jw_end(j);
}

static void put_optional(struct json_writer *j, struct str message, const char *key)
{
	struct str value = json_get(message, str_from(key));

	if (!json_is_null(value)) {
		jw_put_raw(j, key, value);
	}
}

/* Writes a recorded message; if it is an answer, `step` is its step. */
static void put_recorded(const struct message_list *list, struct str message,
                         const struct line *step)
{
	struct str role = JSON_GET(message, "role"), calls = JSON_GET(message, "tool_calls"), one;
	bool answer = json_is(role, STR("tool"));
	struct json_writer j;
	size_t cursor = 0;

	buf_text(list->out, list->out->n > list->start ? "," : "");
	jw_init(&j, list->out);
	jw_object(&j);
	jw_put_raw(&j, "role", role);
	put_optional(&j, message, "name");
	put_optional(&j, message, "tool_call_id");
	jw_put_raw(&j, "content", JSON_GET(message, "content"));
	put_optional(&j, message, "reasoning_content");
	if (json_count(calls)) {
		jw_put_array(&j, "tool_calls");
		while (json_next(calls, &cursor, &one)) {
			put_spelled_call(&j, one, list->how);
		}
		jw_end(&j);
	}
	if (answer && step && list->how & MESSAGES_METADATA) {
		put_metadata(&j, step);
	}
	jw_end(&j);
}

static bool has_role(struct str messages, struct str role)
{
	struct str one;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);) {
		if (json_is(JSON_GET(one, "role"), role)) {
			return true;
		}
	}
	return false;
}

static void put_all(const struct message_list *list, struct str messages, const struct line *step)
{
	struct str one;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);) {
		put_recorded(list, one, step);
	}
}

void export_prompt(const struct export *x, unsigned how, size_t start, struct buf *out)
{
	struct message_list list = {out, start, how};

	put_all(&list, x->reset.value[KEY_MESSAGES], NULL);
	if (!json_count(x->reset.value[KEY_MESSAGES]) && line_has(&x->reset, KEY_OBSERVATION)) {
		struct json_writer j = begin_message(&list, "user");

		jw_key(&j, "content");
		export_text(&j, x->reset.value[KEY_OBSERVATION]);
		jw_end(&j);
	}
}

/* Makes the message with the calls of a turn that no model message has. */
static void put_made_calls(struct export *x, const struct message_list *list, size_t from,
                           size_t to)
{
	struct json_writer j = begin_message(list, "assistant");

	jw_put_text(&j, "content", "");
	jw_put_array(&j, "tool_calls");
	for (size_t i = from; i < to; i++) {
		struct str call = x->steps[i].value[KEY_TOOL_CALL];

		put_call(&j, JSON_GET(call, "id"), JSON_GET(call, "name"),
		         JSON_GET(call, "arguments"), list->how);
	}
	jw_end(&j);
	jw_end(&j);
}

static void put_made_answer(const struct message_list *list, const struct line *step)
{
	struct str call = step->value[KEY_TOOL_CALL];
	struct json_writer j = begin_message(list, "tool");

	if (list->how & MESSAGES_OBJECTS) {
		jw_put_raw(&j, "name", JSON_GET(call, "name"));
	}
	jw_put_raw(&j, "tool_call_id", JSON_GET(call, "id"));
	jw_key(&j, "content");
	export_text(&j, step->value[KEY_OBSERVATION]);
	if (list->how & MESSAGES_METADATA) {
		put_metadata(&j, step);
	}
	jw_end(&j);
}

size_t export_turn(struct export *x, size_t i, unsigned how, size_t start, struct buf *out)
{
	struct message_list list = {out, start, how};
	size_t end = export_turn_end(x, i);
	bool has_assistant = false;

	for (size_t k = i; k < end; k++) {
		has_assistant = has_assistant ||
		                has_role(x->steps[k].value[KEY_MESSAGES], STR("assistant"));
	}
	if (!has_assistant && line_has(&x->steps[i], KEY_TOOL_CALL)) {
		put_made_calls(x, &list, i, end);
	}
	for (size_t k = i; k < end; k++) {
		const struct line *step = &x->steps[k];
		struct str messages = step->value[KEY_MESSAGES];

		put_all(&list, messages, step);
		if (step->step >= 0 && !has_role(messages, STR("tool"))) {
			put_made_answer(&list, step);
		}
	}
	return end;
}

int export_conversation(struct export *x, unsigned how, struct buf *out, struct error *err)
{
	buf_char(out, '[');
	size_t start = out->n;
	export_prompt(x, how, start, out);
	for (size_t i = 0; i < x->count;) {
		i = export_turn(x, i, how, start, out);
	}
	buf_char(out, ']');
	return out->full ? error_set(err, FAIL_INPUT, "its conversation is longer than %zu MiB",
	                             out->max >> 20)
	                 : 0;
}

int export_messages_and_tools(struct export *x, unsigned how, struct error *err)
{
	struct json_writer j;

	buf_text(x->out, "{\"messages\":");
	if (export_conversation(x, how, x->out, err)) {
		return -1;
	}
	if (line_has(&x->header, KEY_TOOLS)) {
		buf_text(x->out, ",\"tools\":");
		jw_init(&j, x->out);
		export_tools(x, &j);
	}
	buf_text(x->out, "}\n");
	return 0;
}

void export_tools(const struct export *x, struct json_writer *j)
{
	struct str one;

	jw_array(j);
	for (size_t cursor = 0; json_next(x->header.value[KEY_TOOLS], &cursor, &one);) {
		struct str schema = JSON_GET(one, "inputSchema");

		jw_object(j);
		jw_put_text(j, "type", "function");
		jw_put_object(j, "function");
		jw_put_raw(j, "name", JSON_GET(one, "name"));
		put_optional(j, one, "description");
		jw_put_raw(j, "parameters",
		           schema.p ? schema : STR("{\"type\":\"object\",\"properties\":{}}"));
		jw_end(j);
		jw_end(j);
	}
	jw_end(j);
}
