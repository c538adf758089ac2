/* Buffers one rollout and writes it, and its conversation, as recorded or made from its calls and
   answers: see export.h. */
#include "convert/export.h"

#include "base/log.h"

#include <inttypes.h>

#define ROLLOUT_BYTES_MAX ((size_t)1 << 30)

/* ---- lines in ---- */

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
	return (f->facts | f->writer->also_written) >> k & 1;
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
	x->bytes += l->text.n;
	if (x->bytes > ROLLOUT_BYTES_MAX) {
		return error_set(err, FAIL_INPUT, "a rollout of more than %zu MiB",
		                 ROLLOUT_BYTES_MAX >> 20);
	}
	note_losses(x, l);
	return rollout_copy_keep(&x->r, l->text, l->number, err);
}

/* ---- the rollout out ---- */

int export_rollout(struct export *x, struct buf *out, struct error *err)
{
	x->out = out;
	int failed = x->format->writer->write(x, err);

	if (!failed && out->full) {
		failed = error_set(err, FAIL_INPUT, "it is over %zu MiB in this format",
		                   out->max >> 20);
	}
	if (failed)
		error_wrap(err, "rollout %.*s", STR_ARG(x->r.id));
	x->index++;
	x->bytes = 0;
	rollout_copy_release(&x->r);
	return failed;
}

static void warn_of_loss(const struct export *x, const char *what, uint64_t lines)
{
	if (lines) {
		log_warn("%s cannot hold %s: omitted from %" PRIu64 " line%s", x->format->name,
		         what, lines, plural(lines));
	}
}

void export_warn_of_losses(const struct export *x)
{
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		warn_of_loss(x, line_key_name(facts[i]), x->lost[facts[i]]);
	warn_of_loss(x, "events", x->lost_events);
}

/* ---- the conversation ---- */

struct str export_text(struct export *x, struct str value)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), quoted = BUF(2 * BUF_MAX_MESSAGE);

	if (json_type(value) == JSON_STRING)
		return value;
	if (json_is_null(value))
		return STR("\"\"");
	json_text_or_json(value, &text);
	json_quote(&quoted, buf_view(&text));
	return arena_str(&x->r.arena, buf_view(&quoted));
}

struct str export_known(struct str value)
{
	return json_is_null(value) ? STR_NONE : value;
}

bool export_is_failed(const struct line *step)
{
	return step->outcome != OUTCOME_OK && step->outcome != OUTCOME_NONE;
}

size_t export_turn_end(const struct export *x, size_t i)
{
	size_t end = i + 1;

	while (end < x->r.count && x->r.steps[end].turn == x->r.steps[i].turn &&
	       x->r.steps[end].turn >= 0)
		end++;
	return end;
}

/* ---- calls ---- */

static void put_call(struct export *x, struct json_writer *j, struct str id, struct str name,
                     struct str arguments, unsigned how)
{
	if (!(how & MESSAGES_OBJECTS))
		arguments = export_text(x, arguments.p ? arguments : STR("{}"));
	else if (json_type(arguments) == JSON_STRING || json_is_null(arguments))
		arguments = STR("{}");
	jw_pack(j,
	        (how & MESSAGES_INSPECT) == MESSAGES_INSPECT
	                ? "{id:%r,type:'function',function:%r,arguments:%r}"
	                : "{id:%r,type:'function',function:{name:%r,arguments:%r}}",
	        id, name, arguments);
}

/* Writes a call in any of the shapes that dialog.c reads. */
static void put_spelled_call(struct export *x, struct json_writer *j, struct str call, unsigned how)
{
	struct str function = JSON_GET(call, "function"), name = JSON_GET(call, "name");
	struct str arguments = JSON_GET(call, "arguments");

	if (json_type(function) == JSON_OBJECT) {
		name = JSON_GET(function, "name");
		arguments = JSON_GET(function, "arguments");
	} else if (json_type(function) == JSON_STRING) {
		name = function;
	}
	if (how & MESSAGES_OBJECTS && json_type(arguments) == JSON_STRING) {
		struct str decoded = json_text(&x->r.arena, arguments);

		arguments = json_is_valid(decoded) ? decoded : arguments;
	}
	put_call(x, j, JSON_GET(call, "id"), name, arguments, how);
}

/* ---- messages ---- */

struct message_list {
	struct export *x;
	struct buf *out;
	size_t start;
	unsigned how;
};

static struct json_writer begin_message(const struct message_list *list)
{
	struct json_writer j;

	buf_text(list->out, list->out->n > list->start ? "," : "");
	jw_init(&j, list->out);
	return j;
}

/* eval-protocol's metadata: the control plane's data after the step. */
static void put_metadata(struct json_writer *j, const struct line *step)
{
	static const char source[] = "control_plane_endpoint";
	struct str call = step->value[KEY_TOOL_CALL],
		   reward = export_known(step->value[KEY_REWARD]);

	jw_pack(j, "metadata:{reward:%r,terminated:%b", reward.p ? reward : STR("0.0"),
	        step->terminated > 0);
	jw_pack(j, "info:{steps:0,tool_call:%r,arguments:%r,control_plane:{",
	        JSON_GET(call, "name"), JSON_GET(call, "arguments"));
	jw_pack(j, "reward_source:%?t,status_source:%?t}}}", reward.p ? source : NULL,
	        step->terminated >= 0 ? source : NULL);
}

