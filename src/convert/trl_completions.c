/* TRL's logged completions (log_completions) as JSON Lines: step, prompt and completion as text, a
   column per reward function, advantage. */
#include "recording/foreign.h"

#include "convert/export.h"
#include "convert/text_turns.h"

static bool is_trl_completions(struct str value)
{
	return json_type(JSON_GET(value, "prompt")) == JSON_STRING &&
	       json_type(JSON_GET(value, "completion")) == JSON_STRING &&
	       json_type(JSON_GET(value, "step")) == JSON_NUMBER;
}

/* The weights of reward functions are not logged: the reward is known only if there is a single
   function. */
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

static int import_trl_completions(struct import *m, struct str value, struct error *err)
{
	struct str prompt = JSON_GET(value, "prompt");
	struct import_header h = {.task = text_turns_task(m, prompt, JSON_GET(value, "step"))};
	struct import_end e = {.total_reward = reward_of(value)};
	struct dialog d;

	if (!is_trl_completions(value)) {
		return error_set(
			err, FAIL_INPUT,
			"not a logged completion: step, prompt and completion are required");
	}
	dialog_open(m, &d, &h);
	dialog_message(m, &d, text_turns_prompt(m, prompt), NULL);
	text_turns(m, &d, JSON_GET(value, "completion"));
	dialog_end(m, &d, &e);
	return 0;
}

/* Writes calls and answers between tags, as the reader expects. */
static void put_text(struct str messages, struct buf *text)
{
	struct str one, call;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);) {
		struct str content = JSON_GET(one, "content");
		bool answer = json_is(JSON_GET(one, "role"), STR("tool"));
		size_t at = 0;

		buf_text(text, answer ? "<tool_response>" : "");
		if (!json_is_null(content)) {
			json_text_or_json(content, text);
		}
		buf_text(text, answer ? "</tool_response>" : "");
		while (json_next(JSON_GET(one, "tool_calls"), &at, &call)) {
			struct str function = JSON_GET(call, "function");

			buf_text(text, "<tool_call>{\"name\":");
			buf_str(text, JSON_GET(function, "name"));
			buf_text(text, ",\"arguments\":");
			buf_str(text, JSON_GET(function, "arguments"));
			buf_text(text, "}</tool_call>");
		}
	}
}

static void put_joined(struct json_writer *j, const char *key, struct buf *messages)
{
	struct buf list = BUF(FOREIGN_BYTES_MAX), text = BUF(FOREIGN_BYTES_MAX);

	buf_char(&list, '[');
	buf_str(&list, buf_view(messages));
	buf_char(&list, ']');
	put_text(buf_view(&list), &text);
	jw_key(j, key);
	jw_str(j, buf_view(&text));
	buf_release(&list);
	buf_release(&text);
	buf_release(messages);
}

static int write(struct export *x, struct error *err)
{
	struct buf prompt = BUF(BUF_MAX_MESSAGE), completion = BUF(BUF_MAX_MESSAGE);
	struct json_writer j;

	export_prompt(x, MESSAGES_OBJECTS, 0, &prompt);
	for (size_t i = 0; i < x->count;) {
		i = export_turn(x, i, MESSAGES_OBJECTS, 0, &completion);
	}
	if (prompt.full || completion.full) {
		buf_release(&prompt);
		buf_release(&completion);
		return error_set(err, FAIL_INPUT, "its conversation is longer than %zu MiB",
		                 BUF_MAX_MESSAGE >> 20);
	}
	jw_init(&j, x->out);
	jw_object(&j);
	jw_key(&j, "step");
	jw_i64(&j, 0);
	put_joined(&j, "prompt", &prompt);
	put_joined(&j, "completion", &completion);
	jw_key(&j, "reward");
	jw_raw(&j, x->end.value[KEY_TOTAL_REWARD]);
	jw_key(&j, "advantage");
	jw_null(&j);
	jw_end(&j);
	buf_char(x->out, '\n');
	return 0;
}

const struct format format_trl_completions = {
	.name = "trl-completions",
	.what = "TRL's logged completions as JSON Lines: step, prompt, completion, rewards, advantage",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOTAL_REWARD),
	.is = is_trl_completions,
	.take = import_trl_completions,
	.write = write,
};
