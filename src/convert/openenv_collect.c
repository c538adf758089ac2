/* OpenEnv's `openenv collect`: results.jsonl, one episode per line: messages as seen by the policy,
   and tool_trace with the result of each call. The state in a result's metadata is the state after
   the call; the state before the first call is recorded only in files written by rolldbg, under
   `extra`. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"
#include "json/write.h"

static bool is_openenv_collect(struct str value)
{
	return json_type(JSON_GET(value, "tool_trace")) == JSON_ARRAY &&
	       messages_may_be(JSON_GET(value, "messages"));
}

static bool has_states(struct str trace)
{
	struct str one;

	for (size_t cursor = 0; json_next(trace, &cursor, &one);) {
		struct str metadata = JSON_GET(JSON_GET(one, "result"), "metadata");

		if (!json_is_null(JSON_GET(metadata, "state")))
			return true;
	}
	return false;
}

static struct dialog_facts facts_of(struct str traced)
{
	struct str result = JSON_GET(traced, "result"), metadata = JSON_GET(result, "metadata");
	struct dialog_facts f = DIALOG_FACTS;

	f.hint.error = JSON_GET(result, "error");
	f.hint.failed = json_is_null(f.hint.error) ? 0 : 1;
	f.terminated = import_flag(JSON_GET(result, "done"));
	f.reward = JSON_GET(metadata, "reward");
	f.state_after = JSON_GET(metadata, "state");
	f.name = JSON_GET(traced, "tool_name");
	f.arguments = JSON_GET(traced, "arguments");
	return f;
}

/* Makes a message from a call that is only in the trace. */
static struct str message_of(struct import *m, struct str traced)
{
	return message_new(m, "tool", JSON_GET(JSON_GET(traced, "result"), "data"));
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

		if (is_answer(message) && json_next(trace, &at, &traced))
			f = facts_of(traced);
		dialog_message(m, d, message, &f);
	}
	while (json_next(trace, &at, &traced)) {
		struct dialog_facts f = facts_of(traced);

		dialog_message(m, d, message_of(m, traced), &f);
	}
}

static int import_openenv_collect(struct import *m, struct str value, struct error *err)
{
	struct str trace = JSON_GET(value, "tool_trace"), task = JSON_GET(value, "task");
	struct str id = JSON_GET(value, "episode_id"), extra = JSON_GET(value, "extra");
	struct import_header h = {.task = import_task(m, id.p ? id : task),
	                          .has_state = has_states(trace),
	                          .ignore = STR("[\"/episode_id\",\"/step_count\"]")};
	struct import_end e = {.total_reward = JSON_GET(value, "reward")};
	struct dialog d;
	bool done;

	if (json_bool(JSON_GET(value, "done"), &done))
		e.status = done ? END_TERMINATED : END_STOPPED;
	if (import_own_id(m, id, extra, &h))
		h.ignore = JSON_GET(extra, "state_ignore");
	dialog_open(m, &d, &h);
	dialog_state(&d, JSON_GET(extra, "state"));
	take_messages(m, &d, JSON_GET(value, "messages"), trace);
	dialog_end(m, &d, &e);
	return 0;
}

/* Writes the result of one call. The state after it is that of the next line. */
static void put_traced(const struct export *x, size_t i, struct json_writer *j)
{
	const struct line *step = &x->r.steps[i], *next = i + 1 < x->r.count ? step + 1 : &x->r.end;
	struct str call = step->value[KEY_TOOL_CALL], error = step->value[KEY_ERROR];
	bool failed = export_is_failed(step);

	jw_pack(j, "{tool_name:%r,arguments:%r,result:{data:%r,done:%b", JSON_GET(call, "name"),
	        JSON_GET(call, "arguments"), failed ? STR_NONE : step->value[KEY_OBSERVATION],
	        step->terminated > 0 || step->truncated > 0);
	jw_pack(j, "metadata:{reward:%?r,state:%?r},error:%r}}",
	        export_known(step->value[KEY_REWARD]), export_known(next->value[KEY_STATE]),
	        failed ? JSON_GET(error, "message") : STR_NONE);
}

static int write(struct export *x, struct error *err)
{
	struct str task = JSON_GET(x->r.header.value[KEY_TASK], "id");
	AUTO_BUF messages = BUF(BUF_MAX_MESSAGE);

	if (export_conversation(x, 0, &messages, err))
		return -1;
	struct json_writer j =
		jw_form(x->out, "{episode_id:%s,messages:%r,reward:%r,done:%b,tool_trace:[",
	                x->r.id, buf_view(&messages), x->r.end.value[KEY_TOTAL_REWARD],
	                x->r.end.status == END_TERMINATED || x->r.end.status == END_TRUNCATED);
	for (size_t i = 0; i < x->r.count; i++)
		if (x->r.steps[i].step >= 0)
			put_traced(x, i, &j);
	jw_pack(&j, "],metrics:{},verify_metrics:{},artifacts:{},task:%r", task);
	jw_pack(&j, "extra:{task:%r,sample:%r", task, x->r.header.value[KEY_SAMPLE]);
	if (x->r.count && line_has(&x->r.steps[0], KEY_STATE)) {
		jw_pack(&j, "state:%r,state_ignore:%r", x->r.steps[0].value[KEY_STATE],
		        JSON_GET(x->r.header.value[KEY_STATE_SOURCE], "ignore"));
	}
	jw_end(&j);
	jw_line_end(&j);
	return 0;
}

/* No FACT(STATE): the first state is always missing, which must not be reported as a finding */
const struct format format_openenv_collect = {
	.name = "openenv-collect",
	.what = "results.jsonl of OpenEnv's collect: episode_id, messages, tool_trace",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME) | FACT(ERROR) | FACT(REWARD) |
                 FACT(TERMINATED) | FACT(TOTAL_REWARD) | FACT(STATUS),
	.is = is_openenv_collect,
	.take = import_openenv_collect,
	.writer = &(const struct format_writer){.write = write, .also_written = FACT(STATE)},
};
