/* Turns of a conversation: see dialog.h. */
#include "convert/dialog.h"

#include "base/text.h"
#include "convert/import.h"
#include "json/canon.h"

#include <stdlib.h>

/* Turns with more calls than this pair answers with calls by position only. */
#define PAIRED_BY_ID 256

/* The tool name that eval-protocol uses for a turn without a call. */
#define NO_CALL "_no_tool_call"

struct dialog_call {
	struct str id, name, arguments; /* raw JSON */
	struct str message;             /* the answer */
	struct str state, state_after;
	struct import_reply reply;
	struct outcome_hint hint;
	bool answered;
};

void dialog_open(struct import *m, struct dialog *d, struct import_header *h)
{
	struct str id = h->id.p ? h->id : import_rollout_id(m, h->task, &h->sample);

	*d = (struct dialog){.before = BUF(FOREIGN_BYTES_MAX),
	                     .after = BUF(FOREIGN_BYTES_MAX),
	                     .state = BUF(BUF_MAX_MESSAGE),
	                     .last = BUF(BUF_MAX_MESSAGE)};
	d->id = mem_text(id);
	d->rollout.id = (struct str){d->id, id.n};
	import_header(m, &d->rollout, h);
}

void dialog_release(struct dialog *d)
{
	json_paths_free(d->rollout.ignore);
	free(d->id);
	arena_release(&d->arena);
	buf_release(&d->before);
	buf_release(&d->after);
	buf_release(&d->state);
	buf_release(&d->last);
	free(d->calls);
	*d = (struct dialog){0};
}

/* ---- writing the open turn ---- */

static void add_message(struct buf *list, struct str message)
{
	if (message.n) {
		buf_text(list, list->n ? "," : "");
		buf_str(list, message);
	}
}

static void start(struct import *m, struct dialog *d)
{
	struct import_reply none = {.observation = d->start, REPLY_UNKNOWN};

	m->out->full = m->out->full || d->before.full || d->after.full;
	if (!d->started) {
		import_reset(m, &d->rollout, &none, buf_view(&d->before));
		buf_release(&d->before);
		d->started = true;
	}
}

/* An unknown state stays unknown: the previous one is not carried forward. */
void dialog_state(struct dialog *d, struct str state)
{
	buf_clear(&d->state);
	if (!json_is_null(state))
		json_minify(state, &d->state);
}

static void judge_reply(struct import *m, struct dialog *d, struct dialog_call *call)
{
	struct import_reply *r = &call->reply;

	d->terminated = d->terminated || r->terminated > 0;
	d->truncated = d->truncated || r->truncated > 0;
	if (!call->answered)
		return;
	outcome_set(m, call->hint, buf_given(&d->last), r);
	if (r->outcome == OUTCOME_OK && r->observation.p)
		buf_set(&d->last, r->observation);
}

static void write_call(struct import *m, struct dialog *d, size_t i)
{
	struct dialog_call *call = &d->calls[i];
	AUTO_BUF messages = BUF(FOREIGN_BYTES_MAX);

	add_message(&messages, i == 0 ? d->assistant : STR_NONE);
	add_message(&messages, call->message);
	add_message(&messages, i + 1 == d->count ? buf_view(&d->after) : STR_NONE);
	judge_reply(m, d, call);
	if (!json_is_null(call->state))
		dialog_state(d, call->state);
	import_step(m, &d->rollout,
	            &(struct import_step){.sent = call->answered,
	                                  .new_turn = i == 0,
	                                  .state = buf_given(&d->state),
	                                  .messages = buf_view(&messages),
	                                  .call_id = call->id,
	                                  .call_name = call->name,
	                                  .arguments = call->arguments,
	                                  .reply = call->reply,
	                                  .llm = i == 0 ? d->llm : STR_NONE});
	if (call->answered || call->state_after.p)
		dialog_state(d, call->state_after);
}

