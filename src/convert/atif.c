/* ATIF, the Agent Trajectory Interchange Format of Harbor: one JSON document per trajectory.
   Versions 1.0 to 1.8 do not differ in the parts that are read. Facts without an ATIF key are under
   `extra`: is_error, error, state, reward, terminated, truncated. */
#include "recording/foreign.h"

#include "base/file.h"
#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"
#include "json/write.h"

#include <stdio.h>

/* ---- writing ---- */

/* One rollout as a document of version 1.7. A step with source `agent` is a turn; facts without an
   ATIF key are written under `extra`. */
struct atif {
	struct export *x;
	struct json_writer j;
	int64_t step_id;
};

static void begin_step(struct atif *a, const char *source, struct str message)
{
	jw_pack(&a->j, "{step_id:%i,source:%t,message:%r", ++a->step_id, source,
	        export_text(a->x, message));
}

/* Messages of the user or the system are separate steps. */
static void put_other_messages(struct atif *a, struct str messages)
{
	struct str one;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);) {
		struct str role = JSON_GET(one, "role");
		bool system = json_is(role, STR("system")) || json_is(role, STR("developer"));

		if (!json_is(role, STR("assistant")) && !json_is(role, STR("tool"))) {
			begin_step(a, system ? "system" : "user", JSON_GET(one, "content"));
			jw_end(&a->j);
		}
	}
}

/* Ids must be unique within a step: missing or repeated ones are replaced by numbers. */
static struct str call_id(struct atif *a, size_t from, size_t i)
{
	struct str id = JSON_GET(a->x->r.steps[i].value[KEY_TOOL_CALL], "id");
	bool unique = json_type(id) == JSON_STRING && i - from < 64;
	char made[48];

	for (size_t k = from; k < i && unique; k++) {
		struct str other = JSON_GET(a->x->r.steps[k].value[KEY_TOOL_CALL], "id");

		unique = json_type(other) != JSON_STRING || !json_same_text(other, id);
	}
	if (unique)
		return id;
	snprintf(made, sizeof(made), "\"call-%lld-%zu\"", (long long)a->step_id, i - from);
	return arena_str(&a->x->r.arena, str_from(made));
}

static struct str string_or(struct str value, struct str other)
{
	return json_type(value) == JSON_STRING ? value : other;
}

/* Arguments must be an object. */
static void put_call(struct atif *a, struct str id, struct str call)
{
	struct str arguments = export_known(JSON_GET(call, "arguments"));
	bool object = json_type(arguments) == JSON_OBJECT;

	jw_pack(&a->j, "{tool_call_id:%r,function_name:%r", id,
	        string_or(JSON_GET(call, "name"), STR("\"\"")));
	jw_pack(&a->j, object ? "arguments:%r}" : "arguments:{arguments:%?r}}", arguments);
}

static void put_result(struct atif *a, struct str id, const struct line *step)
{
	jw_pack(&a->j, "{source_call_id:%r,content:%r,extra:{is_error:%b,error:%?r,state:%?r", id,
	        export_text(a->x, step->value[KEY_OBSERVATION]), export_is_failed(step),
	        export_known(step->value[KEY_ERROR]), export_known(step->value[KEY_STATE]));
	jw_pack(&a->j, "reward:%?r,terminated:%?r,truncated:%?r}}",
	        export_known(step->value[KEY_REWARD]), json_flag(step->terminated),
	        json_flag(step->truncated));
}

static struct str assistant_of(const struct export *x, size_t from, size_t to)
{
	struct str one;

	for (size_t i = from; i < to; i++) {
		for (size_t cursor = 0;
		     json_next(x->r.steps[i].value[KEY_MESSAGES], &cursor, &one);)
			if (json_is(JSON_GET(one, "role"), STR("assistant")))
				return one;
	}
	return STR_NONE;
}

/* For a step not made by a model the format requires llm_call_count 0 and no model fields. */
static void put_turn(struct atif *a, size_t from, size_t to)
{
	struct str message = assistant_of(a->x, from, to);
	enum policy_kind kind = line_policy_kind(&a->x->r.header);
	const struct line *steps = a->x->r.steps;

	begin_step(a, "agent", JSON_GET(message, "content"));
	if (kind != POLICY_LLM && kind != POLICY_IMPORT)
		jw_pack(&a->j, "llm_call_count:0");
	else
		jw_pack(&a->j, "reasoning_content:%?r",
		        string_or(JSON_GET(message, "reasoning_content"), STR_NONE));
	if (line_has(&steps[from], KEY_TOOL_CALL)) {
		jw_pack(&a->j, "tool_calls:[");
		for (size_t i = from; i < to; i++)
			put_call(a, call_id(a, from, i), steps[i].value[KEY_TOOL_CALL]);
		jw_pack(&a->j, "],observation:{results:[");
		for (size_t i = from; i < to; i++)
			if (steps[i].step >= 0)
				put_result(a, call_id(a, from, i), &steps[i]);
		jw_pack(&a->j, "]}");
	}
	jw_end(&a->j);
	for (size_t i = from; i < to; i++)
		put_other_messages(a, steps[i].value[KEY_MESSAGES]);
}

