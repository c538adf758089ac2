/* Inspect Scout's transcripts: one row a rollout, the messages as text in one column, in Inspect's form. Scout
   reads Parquet files of them. */
#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"

#include <inttypes.h>

static bool is_scout(struct str value)
{
	return json_type(JSON_GET(value, "transcript_id")) == JSON_STRING &&
	       JSON_GET(value, "messages").p && JSON_GET(value, "source_type").p;
}

static int import_scout(struct import *m, struct str value, struct error *err)
{
	struct str messages = outcome_observation(m, JSON_GET(value, "messages"));
	struct str score = import_text(m, JSON_GET(value, "score")),
		   id = JSON_GET(value, "task_id");
	struct str error = import_text(m, JSON_GET(value, "error"));
	struct import_header h = {
		.task = import_task(m, import_either(id, JSON_GET(value, "transcript_id"))),
		.policy_name = import_text(m, JSON_GET(value, "agent")),
	};
	struct import_end e = {.status = error.n ? END_FAILED : END_UNKNOWN, .reason = error};
	struct dialog d;

	if (json_type(messages) != JSON_ARRAY)
		return error_set(err, FAIL_INPUT, "expected a list of messages at \"/messages\"");
	if (json_is_valid(score) && json_type(score) == JSON_NUMBER)
		e.total_reward = score;
	dialog_open(m, &d, &h);
	dialog_messages(m, &d, messages);
	dialog_end(m, &d, &e);
	return 0;
}

static struct str text_or_null(struct export *x, struct str value)
{
	return json_is_null(value) ? STR_NONE : export_text(x, value);
}

static int write_scout(struct export *x, struct error *err)
{
	struct str policy = x->r.header.value[KEY_POLICY], task = x->r.header.value[KEY_TASK];
	struct str name = JSON_GET(policy, "name"), kind = JSON_GET(policy, "kind");
	bool model = json_is(kind, STR("llm"));
	enum end_status status = x->r.end.status;
	AUTO_BUF messages = BUF(x->out->max), id = BUF(BUF_MAX_SMALL);

	int failed = export_conversation(x, MESSAGES_INSPECT, &messages, err);
	/* ids are unique in a database of many files; headers have the time of the rollout */
	buf_printf(&id, "%.*s-%016" PRIx64, STR_ARG(x->r.id), fingerprint(x->r.header.text));
	struct json_writer j = jw_form(
		x->out,
		"{transcript_id:%s,source_type:'rolldbg',task_set:%r,task_id:%r,task_repeat:%r",
		buf_view(&id), JSON_GET(x->r.header.value[KEY_ENV], "name"), JSON_GET(task, "id"),
		x->r.header.value[KEY_SAMPLE]);
	jw_pack(&j, "agent:%r,model:%r,score:%r", model ? STR_NONE : import_either(name, kind),
	        model ? name : STR_NONE, text_or_null(x, x->r.end.value[KEY_TOTAL_REWARD]));
	jw_pack(&j, "message_count:%i,error:%r,messages:%s}",
	        (int64_t)json_count(buf_view(&messages)),
	        status == END_FAILED ? x->r.end.value[KEY_REASON] : STR_NONE, buf_view(&messages));
	buf_char(x->out, '\n');
	return failed;
}

const struct format format_scout = {
	.name = "scout",
	.what = "Inspect Scout's transcripts: transcript_id, source_type, messages; Parquet to NAME.parquet",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME) | FACT(TOTAL_REWARD) |
                 FACT(STATUS),
	.columns =
		"[[\"transcript_id\",\"string\"],[\"source_type\",\"string\"],[\"task_set\",\"string\"],"
		"[\"task_id\",\"string\"],[\"task_repeat\",\"int64\"],[\"agent\",\"string\"],"
		"[\"model\",\"string\"],[\"score\",\"string\"],[\"message_count\",\"int64\"],"
		"[\"error\",\"string\"],[\"messages\",\"string\"]]",
	.is = is_scout,
	.take = import_scout,
	.write = write_scout,
};
