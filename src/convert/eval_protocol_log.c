/* eval-protocol's openai_format_log_file: the messages and totals of a rollout that its control
   plane ended. */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/messages.h"

static bool is_eval_protocol_log(struct str value)
{
	return messages_is(JSON_GET(value, "messages")) &&
	       JSON_GET(JSON_GET(value, "metadata"), "total_steps").p;
}

static int import_eval_protocol_log(struct import *m, struct str value, struct error *err)
{
	struct str metadata = JSON_GET(value, "metadata");
	struct str plane = JSON_GET(metadata, "control_plane_summary");
	struct import_header h = {.task = import_task(m, JSON_GET(metadata, "session_id")),
	                          .seed = JSON_GET(metadata, "seed")};
	struct import_end e = {.reason = import_text(m, JSON_GET(plane, "termination_reason")),
	                       .total_reward = JSON_GET(metadata, "total_reward")};
	bool terminated;

	if (!is_eval_protocol_log(value)) {
		return error_set(err, FAIL_INPUT, "the object has no messages or no metadata");
	}
	if (json_bool(JSON_GET(metadata, "terminated"), &terminated) && terminated) {
		e.status = END_TERMINATED;
	}
	dialog_whole(m, &h, JSON_GET(value, "messages"), &e);
	return 0;
}

const struct format format_eval_protocol_log = {
	.name = "eval-protocol-log",
	.what = "eval-protocol's log of finished rollouts: messages, metadata",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(REWARD) | FACT(TERMINATED) | FACT(SEED) |
                 FACT(TOTAL_REWARD) | FACT(STATUS),
	.is = is_eval_protocol_log,
	.take = import_eval_protocol_log,
};
