/* Session documents of OpenEnv's capture proxy, exported with their messages: one value a rollout.
   The last turn of a path holds all of its conversation, and what the first was shown may be that of
   another path; paths that are not the agent's (title generators, retries) are no rollouts. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/import.h"

static bool is_openenv_capture(struct str value)
{
	return JSON_GET(value, "session_id").p && JSON_GET(value, "capture_level").p &&
	       json_type(JSON_GET(value, "sequences")) == JSON_ARRAY &&
	       json_type(JSON_GET(value, "turns")) == JSON_ARRAY;
}

static struct str last_of(struct str array)
{
	struct str one, last = STR_NONE;

	for (size_t cursor = 0; json_next(array, &cursor, &one);)
		last = one;
	return last;
}

static struct str turn_of(struct str turns, struct str node)
{
	struct str one;

	for (size_t cursor = 0; json_next(turns, &cursor, &one);)
		if (str_eq(JSON_GET(one, "node_id"), node))
			return one;
	return STR_NONE;
}

static void take_path(struct import *m, struct str value, struct str turn, struct str shown)
{
	size_t before = json_count(shown), cursor = 0;
	struct import_header h = {.task = import_task(m, JSON_GET(value, "session_id")),
	                          .tools = JSON_GET(turn, "request_tools")};
	struct dialog d;
	struct str one;

	dialog_open(m, &d, &h);
	dialog_prompt(m, &d, shown);
	for (size_t i = 0; json_next(JSON_GET(turn, "request_messages"), &cursor, &one); i++)
		if (i >= before)
			dialog_message(m, &d, one, NULL);
	dialog_message(m, &d, JSON_GET(turn, "response_message"), NULL);
	dialog_end(m, &d,
	           &(struct import_end){.reason = import_text(m, JSON_GET(turn, "finish_reason"))});
}

static int import_openenv_capture(struct import *m, struct str value, struct error *err)
{
	struct str turns = JSON_GET(value, "turns"), path;

	for (size_t cursor = 0; json_next(JSON_GET(value, "sequences"), &cursor, &path);) {
		struct str nodes = JSON_GET(path, "node_ids");
		struct str first = turn_of(turns, json_first(nodes));
		struct str turn = turn_of(turns, last_of(nodes));

		if (!json_is(JSON_GET(path, "role"), STR("agent")))
			continue;
		if (!JSON_GET(turn, "request_messages").p) {
			return error_set(err, FAIL_INPUT,
			                 "the capture has no messages: export the session with "
			                 "include_messages");
		}
		take_path(m, value, turn, JSON_GET(first, "request_messages"));
	}
	return 0;
}

const struct format format_openenv_capture = {
	.name = "openenv-capture",
	.what = "session documents of OpenEnv's capture proxy: session_id, turns, sequences",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOOLS) | FACT(STATUS),
	.is = is_openenv_capture,
	.take = import_openenv_capture,
};
