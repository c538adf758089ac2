/* verl's rollout dumps (trainer.rollout_data_dir): one line per sample of a training step, with
   decoded input and output and a score. Samples with the same input form a group. */
#include "recording/foreign.h"

#include "convert/text_turns.h"

static bool is_verl(struct str value)
{
	return json_type(JSON_GET(value, "input")) == JSON_STRING &&
	       json_type(JSON_GET(value, "output")) == JSON_STRING && JSON_GET(value, "score").p;
}

static int import_verl(struct import *m, struct str value, struct error *err)
{
	struct str prompt = JSON_GET(value, "input");
	struct import_header h = {.task = text_turns_task(m, prompt, JSON_GET(value, "step"))};
	struct import_end e = {.total_reward = JSON_GET(value, "score")};
	struct dialog d;

	if (!is_verl(value)) {
		return error_set(
			err, FAIL_INPUT,
			"not a line of a rollout dump: input, output and score are required");
	}
	dialog_open(m, &d, &h);
	dialog_message(m, &d, text_turns_prompt(m, prompt), NULL);
	text_turns(m, &d, JSON_GET(value, "output"));
	dialog_end(m, &d, &e);
	return 0;
}

const struct format format_verl = {
	.name = "verl",
	.what = "verl's rollout dumps: input, output, score, step",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOTAL_REWARD),
	.is = is_verl,
	.take = import_verl,
};
