/* The formats of SWE-agent and mini-swe-agent. */
#include "base/text.h"
#include "convert/dialog.h"
#include "convert/import.h"
#include "recording/foreign.h"

/* ---- SWE-agent ---- */

/* SWE-agent's .traj files: a document with `trajectory`, a list of actions and observations, and
   `history`, the messages. Its `state` is that of the shell (open file, directory), which most
   effects do not change: it is not used as the environment's state. */
static bool has_actions(struct str value)
{
	struct str first = json_first(JSON_GET(value, "trajectory"));

	return JSON_GET(first, "action").p && JSON_GET(first, "observation").p;
}

static bool has_history(struct str value)
{
	struct str first = json_first(JSON_GET(value, "history"));

	return JSON_GET(first, "role").p && JSON_GET(first, "agent").p;
}

static bool is_swe_agent(struct str value)
{
	return has_actions(value) || has_history(value);
}

static struct str assistant_message(struct import *m, struct str step)
{
	buf_clear(&m->work);
	json_text_or_json(JSON_GET(step, "action"), &m->work);
	return IMPORT_PACK(m,
	                   "{role:'assistant',content:%r,"
	                   "tool_calls:[{name:'shell',arguments:{command:%s}}]}",
	                   JSON_GET(step, "response"), text_trim(buf_view(&m->work)));
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

	if (e.reason.p)
		e.status = str_starts(e.reason, STR("submitted")) ? END_FINISHED : END_STOPPED;
	dialog_open(m, &d, &h);
	if (has_actions(value))
		take_actions(m, &d, value);
	else
		dialog_messages(m, &d, JSON_GET(value, "history"));
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

/* ---- mini-swe-agent ---- */

/* mini-swe-agent's .traj.json, versions 1 and 2: calls of the tool bash, or commands in the model's
   text, which version 2 also lists in extra.actions. The reply to a command in text is the next
   message of the user. */
static bool is_mini_swe_agent(struct str value)
{
	struct str format = JSON_GET(value, "trajectory_format");

	return messages_may_be(JSON_GET(value, "messages")) &&
	       (str_starts(json_inner(format), STR("mini-swe-agent")) ||
	        JSON_GET(JSON_GET(value, "info"), "mini_version").p);
}

/* ---- calls ---- */

static void add_command(struct import *m, struct dialog *d, struct str command)
{
	dialog_call(m, d, IMPORT_PACK(m, "{name:'bash',arguments:{command:%r}}", command));
}

/* The first block between fences in a text, without the language in the first line. */
static struct str fenced(struct str text)
{
	static const struct str fence = STR_INIT("```");
	size_t begin = find_at(text, fence);
	struct str rest = str_skip(text, begin + fence.n);
	const char *feed = rest.n && begin < text.n ? memchr(rest.p, '\n', rest.n) : NULL;

	if (!feed)
		return STR_NONE;
	rest = str_skip(rest, (size_t)(feed + 1 - rest.p));
	size_t end = find_at(rest, fence);
	return end < rest.n ? text_trim((struct str){rest.p, end}) : STR_NONE;
}

/* Does the message reply to a command? *code: its exit code; -1: it did not run to its end. */
static bool is_reply(struct str message, int64_t *code)
{
	static const struct str mark = STR_INIT("<returncode>");
	struct str text = json_inner(JSON_GET(message, "content")), number = STR_NONE;
	struct str recorded = JSON_GET(JSON_GET(message, "extra"), "returncode");
	bool cut_off = str_starts(text, STR("The last command <"));

	if (str_starts(text, mark)) {
		number = str_skip(text, mark.n);
		number.n = find_at(number, STR("<"));
	}
	if (!json_i64(recorded, code) && !json_i64(number, code))
		*code = cut_off ? -1 : 0;
	return recorded.p || number.p || cut_off;
}

static void add_text_commands(struct import *m, struct dialog *d, struct str message,
                              struct str next)
{
	struct str actions = JSON_GET(JSON_GET(message, "extra"), "actions"), one, text;
	int64_t code;

