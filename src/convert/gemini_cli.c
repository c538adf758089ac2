/* Session files of Gemini CLI: a document with its messages, or a line of metadata and then a line
   per message, which is written again with the same id when its calls are answered. A message of
   the model holds its calls with their results. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/import.h"

#include <stdlib.h>

struct gemini {
	struct dialog dialog;
	struct buf last; /* the last message, which may come again */
};

static bool is_gemini_cli(struct str value)
{
	return json_type(JSON_GET(value, "sessionId")) == JSON_STRING &&
	       json_type(JSON_GET(value, "projectHash")) == JSON_STRING;
}

/* ---- messages ---- */

/* [{"functionResponse":{"response":{"output" or "error":..}}}] */
static void take_result(struct import *m, struct dialog *d, struct str call)
{
	struct str result = JSON_GET(call, "result"), part, response, content;
	struct dialog_facts f = DIALOG_FACTS;
	struct json_writer j;
	size_t cursor = 0;

	if (json_is_null(result)) {
		return; /* not answered, or cancelled */
	}
	content = result;
	if (json_next(result, &cursor, &part)) {
		response = JSON_GET(JSON_GET(part, "functionResponse"), "response");
		content = JSON_GET(response, "output");
		content = content.p ? content : JSON_GET(response, "error");
		content = content.p ? content : response.p ? response : result;
	}
	f.hint.failed = json_is(JSON_GET(call, "status"), STR("error")) ? 1 : -1;
	j = message_begin(m, "tool");
	jw_put_raw(&j, "tool_call_id", JSON_GET(call, "id"));
	jw_put_raw(&j, "content", content);
	dialog_message(m, d, message_end(m, &j), &f);
}

static void take_message(struct import *m, struct dialog *d, struct str message)
{
	struct str type = JSON_GET(message, "type"), content = JSON_GET(message, "content");
	struct str calls = JSON_GET(message, "toolCalls"), one;

	if (json_is(type, STR("user"))) {
		dialog_message(m, d, message_new(m, "user", content), NULL);
	} else if (json_is(type, STR("gemini"))) {
		dialog_message(m, d, message_new(m, "assistant", content), NULL);
		for (size_t cursor = 0; json_next(calls, &cursor, &one);) {
			dialog_call(m, d, one);
		}
		for (size_t cursor = 0; json_next(calls, &cursor, &one);) {
			take_result(m, d, one);
		}
	}
}

/* ---- the file ---- */

static void take_last(struct import *m, struct gemini *g)
{
	if (g->last.n) {
		take_message(m, &g->dialog, buf_view(&g->last));
		buf_clear(&g->last);
	}
}

static int finish(struct import *m, struct error *err)
{
	struct gemini *g = m->own;

	(void)err;
	if (g && g->dialog.id) {
		take_last(m, g);
		dialog_end(m, &g->dialog, &(struct import_end){0});
	}
	return 0;
}

static void free_own(void *own)
{
	struct gemini *g = own;

	dialog_release(&g->dialog);
	buf_release(&g->last);
	free(g);
}

static void begin(struct import *m, struct gemini *g, struct str value)
{
	struct import_header h = {.task = import_task(m, JSON_GET(value, "sessionId"))};
	struct str messages = JSON_GET(value, "messages"), one;

	dialog_open(m, &g->dialog, &h);
	for (size_t cursor = 0; json_next(messages, &cursor, &one);) {
		take_message(m, &g->dialog, one);
	}
}

static int import_gemini_cli(struct import *m, struct str value, struct error *err)
{
	struct gemini *g = m->own;

	if (!g) {
		g = m->own = mem_new(sizeof(*g));
		g->last = BUF(BUF_MAX_MESSAGE);
		m->own_free = free_own;
	}
	if (is_gemini_cli(value)) {
		(void)!finish(m, err);
		begin(m, g, value);
		return 0;
	}
	if (!g->dialog.id || json_type(value) != JSON_OBJECT) {
		return error_set(err, FAIL_INPUT,
		                 "not a session of Gemini CLI: sessionId and projectHash are "
		                 "required");
	}
	if (JSON_GET(value, "type").p) {
		struct str before = arena_str(&m->arena, buf_view(&g->last));

		if (!before.n || !str_eq(JSON_GET(before, "id"), JSON_GET(value, "id"))) {
			take_last(m, g);
		}
		buf_clear(&g->last);
		buf_str(&g->last, value);
	}
	return 0;
}

const struct format format_gemini_cli = {
	.name = "gemini-cli",
	.what = "session files of Gemini CLI: sessionId, projectHash, messages",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME),
	.is = is_gemini_cli,
	.take = import_gemini_cli,
	.finish = finish,
};
