/* Formats that are lists of chat messages. */
#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"
#include "recording/foreign.h"

/* ---- OpenAI ---- */

/* OpenAI's fine-tuning format, and logs of chat messages in the same form: one JSON object per
   line, with messages and tools. */
static bool is_openai(struct str value)
{
	return messages_are_plain(value);
}

static int import_openai(struct import *m, struct str value, struct error *err)
{
	struct str id = JSON_GET(value, "id");
	struct import_header h = {.task = import_task(m, id.p ? id : JSON_GET(value, "task_id")),
	                          .tools = JSON_GET(value, "tools"),
	                          .policy_name = import_text(m, JSON_GET(value, "model"))};

	if (!messages_may_be(JSON_GET(value, "messages")))
		return error_set(err, FAIL_INPUT, "the object has no messages");
	dialog_whole(m, &h, JSON_GET(value, "messages"), &(struct import_end){0});
	return 0;
}

static int write_openai(struct export *x, struct error *err)
{
	return export_messages_and_tools(x, 0, err);
}

const struct format format_openai = {
	.name = "openai",
	.what = "OpenAI chat messages as JSON Lines: messages, tools",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOOLS),
	.is = is_openai,
	.take = import_openai,
	.write = write_openai,
};

/* ---- TRL ---- */

/* TRL's conversational format: messages, or prompt and completion as messages, with tools as a list
   or as JSON text; arguments of calls are objects. */
static bool has_completion(struct str value)
{
	return messages_is(JSON_GET(value, "prompt")) &&
	       messages_may_be(JSON_GET(value, "completion"));
}

static bool is_trl(struct str value)
{
	struct str messages = JSON_GET(value, "messages");

	return has_completion(value) ||
	       (messages_are_plain(value) && messages_have_objects(messages));
}

static int import_trl(struct import *m, struct str value, struct error *err)
{
	struct str messages = JSON_GET(value, "messages");
	struct import_header h = {.task = import_task(m, JSON_GET(value, "id")),
	                          .tools = outcome_observation(m, JSON_GET(value, "tools"))};
	struct import_end e = {.total_reward = JSON_GET(value, "reward")};
	struct dialog d;

	if (!has_completion(value) && !messages_may_be(messages)) {
		return error_set(err, FAIL_INPUT,
		                 "messages, or prompt and completion, are required");
	}
	dialog_open(m, &d, &h);
	dialog_messages(m, &d, messages);
	dialog_messages(m, &d, JSON_GET(value, "prompt"));
	dialog_messages(m, &d, JSON_GET(value, "completion"));
	dialog_end(m, &d, &e);
	return 0;
}

static int write_trl(struct export *x, struct error *err)
{
	return export_messages_and_tools(x, MESSAGES_OBJECTS, err);
}

const struct format format_trl = {
	.name = "trl",
	.what = "TRL's conversational data as JSON Lines: messages or prompt and completion, tools",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOOLS) | FACT(TOTAL_REWARD),
	.is = is_trl,
	.take = import_trl,
	.write = write_trl,
};
