/* TRL's logged completions (log_completions) as JSON Lines: step, prompt and completion as text, a
   column for each reward function, advantage. */
#include "convert/text_turns.h"

static bool is(struct str value)
{
	return json_type(JSON_GET(value, "prompt")) == JSON_STRING &&
	       json_type(JSON_GET(value, "completion")) == JSON_STRING &&
	       json_type(JSON_GET(value, "step")) == JSON_NUMBER;
}

/* The weights of several reward functions are not logged: only a single one is the reward. */
static struct str reward_of(struct str value)
{
	struct str found = STR_NONE;
	struct json_member one;
	size_t cursor = 0, count = 0;

	while (json_next_member(value, &cursor, &one)) {
		if (one.type == JSON_NUMBER && !json_key_is(one.key, STR("step")) &&
		    !json_key_is(one.key, STR("advantage"))) {
			found = one.value;
			count++;
		}
	}
	return count == 1 ? found : STR_NONE;
}

static int take(struct import *m, struct str value, struct error *err)
{
	struct str prompt = JSON_GET(value, "prompt");
	struct import_header h = {.task = text_turns_task(m, prompt, JSON_GET(value, "step"))};
	struct import_end e = {.total_reward = reward_of(value)};
	struct dialog d;

	if (!is(value)) {
		return error_set(err, FAIL_INPUT, "no logged completion: step, prompt, completion");
	}
	dialog_open(m, &d, &h);
	dialog_message(m, &d, text_turns_prompt(m, prompt), NULL);
	text_turns(m, &d, JSON_GET(value, "completion"));
	dialog_end(m, &d, &e);
	return 0;
}

const struct format format_trl_completions = {
	.name = "trl-completions",
	.what = "TRL's logged completions as JSON Lines: step, prompt, completion, rewards, advantage",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOTAL_REWARD),
	.is = is,
	.take = take,
};