static void put_agent(struct atif *a)
{
	struct str unknown = STR("\"unknown\""), policy = a->x->r.header.value[KEY_POLICY];
	struct str kind = string_or(JSON_GET(policy, "kind"), unknown);

	jw_pack(&a->j, "agent:{name:%r,version:%r,model_name:%?r,tool_definitions:%?r}",
	        string_or(JSON_GET(policy, "name"), kind),
	        string_or(JSON_GET(a->x->r.header.value[KEY_META], "rolldbg"), unknown),
	        string_or(JSON_GET(JSON_GET(policy, "params"), "model"), STR_NONE),
	        export_tools(a->x));
}

static void put_extra(struct atif *a)
{
	const struct line *end = &a->x->r.end, *header = &a->x->r.header;

	jw_pack(&a->j, "extra:{task:%r,sample:%r,status:%?r,reason:%?r,total_reward:%?r",
	        JSON_GET(header->value[KEY_TASK], "id"), header->value[KEY_SAMPLE],
	        export_known(end->value[KEY_STATUS]), export_known(end->value[KEY_REASON]),
	        export_known(end->value[KEY_TOTAL_REWARD]));
	jw_pack(&a->j, "state:%?r,state_ignore:%?r,seed:%?r}", export_known(end->value[KEY_STATE]),
	        export_known(JSON_GET(header->value[KEY_STATE_SOURCE], "ignore")),
	        export_known(header->value[KEY_SEED]));
}

static void put_steps(struct atif *a)
{
	const struct export *x = a->x;
	struct str prompt = x->r.reset.value[KEY_MESSAGES];

	jw_put_array(&a->j, "steps");
	put_other_messages(a, prompt);
	if (!json_count(prompt) && line_has(&x->r.reset, KEY_OBSERVATION)) {
		begin_step(a, "user", x->r.reset.value[KEY_OBSERVATION]);
		jw_end(&a->j);
	}
	for (size_t i = 0, end; i < x->r.count; i = end) {
		end = export_turn_end(x, i);
		put_turn(a, i, end);
	}
	jw_end(&a->j);
}

static int atif_write(struct export *x, struct error *err)
{
	struct atif a = {.x = x};

	a.j = jw_form(x->out, "{schema_version:'ATIF-v1.7',session_id:%s", x->r.id);
	put_agent(&a);
	put_steps(&a);
	jw_pack(&a.j, "final_metrics:{total_steps:%i}", a.step_id);
	put_extra(&a);
	jw_line_end(&a.j);
	return 0;
}

/* ---- reading ---- */

static bool is_atif(struct str value)
{
	struct str version = JSON_GET(value, "schema_version");

	return json_type(version) == JSON_STRING && str_starts(json_inner(version), STR("ATIF-")) &&
	       json_type(JSON_GET(value, "steps")) == JSON_ARRAY;
}

/* ---- a step as messages ---- */

/* Context copied from the trajectory that this one continues is shown to the model, not written by it. */
static void put_message(struct import *m, struct dialog *d, struct str step, struct str message,
                        const struct dialog_facts *facts)
{
	if (json_type(JSON_GET(step, "is_copied_context")) == JSON_TRUE)
		dialog_prompt(m, d, IMPORT_PACK(m, "[%r]", message));
	else
		dialog_message(m, d, message, facts);
}

/* Its calls have a shape that dialog_message reads. */
static void take_message(struct import *m, struct dialog *d, struct str step, const char *role)
{
	struct str calls = JSON_GET(step, "tool_calls"), one;

	struct json_writer j = jw_form(import_value(m), "{role:%t,content:%r,reasoning_content:%?r",
	                               role, JSON_GET(step, "message"),
	                               export_known(JSON_GET(step, "reasoning_content")));
	if (json_count(calls)) {
		jw_put_array(&j, "tool_calls");
		for (size_t cursor = 0; json_next(calls, &cursor, &one);) {
			jw_pack(&j, "{id:%r,type:'function',function:{name:%r,arguments:%r}}",
			        JSON_GET(one, "tool_call_id"), JSON_GET(one, "function_name"),
			        JSON_GET(one, "arguments"));
		}
		jw_end(&j);
	}
	jw_end(&j);
	put_message(m, d, step, import_kept(m), NULL);
}