/* Writes a recorded message; if it is an answer, `step` is its step. */
static void put_recorded(const struct message_list *list, struct str message,
                         const struct line *step)
{
	struct str role = JSON_GET(message, "role"), calls = JSON_GET(message, "tool_calls"), one;
	struct str content = JSON_GET(message, "content");
	struct json_writer j = begin_message(list);

	if ((list->how & MESSAGES_INSPECT) == MESSAGES_INSPECT && json_is_null(content))
		content = STR("\"\"");
	jw_pack(&j, "{role:%r,name:%?r,tool_call_id:%?r,content:%r,reasoning_content:%?r", role,
	        export_known(JSON_GET(message, "name")),
	        export_known(JSON_GET(message, "tool_call_id")), content,
	        export_known(JSON_GET(message, "reasoning_content")));
	if (json_count(calls)) {
		jw_put_array(&j, "tool_calls");
		for (size_t cursor = 0; json_next(calls, &cursor, &one);)
			put_spelled_call(list->x, &j, one, list->how);
		jw_end(&j);
	}
	if (json_is(role, STR("tool")) && step && list->how & MESSAGES_METADATA)
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

void export_prompt(struct export *x, unsigned how, size_t start, struct buf *out)
{
	struct message_list list = {x, out, start, how};

	put_all(&list, x->r.reset.value[KEY_MESSAGES], NULL);
	if (!json_count(x->r.reset.value[KEY_MESSAGES]) && line_has(&x->r.reset, KEY_OBSERVATION)) {
		struct json_writer j = begin_message(&list);

		jw_pack(&j, "{role:'user',content:%r}",
		        export_text(x, x->r.reset.value[KEY_OBSERVATION]));
	}
}

/* Makes the message with the calls of a turn that no model message has. */
static void put_made_calls(const struct message_list *list, size_t from, size_t to)
{
	struct json_writer j = begin_message(list);

	jw_pack(&j, "{role:'assistant',content:'',tool_calls:[");
	for (size_t i = from; i < to; i++) {
		struct str call = list->x->r.steps[i].value[KEY_TOOL_CALL];

		put_call(list->x, &j, JSON_GET(call, "id"), JSON_GET(call, "name"),
		         JSON_GET(call, "arguments"), list->how);
	}
	jw_pack(&j, "]}");
}

static void put_made_answer(const struct message_list *list, const struct line *step)
{
	struct str call = step->value[KEY_TOOL_CALL], name = JSON_GET(call, "name");
	struct json_writer j = begin_message(list);

	jw_pack(&j, "{role:'tool',name:%?r,tool_call_id:%r,content:%r",
	        !(list->how & MESSAGES_OBJECTS) ? STR_NONE
	        : name.p                        ? name
	                                        : STR("null"),
	        JSON_GET(call, "id"), export_text(list->x, step->value[KEY_OBSERVATION]));
	if (list->how & MESSAGES_METADATA)
		put_metadata(&j, step);
	jw_end(&j);
}

size_t export_turn(struct export *x, size_t i, unsigned how, size_t start, struct buf *out)
{
	struct message_list list = {x, out, start, how};
	size_t end = export_turn_end(x, i);
	bool has_assistant = false;

	for (size_t k = i; k < end; k++) {
		has_assistant = has_assistant ||
		                has_role(x->r.steps[k].value[KEY_MESSAGES], STR("assistant"));
	}
	if (!has_assistant && line_has(&x->r.steps[i], KEY_TOOL_CALL))
		put_made_calls(&list, i, end);
	for (size_t k = i; k < end; k++) {
		const struct line *step = &x->r.steps[k];
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
	for (size_t i = 0; i < x->r.count;)
		i = export_turn(x, i, how, start, out);
	buf_char(out, ']');
	return out->full ? error_set(err, FAIL_INPUT, "its conversation is longer than %zu MiB",
	                             out->max >> 20)
	                 : 0;
}

struct str export_tools(struct export *x)
{
	AUTO_BUF list = BUF(BUF_MAX_MESSAGE);
	struct str one;

	if (!line_has(&x->r.header, KEY_TOOLS))
		return STR_NONE;
	struct json_writer j = jw_form(&list, "[");
	for (size_t cursor = 0; json_next(x->r.header.value[KEY_TOOLS], &cursor, &one);) {
		struct str schema = JSON_GET(one, "inputSchema");

		jw_pack(&j, "{type:'function',function:{name:%r,description:%?r,parameters:%r}}",
		        JSON_GET(one, "name"), export_known(JSON_GET(one, "description")),
		        schema.p ? schema : STR("{\"type\":\"object\",\"properties\":{}}"));
	}
	jw_end(&j);
	return arena_str(&x->r.arena, buf_view(&list));
}

static int write_messages(struct export *x, unsigned how, struct error *err)
{
	struct str tools = export_tools(x);

	buf_text(x->out, "{\"messages\":");
	if (export_conversation(x, how, x->out, err))
		return -1;
	if (tools.p) {
		buf_text(x->out, ",\"tools\":");
		buf_str(x->out, tools);
	}
	buf_text(x->out, "}\n");
	return 0;
}

static int write_openai(struct export *x, struct error *err)
{
	return write_messages(x, 0, err);
}

static int write_trl(struct export *x, struct error *err)
{
	return write_messages(x, MESSAGES_OBJECTS, err);
}

const struct format_writer writer_openai = {.write = write_openai};
const struct format_writer writer_trl = {.write = write_trl};
