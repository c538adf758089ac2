/* Verifiers: results.jsonl of version 0 (example_id, prompt, completion) and traces.jsonl of
   version 1 (a graph of nodes; the path to the last node is read). */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/import.h"

#define NODES_MAX 65536

static bool is_result(struct str value)
{
	return JSON_GET(value, "example_id").p && messages_may_be(JSON_GET(value, "completion"));
}

static bool is_trace(struct str value)
{
	return json_type(JSON_GET(value, "nodes")) == JSON_ARRAY &&
	       json_type(JSON_GET(value, "calls")) == JSON_ARRAY && JSON_GET(value, "task").p;
}

/* An episode of several agents has a trace per agent. */
static bool is_episode(struct str value)
{
	return is_trace(json_first(JSON_GET(value, "traces")));
}

static bool is_verifiers(struct str value)
{
	return is_result(value) || is_trace(value) || is_episode(value);
}

static bool is_true(struct str value)
{
	return json_type(value) == JSON_TRUE;
}

static struct import_end end_of(struct import *m, struct str value)
{
	struct import_end e = {.reason = import_text(m, JSON_GET(value, "stop_condition"))};
	struct str error = JSON_GET(value, "error"), errors = JSON_GET(value, "errors");

	if (!json_is_null(error) || json_count(errors))
		e.status = END_FAILED;
	else if (is_true(JSON_GET(value, "is_truncated")))
		e.status = END_TRUNCATED;
	else if (is_true(JSON_GET(value, "is_completed")))
		e.status = END_FINISHED;
	return e;
}

static void take_result(struct import *m, struct str value)
{
	struct str tools = JSON_GET(value, "tool_defs"), prompt = JSON_GET(value, "prompt");
	struct import_header h = {.task = import_task(m, JSON_GET(value, "example_id")),
	                          .tools = outcome_observation(m, tools)};
	struct import_end e = end_of(m, value);
	struct dialog d;

	e.total_reward = JSON_GET(value, "reward");
	dialog_open(m, &d, &h);
	dialog_prompt(m, &d, prompt);
	dialog_messages(m, &d, JSON_GET(value, "completion"));
	dialog_end(m, &d, &e);
}

/* The messages on the path from the first node to the last one, in order. */
static int take_nodes(struct import *m, struct dialog *d, struct str nodes, struct error *err)
{
	size_t count = json_count(nodes), cursor = 0, n = 0, length = 0;
	struct str *list, node;
	size_t *path;
	int64_t at = (int64_t)count - 1, parent;

	if (count > NODES_MAX)
		return error_set(err, FAIL_INPUT, "the trace has more than %d nodes", NODES_MAX);
	list = arena_new(&m->arena, (count + 1) * sizeof(*list));
	path = arena_new(&m->arena, (count + 1) * sizeof(*path));
	while (json_next(nodes, &cursor, &node))
		list[n++] = node;
	while (at >= 0 && length < count) {
		path[length++] = (size_t)at;
		if (!json_i64(JSON_GET(list[at], "parent"), &parent) || parent >= at)
			break;
		at = parent;
	}
	while (length-- > 0)
		dialog_message(m, d, JSON_GET(list[path[length]], "message"), NULL);
	return 0;
}

/* The sum of the weighted scores; absent if one is missing. */
static struct str reward_of(struct import *m, struct str rewards)
{
	struct json_member one;
	size_t cursor = 0;
	double sum = 0, score, weight;

	if (!json_count(rewards))
		return STR_NONE;
	while (json_next_member(rewards, &cursor, &one)) {
		struct str given =
			one.type == JSON_OBJECT ? JSON_GET(one.value, "score") : one.value;

		if (!json_double(given, &score))
			return STR_NONE;
		weight = 1;
		(void)json_double(JSON_GET(one.value, "weight"), &weight);
		sum += weight * score;
	}

	json_pack(import_value(m), "%f", sum);
	return import_kept(m);
}

static int take_trace(struct import *m, struct str value, struct error *err)
{
	struct str task = JSON_GET(value, "task"), data = JSON_GET(task, "data");
	struct str key = JSON_GET(task, "key"), id = JSON_GET(data, "id");
	struct import_header h = {.tools = JSON_GET(value, "tools"),
	                          .env_name = import_text(m, JSON_GET(task, "type"))};
	struct import_end e = end_of(m, value);
	struct dialog d;

	key = json_is_null(key) ? id : key;
	h.task = import_task(m, json_is_null(key) ? JSON_GET(value, "id") : key);
	h.policy_name = import_text(m, JSON_GET(json_first(JSON_GET(value, "calls")), "model"));
	e.total_reward = reward_of(m, JSON_GET(value, "rewards"));
	dialog_open(m, &d, &h);
	if (take_nodes(m, &d, JSON_GET(value, "nodes"), err)) {
		dialog_release(&d);
		return -1;
	}
	dialog_end(m, &d, &e);
	return 0;
}

static int import_verifiers(struct import *m, struct str value, struct error *err)
{
	struct str one;
	size_t cursor = 0;

	if (is_trace(value))
		return take_trace(m, value, err);
	if (is_result(value)) {
		take_result(m, value);
		return 0;
	}
	while (json_next(JSON_GET(value, "traces"), &cursor, &one))
		if (take_trace(m, one, err))
			return -1;
	return 0;
}

const struct format format_verifiers = {
	.name = "verifiers",
	.what = "verifiers' results.jsonl (example_id, prompt, completion) and traces.jsonl (task, nodes, "
		"calls)",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOOLS) | FACT(TOTAL_REWARD) |
                 FACT(STATUS),
	.is = is_verifiers,
	.take = import_verifiers,
};