/* ---- answers ---- */

/* Facts of a result, or, where absent, of its step; tool_result_is_error is Harbor's. */
static struct dialog_facts facts_of(struct str result, struct str step)
{
	struct str own = JSON_GET(result, "extra"), around = JSON_GET(step, "extra");
	struct str extra = json_count(own) ? own : around;
	struct dialog_facts f = DIALOG_FACTS;

	f.hint.failed = import_flag(import_either(JSON_GET(extra, "is_error"),
	                                          JSON_GET(extra, "tool_result_is_error")));
	f.hint.error = JSON_GET(extra, "error");
	f.reward = JSON_GET(extra, "reward");
	f.terminated = import_flag(JSON_GET(extra, "terminated"));
	f.truncated = import_flag(JSON_GET(extra, "truncated"));
	f.state = JSON_GET(extra, "state");
	return f;
}

static void take_results(struct import *m, struct dialog *d, struct str step)
{
	struct str results = JSON_GET(JSON_GET(step, "observation"), "results"), one;

	for (size_t cursor = 0; json_next(results, &cursor, &one);) {
		struct dialog_facts f = facts_of(one, step);
		struct str id = JSON_GET(one, "source_call_id");

		put_message(m, d, step, message_answer(m, id, JSON_GET(one, "content")), &f);
	}
}

static void take_step(struct import *m, struct dialog *d, struct str step)
{
	struct str source = JSON_GET(step, "source");

	if (json_is(source, STR("agent")))
		take_message(m, d, step, "assistant");
	else
		take_message(m, d, step, json_is(source, STR("system")) ? "system" : "user");
	/* what the system shows by itself is no turn */
	if (json_is(source, STR("agent")) || dialog_waits(d))
		take_results(m, d, step);
}

static bool has_states(struct str steps)
{
	struct str step;

	for (size_t cursor = 0; json_next(steps, &cursor, &step);) {
		struct str results = JSON_GET(JSON_GET(step, "observation"), "results");
		struct str of_result = JSON_GET(json_first(results), "extra");

		if (!json_is_null(JSON_GET(JSON_GET(step, "extra"), "state")) ||
		    !json_is_null(JSON_GET(of_result, "state"))) {
			return true;
		}
	}
	return false;
}

/* In a job folder of Harbor, TRIAL/result.json belongs to TRIAL/agent/trajectory.json: its task,
   the verifier's reward, and the exception that ended the trial. */
static void add_trial(struct import *m, struct import_header *h, struct import_end *e)
{
	static const struct str place = STR_INIT("agent/trajectory.json");
	struct str path = str_from(m->path), result, rewards;
	AUTO_BUF name = BUF(BUF_MAX_SMALL), text = BUF(BUF_MAX_MESSAGE);
	struct json_fault fault;
	struct error ignored;

	buf_add(&name, path.p, str_ends(path, place) ? path.n - place.n : 0);
	buf_text(&name, "result.json");
	if (str_ends(path, place) &&
	    !file_read_regular("result", buf_cstr(&name), &text, &ignored) &&
	    !json_validate(buf_view(&text), &fault)) {
		result = arena_str(&m->arena, buf_view(&text));
		rewards = JSON_GET(JSON_GET(result, "verifier_result"), "rewards");
		if (JSON_GET(result, "task_name").p)
			h->task = import_task(m, JSON_GET(result, "task_name"));
		if (!e->total_reward.p)
			e->total_reward = JSON_GET(rewards, "reward");
		e->reason = import_text(
			m, JSON_GET(JSON_GET(result, "exception_info"), "exception_type"));
		e->status = e->reason.n ? END_FAILED : e->status;
	}
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

	id = json_is_null(id) ? JSON_GET(value, "session_id") : id;
	if (!import_own_id(m, id, extra, &h))
		h.task = import_task(m, id);
	e.status = end_status_parse(json_inner(JSON_GET(extra, "status")));
	add_trial(m, &h, &e);
	dialog_open(m, &d, &h);
	while (json_next(steps, &cursor, &step))
		take_step(m, &d, step);
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
	.writer = &(const struct format_writer){.write = atif_write, .one_a_file = true},
};
