/* Buffers one rollout and writes it, and its conversation, as recorded or made from its calls and
   answers: see export.h. */
#include "convert/export.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROLLOUT_BYTES_MAX ((size_t)1 << 30)

/* ---- lines in ---- */

static struct line *place_for(struct export *x, enum line_type type)
{
	switch (type) {
	case LINE_HEADER:
		return &x->header;
	case LINE_RESET:
		return &x->reset;
	case LINE_END:
		return &x->end;
	case LINE_STEP:
		if (x->count == x->room) {
			x->room = x->room ? 2 * x->room : 16;
			x->steps = mem_resize(x->steps, x->room, sizeof(*x->steps));
		}
		return &x->steps[x->count++];
	case LINE_EVENT:
	case LINE_TYPES:
	case LINE_UNKNOWN:
		break;
	}
	return NULL;
}

/* Facts whose loss is reported. Facts derivable from others, and those about how the recording was
   made, are omitted. */
static const enum key facts[] = {
	KEY_SEED, KEY_TOOLS,        KEY_OUTCOME, KEY_ERROR,      KEY_OBSERVATION, KEY_STRUCTURED,
	KEY_RAW,  KEY_STATE,        KEY_REWARD,  KEY_TERMINATED, KEY_TRUNCATED,   KEY_ENV_STEPS,
	KEY_LLM,  KEY_TOTAL_REWARD, KEY_STATUS,  KEY_MESSAGES,
};

static bool is_empty(struct str value)
{
	return (json_type(value) == JSON_ARRAY || json_type(value) == JSON_OBJECT) &&
	       !json_count(value);
}

static bool holds(const struct format *f, enum key k)
{
	return (f->facts | f->also_written) >> k & 1;
}

/* Is anything lost without this fact? A successful call, an unset flag and a sum are implied. */
static bool is_information(const struct export *x, const struct line *l, enum key k)
{
	switch (k) {
	case KEY_OUTCOME:
		return export_is_failed(l);
	case KEY_TERMINATED:
		return l->terminated > 0;
	case KEY_TRUNCATED:
		return l->truncated > 0;
	case KEY_TOTAL_REWARD:
		return !holds(x->format, KEY_REWARD);
	case KEY_STATUS:
		return l->status != END_TERMINATED || !holds(x->format, KEY_TERMINATED);
	default:
		return line_has(l, k) && !is_empty(l->value[k]);
	}
}

static void note_losses(struct export *x, const struct line *l)
{
	x->lost_events += l->type == LINE_EVENT;
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		enum key k = facts[i];

		x->lost[k] += !holds(x->format, k) && line_has(l, k) && is_information(x, l, k);
	}
}

int export_add(struct export *x, const struct line *l, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct line kept;
	size_t used;
	int failed;

	x->bytes += l->text.n;
	if (x->bytes > ROLLOUT_BYTES_MAX) {
		return error_set(err, FAIL_INPUT, "a rollout of more than %zu MiB",
		                 ROLLOUT_BYTES_MAX >> 20);
	}
	note_losses(x, l);
	failed = line_parse(arena_str(&x->arena, l->text), &scratch, &kept, &used, err);
	if (!failed) {
		x->id = x->id.p ? x->id : arena_str(&x->arena, kept.rollout);
		kept.rollout = x->id;
		struct line *place = place_for(x, kept.type);

		if (place)
			*place = kept;
	}
	buf_release(&scratch);
	return failed;
}

/* ---- the rollout out ---- */

static void forget(struct export *x)
{
	arena_reset(&x->arena);
	x->header = x->reset = x->end = (struct line){.type = LINE_UNKNOWN};
	x->count = x->bytes = 0;
	x->id = STR_NONE;
}

int export_rollout(struct export *x, struct buf *out, struct error *err)
{
	x->out = out;
	int failed = x->format->write(x, err);

	if (!failed && out->full) {
		failed = error_set(err, FAIL_INPUT, "it is over %zu MiB in this format",
		                   out->max >> 20);
	}
	if (failed)
		error_wrap(err, "rollout %.*s", STR_ARG(x->id));
	x->index++;
	forget(x);
	return failed;
}

void export_release(struct export *x)
{
	arena_release(&x->arena);
	free(x->steps);
	x->steps = NULL;
}

static const char *name_of(enum key k)
{
	for (size_t i = 0; i < line_keys_count; i++)
		if (line_keys[i].key == k)
			return line_keys[i].name;
	return "";
}

