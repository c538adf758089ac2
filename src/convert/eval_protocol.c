/* The formats of eval-protocol. */
#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"
#include "json/python.h"
#include "recording/foreign.h"

#include <stdlib.h>

/* ---- playback files ---- */

/* eval-protocol's playback files (EP_PLAYBACK_FILE, REWARD_KIT_PLAYBACK_FILE): one line per
   environment step, with the whole conversation so far; lines of several environments are
   interleaved. Only messages that a line adds are read. */
static bool is_eval_protocol(struct str value)
{
	return JSON_GET(value, "env_index").p && JSON_GET(value, "step").p &&
	       json_type(JSON_GET(value, "messages")) == JSON_ARRAY;
}

/* The first prompt contains the initial state in Python's notation: "{observation}". */
static struct str first_observation(struct import *m, struct str messages)
{
	struct str one;
	size_t cursor = 0;
	bool found = false;

	while (!found && json_next(messages, &cursor, &one)) {
		if (!json_is(JSON_GET(one, "role"), STR("user")))
			continue;
		buf_clear(&m->value);
		buf_clear(&m->work);
		json_text_or_json(JSON_GET(one, "content"), &m->value);
		if (!python_find(buf_view(&m->value), &m->work))
			return STR_NONE;
		found = true;
	}
	return found ? arena_str(&m->arena, buf_view(&m->work)) : STR_NONE;
}

static void begin(struct import *m, struct open_dialog *e, struct str index, struct str messages)
{
	struct buf task = BUF(BUF_MAX_SMALL);

	buf_text(&task, "env-");
	json_text_or_json(index, &task);
	struct import_header header = {.task = arena_str(&m->arena, buf_view(&task))};
	buf_release(&task);
	dialog_open(m, &e->dialog, &header);
	e->dialog.start = arena_str(&e->dialog.arena, first_observation(m, messages));
	e->messages = 0;
	e->step = -1;
}

static void end_environment(struct import *m, struct open_dialog *e)
{
	struct import_end end = {.reason = e->last.n ? buf_view(&e->last) : STR_NONE};

	dialog_end(m, &e->dialog, &end);
}

static void keep_reason(struct import *m, struct open_dialog *e, struct str message)
{
	struct str step = JSON_GET(message, "control_plane_step");
	struct str reason = json_text(&m->arena, JSON_GET(step, "termination_reason"));

	if (reason.p) {
		buf_clear(&e->last);
		buf_str(&e->last, reason);
	}
}

static int import_eval_protocol(struct import *m, struct str value, struct error *err)
{
	struct str messages = JSON_GET(value, "messages"), one;
	struct str index = JSON_GET(value, "env_index");
	struct open_dialog *e;
	size_t cursor = 0, n = 0;
	int64_t step;

	if (!is_eval_protocol(value) || !json_i64(JSON_GET(value, "step"), &step)) {
		return error_set(
			err, FAIL_INPUT,
			"not a line of a playback file: env_index, step and messages are required");
	}
	e = dialogs_find(m, map_hash(index), err);
	if (!e)
		return -1;
	if (e->dialog.id && step <= e->step && json_count(messages) < e->messages)
		end_environment(m, e); /* another run was appended to the file */
	if (!e->dialog.id)
		begin(m, e, index, messages);
	while (json_next(messages, &cursor, &one)) {
		if (n++ >= e->messages) {
			dialog_message(m, &e->dialog, one, NULL);
			keep_reason(m, e, one);
		}
	}
	e->messages = n > e->messages ? n : e->messages;
	e->step = step;
	return 0;
}

/* Writes one line per turn, with the conversation so far. Playback runs all calls of the last
   message, so one line per call would repeat the calls of a turn with several. */
static int write(struct export *x, struct error *err)
{
	struct buf messages = BUF(BUF_MAX_MESSAGE);
	size_t turn = 0;

	export_prompt(x, MESSAGES_METADATA, 0, &messages);
	for (size_t i = 0; i < x->count && !x->out->full; turn++) {
		i = export_turn(x, i, MESSAGES_METADATA, 0, &messages);
		buf_printf(x->out, "{\"env_index\":%zu,\"step\":%zu,\"messages\":[", x->index,
		           turn);
		buf_str(x->out, buf_view(&messages));
		buf_text(x->out, "]}\n");
	}
	bool full = messages.full;
	buf_release(&messages);
	return full ? error_set(err, FAIL_INPUT, "the conversation is longer than a line") : 0;
}