static void write_turn_without_call(struct import *m, struct dialog *d)
{
	AUTO_BUF messages = BUF(FOREIGN_BYTES_MAX);

	add_message(&messages, d->assistant);
	add_message(&messages, buf_view(&d->after));
	import_step(m, &d->rollout,
	            &(struct import_step){.new_turn = true,
	                                  .state = buf_given(&d->state),
	                                  .messages = buf_view(&messages),
	                                  .llm = d->llm,
	                                  .reply = {REPLY_UNKNOWN}});
}

void dialog_flush(struct import *m, struct dialog *d)
{
	start(m, d);
	if (!d->open)
		return;
	for (size_t i = 0; i < d->count; i++)
		write_call(m, d, i);
	if (!d->count)
		write_turn_without_call(m, d);
	buf_clear(&d->after);
	arena_reset(&d->arena);
	d->open = d->replied = false;
	d->assistant = d->llm = d->reply_id = STR_NONE;
	d->count = d->answered = 0;
}

void dialog_end(struct import *m, struct dialog *d, const struct import_end *e)
{
	struct import_end end = *e;

	dialog_flush(m, d);
	if (end.status == END_UNKNOWN && (d->terminated || d->truncated))
		end.status = d->terminated ? END_TERMINATED : END_TRUNCATED;
	end.state = json_is_null(end.state) ? buf_given(&d->state) : end.state;
	import_end(m, &d->rollout, &end);
	dialog_release(d);
}

/* ---- calls ---- */

/* Arguments as a value: text that holds JSON, or a literal printed by Python, is parsed. */
static struct str arguments_of(struct import *m, struct dialog *d, struct str arguments)
{
	struct str value = arguments;

	if (json_is(arguments, STR("")))
		return STR("{}");
	if (json_type(arguments) == JSON_STRING)
		value = outcome_observation(m, arguments);
	return arena_str(&d->arena, value);
}

static struct dialog_call *add_call(struct dialog *d)
{
	d->calls = mem_grow(d->calls, d->count, sizeof(*d->calls));
	struct dialog_call *call = &d->calls[d->count++];
	*call = (struct dialog_call){.reply = {REPLY_UNKNOWN}};
	return call;
}

/* {"id","function":{"name","arguments"}} (OpenAI), {"id","function":"name","arguments"}
   (Inspect), {"name","arguments"} (Hermes), {"tool_call_id","function_name","arguments"},
   {"id","name","input"} (Anthropic), {"call_id","name" or "type","arguments", "input" or "action"}
   (Responses), {"id","name","args"} (Gemini). */
void dialog_call(struct import *m, struct dialog *d, struct str spelled)
{
	static const struct str keys[] = {
		STR_INIT("function"),      STR_INIT("id"),     STR_INIT("tool_call_id"),
		STR_INIT("function_name"), STR_INIT("name"),   STR_INIT("arguments"),
		STR_INIT("call_id"),       STR_INIT("input"),  STR_INIT("args"),
		STR_INIT("type"),          STR_INIT("action"),
	};
	struct str v[ARRAY_LEN(keys)] = {0};
	struct str name, arguments;

	json_pick(spelled, keys, ARRAY_LEN(keys), v);
	name = import_either(v[4], import_either(v[3], v[6].p ? v[9] : STR_NONE));
	arguments = import_either(import_either(v[5], v[10]), import_either(v[7], v[8]));
	if (json_type(v[0]) == JSON_OBJECT) {
		name = JSON_GET(v[0], "name");
		arguments = JSON_GET(v[0], "arguments");
	} else if (json_type(v[0]) == JSON_STRING) {
		name = v[0];
	}
	if (json_is(name, STR(NO_CALL)))
		return;
	struct dialog_call *call = add_call(d);
	call->id = arena_str(&d->arena, import_either(v[6], import_either(v[1], v[2])));
	call->name = arena_str(&d->arena, name);
	call->arguments = arguments_of(m, d, arguments);
}

