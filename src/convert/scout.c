/* Writes Inspect Scout's transcripts: one row a rollout, the messages as text in one column, in Inspect's form.
   Scout reads Parquet files of them. */
#include "base/hash.h"
#include "convert/export.h"

#include <inttypes.h>

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
	jw_pack(&j, "agent:%r,model:%r,score:%r",
	        model                ? STR_NONE
	        : json_is_null(name) ? kind
	                             : name,
	        model ? name : STR_NONE, text_or_null(x, x->r.end.value[KEY_TOTAL_REWARD]));
	jw_pack(&j, "message_count:%i,error:%r,messages:%s}",
	        (int64_t)json_count(buf_view(&messages)),
	        status == END_FAILED ? x->r.end.value[KEY_REASON] : STR_NONE, buf_view(&messages));
	buf_char(x->out, '\n');
	return failed;
}

const struct format_writer writer_scout = {
	.write = write_scout,
	.columns =
		"[[\"transcript_id\",\"string\"],[\"source_type\",\"string\"],[\"task_set\",\"string\"],"
		"[\"task_id\",\"string\"],[\"task_repeat\",\"int64\"],[\"agent\",\"string\"],"
		"[\"model\",\"string\"],[\"score\",\"string\"],[\"message_count\",\"int64\"],"
		"[\"error\",\"string\"],[\"messages\",\"string\"]]",
};
