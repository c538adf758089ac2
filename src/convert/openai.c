/* OpenAI's fine-tuning format, and logs of chat messages in the same form: one JSON object per
   line, with messages and tools. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/messages.h"

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

	if (!messages_may_be(JSON_GET(value, "messages"))) {
		return error_set(err, FAIL_INPUT, "the object has no messages");
	}
	dialog_whole(m, &h, JSON_GET(value, "messages"), &(struct import_end){0});
	return 0;
}

static int write(struct export *x, struct error *err)
{
	return export_messages_and_tools(x, 0, err);
}

const struct format format_openai = {
	.name = "openai",
	.what = "OpenAI chat messages as JSON Lines: messages, tools",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOOLS),
	.is = is_openai,
	.take = import_openai,
	.write = write,
};
