/* OpenHands: lists of events, or an evaluation's output with a list of them under `history`. Two
   generations: action, observation and cause; or kind, such as ActionEvent. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/import.h"

static bool is_event(struct str value)
{
	struct str kind = JSON_GET(value, "kind");

	if (json_type(JSON_GET(value, "source")) != JSON_STRING)
		return false;
	return json_type(JSON_GET(value, "action")) == JSON_STRING ||
	       json_type(JSON_GET(value, "observation")) == JSON_STRING ||
	       (json_type(kind) == JSON_STRING && str_ends(json_inner(kind), STR("Event")));
}

/* An element of `history` is an event, or in old files a pair of an action and an observation. */
static bool is_openhands(struct str value)
{
	struct str first = json_first(JSON_GET(value, "history"));

	return is_event(!first.p                         ? value
	                : json_type(first) == JSON_ARRAY ? json_first(first)
	                                                 : first);
}

/* ---- events as messages ---- */

/* The calls of one reply of the model are events with the same response. */
static void take_action(struct import *m, struct dialog *d, struct str event, struct str name,
                        struct str arguments)
{
	struct str meta = JSON_GET(event, "tool_call_metadata");
	struct str response = JSON_GET(JSON_GET(meta, "model_response"), "id");
	struct str message = IMPORT_PACK(
		m,
		"{role:'assistant',type:'message',id:%r,content:%r,"
		"tool_calls:[{id:%r,name:%r,arguments:%r}]}",
		import_either(response, JSON_GET(event, "llm_response_id")),
		import_either(JSON_GET(event, "thought"), JSON_GET(arguments, "thought")),
		import_either(JSON_GET(meta, "tool_call_id"), JSON_GET(event, "tool_call_id")),
		import_either(JSON_GET(meta, "function_name"), name), arguments);

	dialog_message(m, d, message, NULL);
}

static void take_reply(struct import *m, struct dialog *d, struct str event, struct str content,
                       bool failed)
{
	struct str id = JSON_GET(JSON_GET(event, "tool_call_metadata"), "tool_call_id");
	struct str extras = JSON_GET(event, "extras");
	struct str code = import_either(JSON_GET(JSON_GET(extras, "metadata"), "exit_code"),
	                                JSON_GET(extras, "exit_code"));
	struct dialog_facts f = DIALOG_FACTS;
	int64_t n = 0;

	id = import_either(id, JSON_GET(event, "tool_call_id"));
	f.hint.failed = failed || (json_i64(code, &n) && import_exit_failed(n)) ? 1 : -1;
	dialog_message(m, d, message_answer(m, id, content), &f);
}

static void take_talk(struct import *m, struct dialog *d, struct str event, struct str content)
{
	bool agent = json_is(JSON_GET(event, "source"), STR("agent"));

	dialog_message(m, d, message_new(m, agent ? "assistant" : "user", content), NULL);
}

static bool is_one_of(struct str value, const char *const *names)
{
	for (; *names; names++)
		if (json_is(value, str_from(*names)))
			return true;
	return false;
}

static void take_old_event(struct import *m, struct dialog *d, struct str event)
{
	/* not of the model, although the source is the agent */
	static const char *const own[] = {"recall",       "change_agent_state",   "null",
	                                  "condensation", "condensation_request", NULL};
	struct str action = JSON_GET(event, "action"), args = JSON_GET(event, "args");
	struct str observation = JSON_GET(event, "observation");
	struct str content = JSON_GET(event, "content");

	if (json_is(action, STR("system"))) {
		dialog_message(m, d, message_new(m, "system", JSON_GET(args, "content")), NULL);
	} else if (json_is(action, STR("message"))) {
		take_talk(m, d, event, JSON_GET(args, "content"));
	} else if (action.p && json_is(JSON_GET(event, "source"), STR("agent")) &&
	           !is_one_of(action, own)) {
		take_action(m, d, event, action, args);
	} else if (observation.p && dialog_waits(d) && !json_is(observation, STR("recall")) &&
	           !json_is(observation, STR("agent_state_changed"))) {
		take_reply(m, d, event, content, json_is(observation, STR("error")));
	}
}

static void take_event(struct import *m, struct dialog *d, struct str event)
{
	struct str kind = JSON_GET(event, "kind"), observation = JSON_GET(event, "observation");
	struct str is_error = JSON_GET(observation, "is_error");

	if (!kind.p) {
		take_old_event(m, d, event);
	} else if (json_is(kind, STR("ActionEvent"))) {
		take_action(m, d, event, JSON_GET(event, "tool_name"), JSON_GET(event, "action"));
	} else if (json_is(kind, STR("ObservationEvent")) && dialog_waits(d)) {
		take_reply(m, d, event,
		           import_either(JSON_GET(observation, "content"), observation),
		           json_type(is_error) == JSON_TRUE);
	} else if (json_is(kind, STR("AgentErrorEvent")) && dialog_waits(d)) {
		take_reply(m, d, event, JSON_GET(event, "error"), true);
	} else if (json_is(kind, STR("MessageEvent"))) {
		take_talk(m, d, event, JSON_GET(JSON_GET(event, "llm_message"), "content"));
	}
}

/* ---- the file ---- */

static int import_output(struct import *m, struct str value)
{
	struct str config = JSON_GET(JSON_GET(value, "metadata"), "llm_config");
	struct import_header h = {.task = import_task(m, JSON_GET(value, "instance_id")),
	                          .policy_name = import_text(m, JSON_GET(config, "model"))};
	struct import_end e = {.reason = import_text(m, JSON_GET(value, "error"))};
	struct str one, inner;
	struct dialog d;

	e.status = e.reason.n ? END_FAILED : END_UNKNOWN;
	dialog_open(m, &d, &h);
	for (size_t cursor = 0; json_next(JSON_GET(value, "history"), &cursor, &one);) {
		if (json_type(one) != JSON_ARRAY)
			take_event(m, &d, one);
		for (size_t at = 0; json_next(one, &at, &inner);)
			take_event(m, &d, inner);
	}
	dialog_end(m, &d, &e);
	return 0;
}

static int import_openhands(struct import *m, struct str value, struct error *err)
{
	struct import_header h = {0};

	if (json_type(JSON_GET(value, "history")) == JSON_ARRAY)
		return import_output(m, value);
	if (!is_event(value)) {
		return error_set(err, FAIL_INPUT,
		                 "not an event of OpenHands, nor an output with its history");
	}
	struct open_dialog *o = dialogs_find(m, 0, err);
	if (!o->dialog.id) {
		h.task = import_task(m, STR_NONE);
		dialog_open(m, &o->dialog, &h);
	}
	take_event(m, &o->dialog, value);
	return 0;
}

const struct format format_openhands = {
	.name = "openhands",
	.what = "OpenHands: events of a trajectory, or outputs of an evaluation with history",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME) | FACT(STATUS),
	.is = is_openhands,
	.take = import_openhands,
	.take_list_end = dialogs_finish,
	.finish = dialogs_finish,
};