static void take_calls(struct import *m, struct dialog *d, struct str message)
{
	struct str calls = JSON_GET(message, "tool_calls");
	struct str legacy = JSON_GET(message, "function_call");
	struct str one;
	size_t cursor = 0;

	while (json_next(calls, &cursor, &one))
		dialog_call(m, d, one);
	if (json_type(legacy) == JSON_OBJECT && !d->count)
		dialog_call(m, d, legacy);
	for (cursor = 0; json_next(JSON_GET(message, "content"), &cursor, &one);)
		if (json_is(JSON_GET(one, "type"), STR("tool_use")))
			dialog_call(m, d, one);
}

/* ---- answers ---- */

static bool same_id(struct str a, struct str b)
{
	return json_type(a) == JSON_STRING && json_type(b) == JSON_STRING && json_same_text(a, b);
}

/* The call that an answer belongs to: the next open one, unless the answer's id is that of another
   open call. Ids are not reliable: real files repeat them. NULL: no call is open. */
static struct dialog_call *answered_call(struct dialog *d, struct str id)
{
	while (d->answered < d->count && d->calls[d->answered].answered)
		d->answered++;
	if (d->answered == d->count)
		return NULL;
	struct dialog_call *next = &d->calls[d->answered];
	if (json_type(id) != JSON_STRING || same_id(id, next->id) || d->count > PAIRED_BY_ID)
		return next;
	for (size_t i = d->answered; i < d->count; i++)
		if (!d->calls[i].answered && same_id(id, d->calls[i].id))
			return &d->calls[i];
	return next;
}

/* eval-protocol: a reward without a source is a default value, because the query failed. */
static void add_metadata(struct str metadata, struct dialog_facts *f)
{
	struct str info = JSON_GET(metadata, "info"), plane = JSON_GET(info, "control_plane");
	bool known = json_type(plane) != JSON_OBJECT;

	if (json_is_null(f->reward) && (known || JSON_GET(plane, "reward_source").p))
		f->reward = JSON_GET(metadata, "reward");
	if (f->terminated < 0 && (known || JSON_GET(plane, "status_source").p))
		f->terminated = import_flag(JSON_GET(metadata, "terminated"));
	f->name = import_either(f->name, JSON_GET(info, "tool_call"));
	f->arguments = import_either(f->arguments, JSON_GET(info, "arguments"));
}

/* Facts in the message itself, used where none were given. */
static void add_own_facts(struct str message, struct dialog_facts *f)
{
	static const struct str keys[] = {
		STR_INIT("metadata"), STR_INIT("control_plane_step"),
		STR_INIT("is_error"), STR_INIT("isError"),
		STR_INIT("error"),    STR_INIT("name"),
		STR_INIT("function"),
	};
	struct str v[ARRAY_LEN(keys)] = {0};

	json_pick(message, keys, ARRAY_LEN(keys), v);
	add_metadata(v[0], f);
	add_metadata(v[1], f);
	if (f->hint.failed < 0)
		f->hint.failed = import_flag(import_either(v[2], v[3]));
	f->hint.error = import_either(f->hint.error, v[4]);
	f->name = import_either(import_either(v[5], v[6]), f->name);
}

/* A call that is in no message: a program made it instead of a model, or on behalf of a model whose
   message has no call. */
static struct dialog_call *add_unasked_call(struct import *m, struct dialog *d,
                                            const struct dialog_facts *f, struct str id)
{
	if (!d->open || d->count) {
		dialog_flush(m, d);
		d->open = true;
	}
	struct dialog_call *call = add_call(d);
	call->id = arena_str(&d->arena, id);
	call->name = arena_str(&d->arena, f->name);
	call->arguments = arguments_of(m, d, f->arguments);
	return call;
}

static void set_facts(struct import *m, struct dialog *d, struct dialog_call *call,
                      struct str content, const struct dialog_facts *f)
{
	call->state = arena_str(&d->arena, f->state);
	call->state_after = arena_str(&d->arena, f->state_after);
	call->hint.failed = f->hint.failed;
	call->hint.error = arena_str(&d->arena, f->hint.error);
	call->reply.observation = arena_str(&d->arena, outcome_observation(m, content));
	call->reply.reward = arena_str(&d->arena, f->reward);
	call->reply.terminated = f->terminated;
	call->reply.truncated = f->truncated;
	call->reply.env_steps = f->env_steps;
}

