/* OpenEnv's `openenv collect`: results.jsonl, an episode a line: messages as the policy saw them,
   and tool_trace with what each call returned. The state in a result's metadata is the one after
   the call; the one before the first call is not recorded. */
#include "convert/dialog.h"
#include "convert/messages.h"
#include "json/write.h"

static bool is(struct str value)
{
	return json_type(JSON_GET(value, "tool_trace")) == JSON_ARRAY &&
	       messages_may_be(JSON_GET(value, "messages"));
}

static bool has_states(struct str trace)
{
	struct str one;

	for (size_t cursor = 0; json_next(trace, &cursor, &one);) {
		struct str metadata = JSON_GET(JSON_GET(one, "result"), "metadata");

		if (!json_is_null(JSON_GET(metadata, "state"))) {
			return true;
		}
	}
	return false;
}

static struct dialog_facts facts_of(struct str traced)
{
	struct str result = JSON_GET(traced, "result"), metadata = JSON_GET(result, "metadata");
	struct dialog_facts f = DIALOG_FACTS;
	bool done;

	f.hint.error = JSON_GET(result, "error");
	f.hint.failed = json_is_null(f.hint.error) ? 0 : 1;
	f.terminated = json_bool(JSON_GET(result, "done"), &done) ? (int8_t)done : (int8_t)-1;
	f.reward = JSON_GET(metadata, "reward");
	f.state_after = JSON_GET(metadata, "state");
	f.name = JSON_GET(traced, "tool_name");
	f.arguments = JSON_GET(traced, "arguments");
	return f;
}

/* A call that is in the trace alone: as a message. */
static struct str message_of(struct import *m, struct str traced)
{
	struct json_writer j;

	buf_clear(&m->value);
	jw_init(&j, &m->value);
	jw_object(&j);
	jw_key(&j, "role");
	jw_text(&j, "tool");
	jw_key(&j, "content");
	jw_raw(&j, JSON_GET(JSON_GET(traced, "result"), "data"));
	jw_end(&j);
	return arena_str(&m->arena, buf_view(&m->value));
}

static bool is_answer(struct str message)
{
	return json_is(JSON_GET(message, "role"), STR("tool"));
}

static void take_messages(struct import *m, struct dialog *d, struct str messages, struct str trace)
{
	struct str message, traced;
	size_t cursor = 0, at = 0;

	while (json_next(messages, &cursor, &message)) {
		struct dialog_facts f = DIALOG_FACTS;

		if (is_answer(message) && json_next(trace, &at, &traced)) {
			f = facts_of(traced);
		}
		dialog_message(m, d, message, &f);
	}
	while (json_next(trace, &at, &traced)) {
		struct dialog_facts f = facts_of(traced);

		dialog_message(m, d, message_of(m, traced), &f);
	}
}

static int take(struct import *m, struct str value, struct error *err)
{
	struct str trace = JSON_GET(value, "tool_trace"), task = JSON_GET(value, "task");
	struct str id = JSON_GET(value, "episode_id");
	struct import_header h = {.task = import_task(m, id.p ? id : task),
	                          .has_state = has_states(trace),
	                          .ignore = STR("[\"/episode_id\",\"/step_count\"]")};
	struct import_end e = {.total_reward = JSON_GET(value, "reward")};
	struct dialog d;
	bool done;

	if (!is(value)) {
		return error_set(err, FAIL_INPUT, "an episode without messages and tool_trace");
	}
	if (json_bool(JSON_GET(value, "done"), &done)) {
		e.status = done ? END_TERMINATED : END_STOPPED;
	}
	dialog_open(m, &d, &h);
	take_messages(m, &d, JSON_GET(value, "messages"), trace);
	dialog_end(m, &d, &e);
	return 0;
}

/* No FACT(STATE): the first one is always missing, which is no finding. */
const struct format format_openenv_collect = {
	.name = "openenv-collect",
	.what = "results.jsonl of OpenEnv's collect: episode_id, messages, tool_trace",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME) | FACT(ERROR) | FACT(REWARD) |
                 FACT(TERMINATED) | FACT(TOTAL_REWARD) | FACT(STATUS),
	.is = is,
	.take = take,
};
