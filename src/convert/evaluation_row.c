/* eval-protocol's EvaluationRow as JSON Lines: messages, rollout_status, input_metadata,
   evaluation_result. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/import.h"

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

	while (!found.p && json_next(JSON_GET(status, "details"), &cursor, &detail)) {
		found = JSON_GET(JSON_GET(detail, "metadata"), "termination_reason");
	}
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

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		if (json_is(reason, reasons[i].reason)) {
			return reasons[i].status;
		}
	}
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

	for (size_t cursor = 0; json_next(messages, &cursor, &one);) {
		if (JSON_GET(JSON_GET(one, "control_plane_step"), "reward").p) {
			return true;
		}
	}
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

	if (!messages_may_be(messages)) {
		return error_set(err, FAIL_INPUT, "the row has no messages");
	}
	e.reason = import_text(m, json_is_null(reason) ? message : reason);
	if (!has_rewards(messages)) {
		e.total_reward = JSON_GET(JSON_GET(value, "evaluation_result"), "score");
	}
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