/* message: what is recorded of it; answer: the object with its facts, the message or a part of it */
static void take_answer(struct import *m, struct dialog *d, struct str message, struct str answer,
                        const struct dialog_facts *given)
{
	static const struct str keys[] = {STR_INIT("tool_call_id"), STR_INIT("tool_use_id"),
	                                  STR_INIT("call_id"), STR_INIT("content"),
	                                  STR_INIT("output")};
	struct str v[ARRAY_LEN(keys)] = {0};
	struct dialog_facts f = given ? *given : DIALOG_FACTS;

	json_pick(answer, keys, ARRAY_LEN(keys), v);
	struct str id = import_either(v[0], import_either(v[1], v[2]));
	struct str content = import_either(v[3], v[4]);
	struct dialog_call *call = d->open ? answered_call(d, id) : NULL;
	add_own_facts(answer, &f);
	call = call ? call : add_unasked_call(m, d, &f, id);
	call->answered = true;
	d->replied = true;
	call->message = arena_str(&d->arena, message);
	set_facts(m, d, call, content, &f);
}

void dialog_step(struct import *m, struct dialog *d, struct str content,
                 const struct dialog_facts *facts)
{
	struct dialog_call *call = add_unasked_call(m, d, facts, STR_NONE);

	call->answered = !json_is_null(facts->name);
	set_facts(m, d, call, call->answered ? content : STR_NONE, facts);
	if (!call->answered)
		call->reply.reward = STR_NONE;
	call->state_after = call->state_after.p ? call->state_after : STR("null");
	dialog_flush(m, d);
}

/* ---- messages ---- */

/* Text that is a call: between tags, or without them where the special tokens were left out. */
static bool is_unparsed(struct import *m, struct str content)
{
	struct str text;

	if (json_type(content) != JSON_STRING)
		return false;
	buf_clear(&m->value);
	json_decode(content, &m->value);
	text = text_trim(buf_view(&m->value));
	return (str_starts(text, STR("{\"name\":")) && find_in(text, STR("\"arguments\":"))) ||
	       find_in(text, STR("<tool_call>"));
}

/* What a message or an item of a list means. */
enum meaning { OTHER, ASSISTANT, PART, CALL, ANSWER, ANSWERS };

static bool has_answers(struct str content)
{
	struct str one;

	for (size_t cursor = 0; json_next(content, &cursor, &one);)
		if (json_is(JSON_GET(one, "type"), STR("tool_result")))
			return true;
	return false;
}

static enum meaning meaning_of(struct str message)
{
	static const struct {
		struct str key, value;
		enum meaning meaning;
	} table[] = {
		{STR_INIT("requestor"), STR_INIT("user"), OTHER}, /* tau2: the user's own calls */
		{STR_INIT("role"), STR_INIT("tool"), ANSWER},
		{STR_INIT("role"), STR_INIT("function"), ANSWER},
		{STR_INIT("type"), STR_INIT("function_call"), CALL},
		{STR_INIT("type"), STR_INIT("mcp_call"), CALL},
		{STR_INIT("type"), STR_INIT("reasoning"), PART},
		{STR_INIT("role"), STR_INIT("assistant"), ASSISTANT},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (json_is(json_get(message, table[i].key), table[i].value)) {
			bool part = table[i].meaning == ASSISTANT && JSON_GET(message, "type").p;

			return part ? PART : table[i].meaning;
		}
	}
	/* other items of the Responses API: what its server runs by itself has no call_id and is a part of the reply */
	struct str type = JSON_GET(message, "type"), kind = json_inner(type);
	bool called = JSON_GET(message, "call_id").p;

	if (json_type(type) == JSON_STRING && str_ends(kind, STR("_call")))
		return called ? CALL : PART;
	if (json_type(type) == JSON_STRING && str_ends(kind, STR("_output")) && called)
		return ANSWER;
	return has_answers(JSON_GET(message, "content")) ? ANSWERS : OTHER;
}