	for (size_t cursor = 0; json_next(actions, &cursor, &one);)
		add_command(m, d, JSON_GET(one, "command"));
	if (actions.p || !is_reply(next, &code))
		return;
	text = fenced(import_text(m, JSON_GET(message, "content")));
	if (text.n)
		add_command(m, d, IMPORT_PACK(m, "%s", text));
}

/* ---- replies ---- */

static void take_reply(struct import *m, struct dialog *d, struct str message, int64_t code)
{
	struct str extra = JSON_GET(message, "extra"), why = JSON_GET(extra, "exception_info");
	struct dialog_facts f = DIALOG_FACTS;

	f.hint.failed = code == 0 ? 0 : -1;
	if (import_exit_failed(code)) {
		bool stated = json_type(why) == JSON_STRING && json_inner(why).n;
		struct str said = stated ? why : JSON_GET(extra, "raw_output");

		f.hint.error = IMPORT_PACK(m, "{code:%i,message:%r}", code,
		                           said.p ? said : JSON_GET(message, "content"));
	}
	dialog_answer(m, d, message, &f);
}

/* A reply without a usable command is recorded only within the message that says so. */
static void take_format_error(struct import *m, struct dialog *d, struct str message)
{
	struct str extra = JSON_GET(message, "extra");
	struct str choice = json_first(JSON_GET(JSON_GET(extra, "response"), "choices"));
	struct str content = JSON_GET(JSON_GET(choice, "message"), "content");

	content = import_either(JSON_GET(extra, "model_response"), content);
	dialog_message(
		m, d,
		IMPORT_PACK(m, "{role:'assistant',content:%r}", content.p ? content : STR("null")),
		NULL);
	dialog_message(m, d, message, NULL);
}

static void take_mini_message(struct import *m, struct dialog *d, struct str message,
                              struct str next)
{
	struct str type = JSON_GET(JSON_GET(message, "extra"), "interrupt_type");
	int64_t code;

	if (json_is(JSON_GET(message, "object"), STR("response"))) {
		dialog_messages(m, d, JSON_GET(message, "output"));
	} else if (json_is(JSON_GET(message, "role"), STR("assistant"))) {
		dialog_message(m, d, message, NULL);
		if (!JSON_GET(message, "tool_calls").p)
			add_text_commands(m, d, message, next);
	} else if (json_is(type, STR("FormatError"))) {
		take_format_error(m, d, message);
	} else if (dialog_waits(d) && is_reply(message, &code)) {
		take_reply(m, d, message, code);
	} else if (!json_is(JSON_GET(message, "role"), STR("exit"))) {
		dialog_message(m, d, message, NULL);
	}
}

static void take_mini_messages(struct import *m, struct dialog *d, struct str messages)
{
	struct str message, next;
	size_t cursor = 0;

	for (bool more = json_next(messages, &cursor, &message); more; message = next) {
		next = STR_NONE;
		more = json_next(messages, &cursor, &next);
		take_mini_message(m, d, message, next);
	}
}

/* ---- the document ---- */

static enum end_status mini_status_of(struct str reason)
{
	return !reason.n                               ? END_UNKNOWN
	       : str_is(reason, "Submitted")           ? END_FINISHED
	       : str_is(reason, "LimitsExceeded")      ? END_MAX_TURNS
	       : str_is(reason, "RepeatedFormatError") ? END_STOPPED
	       : str_ends(reason, STR("Error"))        ? END_FAILED
	                                               : END_STOPPED;
}

static int import_mini_swe_agent(struct import *m, struct str value, struct error *err)
{
	struct str info = JSON_GET(value, "info");
	struct str model = JSON_GET(JSON_GET(info, "config"), "model");
	struct import_header h = {.task = import_task(m, JSON_GET(value, "instance_id")),
	                          .policy_name = import_text(m, JSON_GET(model, "model_name"))};
	struct import_end e = {.reason = import_text(m, JSON_GET(info, "exit_status"))};
	struct dialog d;

	e.status = mini_status_of(e.reason);
	dialog_open(m, &d, &h);
	take_mini_messages(m, &d, JSON_GET(value, "messages"));
	dialog_end(m, &d, &e);
	return 0;
}

const struct format format_mini_swe_agent = {
	.name = "mini-swe-agent",
	.what = "mini-swe-agent's .traj.json, versions 1 and 2: messages, info, trajectory_format",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME) | FACT(ERROR) | FACT(STATUS),
	.is = is_mini_swe_agent,
	.take = import_mini_swe_agent,
};