static void warn_of_loss(const struct export *x, const char *what, uint64_t lines)
{
	if (lines) {
		log_warn("%s cannot hold %s: omitted from %" PRIu64 " line%s", x->format->name,
		         what, lines, lines == 1 ? "" : "s");
	}
}

void export_warn_of_losses(const struct export *x)
{
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		warn_of_loss(x, name_of(facts[i]), x->lost[facts[i]]);
	warn_of_loss(x, "events", x->lost_events);
}

void export_own_id(const struct export *x, struct json_writer *j)
{
	jw_put_raw(j, "task", JSON_GET(x->header.value[KEY_TASK], "id"));
	jw_put_raw(j, "sample", x->header.value[KEY_SAMPLE]);
}

/* ---- the conversation ---- */

void export_text(struct json_writer *j, struct str value)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (json_type(value) == JSON_STRING) {
		jw_raw(j, value);
		return;
	}
	if (!json_is_null(value))
		json_text_or_json(value, &text);
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

	while (end < x->count && x->steps[end].turn == x->steps[i].turn && x->steps[end].turn >= 0)
		end++;
	return end;
}

/* ---- calls ---- */

static void put_arguments(struct json_writer *j, struct str arguments, unsigned how)
{
	bool text = json_type(arguments) == JSON_STRING;

	if (!(how & MESSAGES_OBJECTS))
		export_text(j, arguments.p ? arguments : STR("{}"));
	else if (text || json_is_null(arguments))
		jw_raw(j, STR("{}"));
	else
		jw_raw(j, arguments);
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
	if (reward)
		jw_put_text(j, "reward_source", "control_plane_endpoint");
	if (status)
		jw_put_text(j, "status_source", "control_plane_endpoint");
	jw_end(j);
	jw_end(j);
	jw_end(j);
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
	jw_put_known(&j, "name", JSON_GET(message, "name"));
	jw_put_known(&j, "tool_call_id", JSON_GET(message, "tool_call_id"));
	jw_put_raw(&j, "content", JSON_GET(message, "content"));
	jw_put_known(&j, "reasoning_content", JSON_GET(message, "reasoning_content"));
	if (json_count(calls)) {
		jw_put_array(&j, "tool_calls");
		while (json_next(calls, &cursor, &one))
			put_spelled_call(&j, one, list->how);
		jw_end(&j);
	}
	if (answer && step && list->how & MESSAGES_METADATA)
		put_metadata(&j, step);
	jw_end(&j);
}

static bool has_role(struct str messages, struct str role)
{
	struct str one;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);)
		if (json_is(JSON_GET(one, "role"), role))
			return true;
	return false;
}

static void put_all(const struct message_list *list, struct str messages, const struct line *step)
{
	struct str one;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);)
		put_recorded(list, one, step);
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

	if (list->how & MESSAGES_OBJECTS)
		jw_put_raw(&j, "name", JSON_GET(call, "name"));
	jw_put_raw(&j, "tool_call_id", JSON_GET(call, "id"));
	jw_key(&j, "content");
	export_text(&j, step->value[KEY_OBSERVATION]);
	if (list->how & MESSAGES_METADATA)
		put_metadata(&j, step);
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
	if (!has_assistant && line_has(&x->steps[i], KEY_TOOL_CALL))
		put_made_calls(x, &list, i, end);
	for (size_t k = i; k < end; k++) {
		const struct line *step = &x->steps[k];
		struct str messages = step->value[KEY_MESSAGES];

		put_all(&list, messages, step);
		if (step->step >= 0 && !has_role(messages, STR("tool")))
			put_made_answer(&list, step);
	}
	return end;
}

int export_conversation(struct export *x, unsigned how, struct buf *out, struct error *err)
{
	buf_char(out, '[');
	size_t start = out->n;
	export_prompt(x, how, start, out);
	for (size_t i = 0; i < x->count;)
		i = export_turn(x, i, how, start, out);
	buf_char(out, ']');
	return out->full ? error_set(err, FAIL_INPUT, "its conversation is longer than %zu MiB",
	                             out->max >> 20)
	                 : 0;
}

int export_messages_and_tools(struct export *x, unsigned how, struct error *err)
{
	struct json_writer j;

	buf_text(x->out, "{\"messages\":");
	if (export_conversation(x, how, x->out, err))
		return -1;
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
		jw_put_known(j, "description", JSON_GET(one, "description"));
		jw_put_raw(j, "parameters",
		           schema.p ? schema : STR("{\"type\":\"object\",\"properties\":{}}"));
		jw_end(j);
		jw_end(j);
	}
	jw_end(j);
}
