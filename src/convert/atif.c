/* ATIF, the Agent Trajectory Interchange Format of Harbor: one JSON document per trajectory.
   Versions 1.0 to 1.8 do not differ in the parts that are read. Facts without an ATIF key are under
   `extra`: is_error, error, state, reward, terminated, truncated. */
#include "trajectory/foreign.h"

#include "convert/atif_write.h"
#include "convert/dialog.h"
#include "convert/messages.h"
#include "json/write.h"

static bool is_atif(struct str value)
{
	struct str version = JSON_GET(value, "schema_version");

	return json_type(version) == JSON_STRING && str_starts(json_inner(version), STR("ATIF-")) &&
	       json_type(JSON_GET(value, "steps")) == JSON_ARRAY;
}

/* ---- a step as messages ---- */

static void put_calls(struct json_writer *j, struct str calls)
{
	struct str one;
	size_t cursor = 0;

	if (!json_count(calls)) {
		return;
	}
	jw_key(j, "tool_calls");
	jw_array(j);
	while (json_next(calls, &cursor, &one)) {
		jw_object(j);
		jw_key(j, "id");
		jw_raw(j, JSON_GET(one, "tool_call_id"));
		jw_key(j, "type");
		jw_text(j, "function");
		jw_key(j, "function");
		jw_object(j);
		jw_key(j, "name");
		jw_raw(j, JSON_GET(one, "function_name"));
		jw_key(j, "arguments");
		jw_raw(j, JSON_GET(one, "arguments"));
		jw_end(j);
		jw_end(j);
	}
	jw_end(j);
}

static void take_message(struct import *m, struct dialog *d, struct str step, const char *role)
{
	struct str reasoning = JSON_GET(step, "reasoning_content");
	struct json_writer j = message_begin(m, role);

	jw_key(&j, "content");
	jw_raw(&j, JSON_GET(step, "message"));
	if (!json_is_null(reasoning)) {
		jw_key(&j, "reasoning_content");
		jw_raw(&j, reasoning);
	}
	put_calls(&j, JSON_GET(step, "tool_calls"));
	dialog_message(m, d, message_end(m, &j), NULL);
}

/* ---- answers ---- */

static int8_t flag_in(struct str extra, struct str key)
{
	bool flag;

	return json_bool(json_get(extra, key), &flag) ? (int8_t)flag : (int8_t)-1;
}

/* Facts of a result, or, where absent, of its step. */
static struct dialog_facts facts_of(struct str result, struct str step)
{
	struct str own = JSON_GET(result, "extra"), around = JSON_GET(step, "extra");
	struct str extra = json_count(own) ? own : around;
	struct dialog_facts f = DIALOG_FACTS;

	f.hint.failed = flag_in(extra, STR("is_error"));
	f.hint.error = JSON_GET(extra, "error");
	f.reward = JSON_GET(extra, "reward");
	f.terminated = flag_in(extra, STR("terminated"));
	f.truncated = flag_in(extra, STR("truncated"));
	f.state = JSON_GET(extra, "state");
	return f;
}

static void take_results(struct import *m, struct dialog *d, struct str step)
{
	struct str results = JSON_GET(JSON_GET(step, "observation"), "results"), one;

	for (size_t cursor = 0; json_next(results, &cursor, &one);) {
		struct dialog_facts f = facts_of(one, step);
		struct json_writer j = message_begin(m, "tool");

		jw_key(&j, "tool_call_id");
		jw_raw(&j, JSON_GET(one, "source_call_id"));
		jw_key(&j, "content");
		jw_raw(&j, JSON_GET(one, "content"));
		dialog_message(m, d, message_end(m, &j), &f);
	}
}

static void take_step(struct import *m, struct dialog *d, struct str step)
{
	struct str source = JSON_GET(step, "source");

	if (json_is(source, STR("agent"))) {
		take_message(m, d, step, "assistant");
	} else {
		take_message(m, d, step, json_is(source, STR("system")) ? "system" : "user");
	}
	take_results(m, d, step);
}

static bool has_states(struct str steps)
{
	struct str step, result;

	for (size_t cursor = 0; json_next(steps, &cursor, &step);) {
		struct str results = JSON_GET(JSON_GET(step, "observation"), "results");
		size_t first = 0;

		if (!json_is_null(JSON_GET(JSON_GET(step, "extra"), "state")) ||
		    (json_next(results, &first, &result) &&
		     !json_is_null(JSON_GET(JSON_GET(result, "extra"), "state")))) {
			return true;
		}
	}
	return false;
}

static int import_atif(struct import *m, struct str value, struct error *err)
{
	struct str agent = JSON_GET(value, "agent"), steps = JSON_GET(value, "steps");
	struct str extra = JSON_GET(value, "extra"), id = JSON_GET(value, "trajectory_id"), step;
	struct import_header h = {.tools = JSON_GET(agent, "tool_definitions"),
	                          .policy_name = import_text(m, JSON_GET(agent, "name")),
	                          .seed = JSON_GET(extra, "seed"),
	                          .has_state = has_states(steps),
	                          .ignore = JSON_GET(extra, "state_ignore")};
	struct import_end e = {.reason = import_text(m, JSON_GET(extra, "reason")),
	                       .total_reward = JSON_GET(extra, "total_reward"),
	                       .state = JSON_GET(extra, "state")};
	struct dialog d;
	size_t cursor = 0;

	if (!is_atif(value)) {
		return error_set(err, FAIL_INPUT,
		                 "not an ATIF trajectory: schema_version and steps are required");
	}
	id = json_is_null(id) ? JSON_GET(value, "session_id") : id;
	if (!import_own_id(m, id, extra, &h)) {
		h.task = import_task(m, id);
	}
	e.status = end_status_parse(json_inner(JSON_GET(extra, "status")));
	dialog_open(m, &d, &h);
	while (json_next(steps, &cursor, &step)) {
		take_step(m, &d, step);
	}
	dialog_end(m, &d, &e);
	return 0;
}

const struct format format_atif = {
	.name = "atif",
	.what = "ATIF trajectories (Harbor): schema_version, agent, steps",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOOLS) | FACT(OUTCOME) | FACT(ERROR) |
                 FACT(STATE) | FACT(REWARD) | FACT(TERMINATED) | FACT(TRUNCATED) |
                 FACT(TOTAL_REWARD) | FACT(STATUS) | FACT(SEED),
	.is = is_atif,
	.take = import_atif,
	.write = atif_write,
	.one_a_file = true,
};