/* Opens a turn, unless the message is a part of one that nothing has answered yet, or that has its
   id. The id of a message with a model is that of its reply, that of an item only its own. */
static void take_reply(struct import *m, struct dialog *d, struct str message, bool part)
{
	struct str id = part ? JSON_GET(message, "id") : STR_NONE;
	bool same = d->open && same_id(id, d->reply_id);
	bool other = !same && id.p && JSON_GET(message, "model").p;

	if (!part || !d->open || other || ((d->replied || d->after.n) && !same)) {
		dialog_flush(m, d);
		d->open = true;
	}
	d->reply_id = arena_str(&d->arena, id);
	if (d->assistant.p) {
		AUTO_BUF both = BUF(FOREIGN_BYTES_MAX);

		buf_str(&both, d->assistant);
		add_message(&both, message);
		d->assistant = arena_str(&d->arena, buf_view(&both));
	} else {
		d->assistant = arena_str(&d->arena, message);
	}
}

/* Items without a role are recorded as messages: rules look for what the model was shown. */
static struct str call_as_message(struct import *m, struct str item)
{
	return IMPORT_PACK(
		m, "{role:'assistant',tool_calls:[{id:%r,name:%r,arguments:%r}]}",
		JSON_GET(item, "call_id"),
		import_either(JSON_GET(item, "name"), JSON_GET(item, "type")),
		import_either(JSON_GET(item, "arguments"),
	                      import_either(JSON_GET(item, "input"), JSON_GET(item, "action"))));
}

static struct str answer_as_message(struct import *m, struct str item)
{
	return JSON_GET(item, "role").p
	               ? item
	               : message_answer(m, JSON_GET(item, "call_id"), JSON_GET(item, "output"));
}

static void take_answers(struct import *m, struct dialog *d, struct str message,
                         const struct dialog_facts *facts)
{
	struct str one, whole = message;

	for (size_t cursor = 0; json_next(JSON_GET(message, "content"), &cursor, &one);) {
		if (json_is(JSON_GET(one, "type"), STR("tool_result"))) {
			take_answer(m, d, whole, one, facts);
			whole = STR_NONE;
		}
	}
}

void dialog_answer(struct import *m, struct dialog *d, struct str message,
                   const struct dialog_facts *facts)
{
	take_answer(m, d, answer_as_message(m, message), message, facts);
}

void dialog_message(struct import *m, struct dialog *d, struct str message,
                    const struct dialog_facts *facts)
{
	enum meaning meaning = meaning_of(message);

	switch (meaning) {
	case ANSWER:
		dialog_answer(m, d, message, facts);
		break;
	case ANSWERS:
		take_answers(m, d, message, facts);
		break;
	case CALL:
		take_reply(m, d, call_as_message(m, message), true);
		dialog_call(m, d, message);
		break;
	case ASSISTANT:
	case PART:
		take_reply(m, d, message, meaning == PART);
		take_calls(m, d, message);
		if (!d->count && is_unparsed(m, JSON_GET(message, "content")))
			d->llm = STR("{\"parse\":{\"source\":\"none\",\"cause\":\"markup\"}}");
		break;
	case OTHER:
		add_message(d->open ? &d->after : &d->before, message);
		break;
	}
}

bool dialog_waits(const struct dialog *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (!d->calls[i].answered)
			return d->open;
	return false;
}

void dialog_prompt(struct import *m, struct dialog *d, struct str prompt)
{
	struct str one;
	size_t cursor = 0;

	if (json_type(prompt) == JSON_STRING)
		add_message(&d->before, message_new(m, "user", prompt));
	while (json_next(prompt, &cursor, &one)) {
		enum meaning meaning = meaning_of(one);

		add_message(&d->before, meaning == CALL     ? call_as_message(m, one)
		                        : meaning == ANSWER ? answer_as_message(m, one)
		                                            : one);
	}
}

void dialog_messages(struct import *m, struct dialog *d, struct str messages)
{
	struct str one;
	size_t cursor = 0;

	while (json_next(messages, &cursor, &one))
		dialog_message(m, d, one, NULL);
}
