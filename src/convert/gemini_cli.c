/* Session files of Gemini CLI: a document with its messages, or a line of metadata and then a line
   per message, which is written again with the same id when its calls are answered. A message of
   the model holds its calls with their results. Chats that it saves are contents of the Gemini API. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/import.h"

/* {"role":"user" or "model","parts":[..]}; a saved chat is a list of them, or has it as its history. */
static bool is_content(struct str value)
{
	return json_type(JSON_GET(value, "role")) == JSON_STRING &&
	       json_type(JSON_GET(value, "parts")) == JSON_ARRAY;
}

static bool is_gemini_cli(struct str value)
{
	if (is_content(value) || is_content(json_first(JSON_GET(value, "history"))))
		return true;
	return json_type(JSON_GET(value, "sessionId")) == JSON_STRING &&
	       json_type(JSON_GET(value, "projectHash")) == JSON_STRING;
}

/* ---- messages ---- */

/* part: {"functionResponse":{"response":{"output" or "error":..}}}, or any other result */
static void take_result(struct import *m, struct dialog *d, struct str part, struct str id,
                        bool failed)
{
	struct str response = JSON_GET(JSON_GET(part, "functionResponse"), "response");
	struct str output = JSON_GET(response, "output"), error = JSON_GET(response, "error");
	struct str content = output.p ? output : error.p ? error : response.p ? response : part;
	struct dialog_facts f = DIALOG_FACTS;

	f.hint.failed = failed || (error.p && !output.p) ? 1 : -1;
	dialog_message(m, d, message_answer(m, id, content), &f);
}

static void take_content(struct import *m, struct dialog *d, struct str content)
{
	bool model = json_is(JSON_GET(content, "role"), STR("model")), answers = false;
	struct str parts = JSON_GET(content, "parts"), one;

	if (model)
		dialog_message(m, d, message_new(m, "assistant", parts), NULL);
	for (size_t cursor = 0; json_next(parts, &cursor, &one);) {
		struct str call = JSON_GET(one, "functionCall");
		struct str answer = JSON_GET(one, "functionResponse");

		if (model && call.p)
			dialog_call(m, d, call);
		if (!model && answer.p)
			take_result(m, d, one, JSON_GET(answer, "id"), false);
		answers = answers || answer.p;
	}
	if (!model && !answers)
		dialog_message(m, d, message_new(m, "user", parts), NULL);
}

static void take_message(struct import *m, struct dialog *d, struct str message)
{
	struct str type = JSON_GET(message, "type"), content = JSON_GET(message, "content");
	struct str calls = JSON_GET(message, "toolCalls"), one;

	if (json_is(type, STR("user"))) {
		dialog_message(m, d, message_new(m, "user", content), NULL);
	} else if (json_is(type, STR("gemini"))) {
		dialog_message(m, d, message_new(m, "assistant", content), NULL);
		for (size_t cursor = 0; json_next(calls, &cursor, &one);)
			dialog_call(m, d, one);
		for (size_t cursor = 0; json_next(calls, &cursor, &one);) {
			struct str result = JSON_GET(one, "result"), part = json_first(result);

			if (!json_is_null(result)) /* answered, and not cancelled */
				take_result(m, d, part.p ? part : result, JSON_GET(one, "id"),
				            json_is(JSON_GET(one, "status"), STR("error")));
		}
	}
}

/* ---- the file ---- */

/* The last message is taken when another one follows: it may come again. */
static void take_last(struct import *m, struct open_dialog *o)
{
	if (o->last.n) {
		take_message(m, &o->dialog, buf_view(&o->last));
		buf_clear(&o->last);
	}
}

static int finish(struct import *m, struct error *err)
{
	if (m->own)
		take_last(m, dialogs_find(m, 0, err));
	return dialogs_finish(m, err);
}

static void begin(struct import *m, struct dialog *d, struct str value)
{
	struct import_header h = {.task = import_task(m, JSON_GET(value, "sessionId"))};
	struct str one;

	dialog_open(m, d, &h);
	for (size_t cursor = 0; json_next(JSON_GET(value, "messages"), &cursor, &one);)
		take_message(m, d, one);
	for (size_t cursor = 0; json_next(JSON_GET(value, "history"), &cursor, &one);)
		take_content(m, d, one);
}

static int import_gemini_cli(struct import *m, struct str value, struct error *err)
{
	if (is_content(value)) {
		struct open_dialog *o = dialogs_find(m, 0, err);

		if (!o->dialog.id)
			begin(m, &o->dialog, value);
		take_content(m, &o->dialog, value);
		return 0;
	}
	if (is_gemini_cli(value)) {
		(void)!finish(m, err);
		begin(m, &dialogs_find(m, 0, err)->dialog, value);
		return 0;
	}
	if (!m->own || json_type(value) != JSON_OBJECT) {
		return error_set(err, FAIL_INPUT,
		                 "not a session of Gemini CLI: sessionId and projectHash are "
		                 "required, or role and parts");
	}
	if (JSON_GET(value, "type").p) {
		struct open_dialog *o = dialogs_find(m, 0, err);
		struct str before = arena_str(&m->arena, buf_view(&o->last));

		if (!before.n || !str_eq(JSON_GET(before, "id"), JSON_GET(value, "id")))
			take_last(m, o);
		buf_set(&o->last, value);
	}
	return 0;
}

const struct format format_gemini_cli = {
	.name = "gemini-cli",
	.what = "session files of Gemini CLI: sessionId, projectHash, messages; saved chats: role, parts",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME),
	.is = is_gemini_cli,
	.take = import_gemini_cli,
	.finish = finish,
};