const struct format format_eval_protocol = {
	.name = "eval-protocol",
	.what = "eval-protocol playback files: env_index, step, messages",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(REWARD) | FACT(TERMINATED),
	.is = is_eval_protocol,
	.take = import_eval_protocol,
	.write = write,
	.finish = dialogs_finish,
};

/* ---- evaluation rows ---- */

/* eval-protocol's EvaluationRow as JSON Lines: messages, rollout_status, input_metadata,
   evaluation_result. */
#define CODE_RESOURCE_EXHAUSTED 8 /* a google.rpc.Code, as are the other codes below 17 */
#define CODE_FINISHED           100
#define CODE_RUNNING            101

static bool is_evaluation_row(struct str value)
{
	return messages_may_be(JSON_GET(value, "messages")) &&
	       (JSON_GET(value, "input_metadata").p || JSON_GET(value, "rollout_status").p);
}

/* {"details":[{"reason":"TERMINATION_REASON","metadata":{"termination_reason":"stop"}}]} since
   0.2.17, {"termination_reason":"stop"} before. */
static struct str termination_reason(struct str status)
{
	struct str found = JSON_GET(status, "termination_reason"), detail;
	size_t cursor = 0;

	while (!found.p && json_next(JSON_GET(status, "details"), &cursor, &detail))
		found = JSON_GET(JSON_GET(detail, "metadata"), "termination_reason");
	return found;
}

static enum end_status status_of(struct str status, struct str reason)
{
	static const struct {
		struct str reason;
		enum end_status status;
	} reasons[] = {
		{STR_INIT("control_plane_signal"), END_TERMINATED},
		{STR_INIT("max_steps"), END_MAX_TURNS},
		{STR_INIT("length"), END_TRUNCATED},
		{STR_INIT("stop"), END_FINISHED},
		{STR_INIT("tool_calls"), END_FINISHED},
		{STR_INIT("user_stop"), END_FINISHED},
		{STR_INIT("interrupted"), END_INTERRUPTED},
		{STR_INIT("skippable_error"), END_FAILED},
		{STR_INIT("non_skippable_error"), END_FAILED},
		{STR_INIT("error"), END_FAILED},
	};
	struct str word = JSON_GET(status, "status");
	int64_t code;

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (json_is(reason, reasons[i].reason))
			return reasons[i].status;
	if (json_i64(JSON_GET(status, "code"), &code)) {
		return code == CODE_RESOURCE_EXHAUSTED      ? END_REFUSED
		       : code == CODE_FINISHED || code == 0 ? END_FINISHED
		       : code == CODE_RUNNING               ? END_UNKNOWN
		                                            : END_FAILED;
	}
	return json_is(word, STR("error"))      ? END_FAILED
	       : json_is(word, STR("finished")) ? END_FINISHED
	                                        : END_UNKNOWN;
}

static bool has_rewards(struct str messages)
{
	struct str one;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);)
		if (JSON_GET(JSON_GET(one, "control_plane_step"), "reward").p)
			return true;
	return false;
}

static int import_evaluation_row(struct import *m, struct str value, struct error *err)
{
	struct str input = JSON_GET(value, "input_metadata"),
		   messages = JSON_GET(value, "messages");
	struct str status = JSON_GET(value, "rollout_status");
	struct str reason = termination_reason(status);
	struct str message = JSON_GET(status, "message");
	struct import_header h = {
		.task = import_task(m, JSON_GET(input, "row_id")),
		.tools = JSON_GET(value, "tools"),
		.policy_name =
			import_text(m, JSON_GET(JSON_GET(input, "completion_params"), "model")),
		.seed = JSON_GET(JSON_GET(JSON_GET(input, "dataset_info"), "environment_context"),
	                         "seed"),
	};
	struct import_end e = {.status = status_of(status, reason)};

	if (!messages_may_be(messages))
		return error_set(err, FAIL_INPUT, "the row has no messages");
	e.reason = import_text(m, json_is_null(reason) ? message : reason);
	if (!has_rewards(messages))
		e.total_reward = JSON_GET(JSON_GET(value, "evaluation_result"), "score");
	dialog_whole(m, &h, messages, &e);
	return 0;
}

const struct format format_evaluation_row = {
	.name = "evaluation-row",
	.what = "eval-protocol's EvaluationRow as JSON Lines: messages, input_metadata, rollout_status",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOOLS) | FACT(REWARD) |
                 FACT(TERMINATED) | FACT(TOTAL_REWARD) | FACT(STATUS) | FACT(SEED),
	.is = is_evaluation_row,
	.take = import_evaluation_row,
};
