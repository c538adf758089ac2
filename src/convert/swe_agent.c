/* SWE-agent's .traj files: a document with `trajectory`, a list of actions and observations, and
   `history`, the messages. Its `state` is that of the shell (open file, directory), which most
   effects do not change: it is not used as the environment's state. */
#include "recording/foreign.h"

#include "base/text.h"
#include "convert/dialog.h"
#include "convert/import.h"

static bool has_actions(struct str value)
{
	struct str first;
	size_t cursor = 0;

	return json_next(JSON_GET(value, "trajectory"), &cursor, &first) &&
	       JSON_GET(first, "action").p && JSON_GET(first, "observation").p;
}

static bool has_history(struct str value)
{
	struct str first;
	size_t cursor = 0;

	return json_next(JSON_GET(value, "history"), &cursor, &first) &&
	       JSON_GET(first, "role").p && JSON_GET(first, "agent").p;
}

static bool is_swe_agent(struct str value)
{
	return has_actions(value) || has_history(value);
}

/* The command without its final line feed. */
static void put_command(struct import *m, struct json_writer *j, struct str action)
{
	buf_clear(&m->work);
	json_text_or_json(action, &m->work);
	jw_str(j, text_trim(buf_view(&m->work)));
}

static struct str assistant_message(struct import *m, struct str step)
{
	struct json_writer j = message_begin(m, "assistant");

	jw_put_raw(&j, "content", JSON_GET(step, "response"));
	jw_put_array(&j, "tool_calls");
	jw_object(&j);
	jw_put_text(&j, "name", "shell");
	jw_put_object(&j, "arguments");
	jw_key(&j, "command");
	put_command(m, &j, JSON_GET(step, "action"));
	jw_end(&j);
	jw_end(&j);
	jw_end(&j);
	return message_end(m, &j);
}

/* The prompts: messages of the history before the model's first answer. */
static void take_prompts(struct import *m, struct dialog *d, struct str history)
{
	struct str one;
	size_t cursor = 0;

	while (json_next(history, &cursor, &one) &&
	       !json_is(JSON_GET(one, "role"), STR("assistant"))) {
		dialog_message(m, d, one, NULL);
	}
}

static void take_actions(struct import *m, struct dialog *d, struct str value)
{
	struct str step;
	size_t cursor = 0;

	take_prompts(m, d, JSON_GET(value, "history"));
	while (json_next(JSON_GET(value, "trajectory"), &cursor, &step)) {
		dialog_message(m, d, assistant_message(m, step), NULL);
		dialog_message(m, d, message_new(m, "tool", JSON_GET(step, "observation")), NULL);
	}
}

static int import_swe_agent(struct import *m, struct str value, struct error *err)
{
	struct str info = JSON_GET(value, "info");
	struct import_header h = {
		.task = import_task(m, JSON_GET(value, "instance_id")),
		.env_name = import_text(m, JSON_GET(value, "environment")),
	};
	struct import_end e = {.reason = import_text(m, JSON_GET(info, "exit_status"))};
	struct dialog d;

	if (!is_swe_agent(value)) {
		return error_set(err, FAIL_INPUT, "not a trajectory of SWE-agent");
	}
	if (e.reason.p) {
		e.status = str_starts(e.reason, STR("submitted")) ? END_FINISHED : END_STOPPED;
	}
	dialog_open(m, &d, &h);
	if (has_actions(value)) {
		take_actions(m, &d, value);
	} else {
		dialog_messages(m, &d, JSON_GET(value, "history"));
	}
	dialog_end(m, &d, &e);
	return 0;
}

const struct format format_swe_agent = {
	.name = "swe-agent",
	.what = "SWE-agent's .traj files: trajectory, history, info",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(STATUS),
	.is = is_swe_agent,
	.take = import_swe_agent,
};
