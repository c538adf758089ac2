/* Decoded text of a whole conversation, as dumped by trainers: special tokens were removed, but the
   tags of tool calls and answers (<tool_call>, <tool_response>: Hermes, Qwen) are present. */
#include "base/text.h"
#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"
#include "json/canon.h"
#include "recording/foreign.h"

#define CALL_BEGIN   STR("<tool_call>")
#define CALL_END     STR("</tool_call>")
#define ANSWER_BEGIN STR("<tool_response>")
#define ANSWER_END   STR("</tool_response>")

/* The text after the mark at that offset; empty if there is no mark. */
static struct str text_after(struct str text, size_t at, struct str what)
{
	return at < text.n ? str_skip(text, at + what.n) : (struct str){text.p + text.n, 0};
}

/* Removes role words of a chat template whose special tokens were stripped. */
static struct str without_roles(struct str text)
{
	static const struct str roles[] = {STR_INIT("assistant"), STR_INIT("user"),
	                                   STR_INIT("tool")};
	bool found = true;

	while (found) {
		found = false;
		text = text_trim(text);
		for (size_t i = 0; i < ARRAY_LEN(roles) && !found; i++) {
			struct str rest = str_skip(text, roles[i].n);

			found = str_starts(text, roles[i]) && (!rest.n || rest.p[0] == '\n');
			text = found ? rest : text;
		}
	}
	return text;
}

/* Takes one turn of the model: its text and the calls in it. An empty text is not a turn. */
static void take_turn(struct import *m, struct dialog *d, struct str text)
{
	struct str content = without_roles(text);

	struct json_writer j = jw_form(import_value(m), "[");
	for (struct str left = content; left.n;) {
		struct str rest = text_after(left, find_at(left, CALL_BEGIN), CALL_BEGIN);
		struct str call = {rest.p, find_at(rest, CALL_END)};

		left = text_after(rest, call.n, CALL_END);
		if (call.n && json_is_valid(call))
			jw_raw(&j, text_trim(call));
	}
	jw_end(&j);
	struct str calls = import_kept(m);
	if (content.n)
		dialog_message(m, d,
		               IMPORT_PACK(m, "{role:'assistant',content:%s,tool_calls:%?r}",
		                           content, json_count(calls) ? calls : STR_NONE),
		               NULL);
}

static void take_answer(struct import *m, struct dialog *d, struct str text)
{
	dialog_message(m, d, IMPORT_PACK(m, "{role:'tool',content:%s}", text_trim(text)), NULL);
}

/* Adds the turns in a model's text (raw JSON string): text, calls, answers. A call that is not JSON
   is kept as text. */
static void text_turns(struct import *m, struct dialog *d, struct str text)
{
	struct str rest = json_text(&m->arena, text);

	while (rest.n) {
		size_t at = find_at(rest, ANSWER_BEGIN);

		take_turn(m, d, (struct str){rest.p, at});
		if (at == rest.n)
			return;
		rest = text_after(rest, at, ANSWER_BEGIN);
		at = find_at(rest, ANSWER_END);
		take_answer(m, d, (struct str){rest.p, at});
		rest = text_after(rest, at, ANSWER_END);
	}
}

/* Makes a task id for lines without one: the training step (raw JSON; may be absent) and a hash of
   the prompt, which is the same for all samples of a group. */
static struct str text_turns_task(struct import *m, struct str prompt, struct str step)
{
	char hex[HASH_HEX + 1];
	int64_t n;

	hash_hex(prompt, hex);
	hex[8] = '\0';
	buf_clear(&m->value);
	if (json_i64(step, &n))
		buf_printf(&m->value, "step-%lld.", (long long)n);
	buf_printf(&m->value, "prompt-%s", hex);
	return arena_str(&m->arena, buf_view(&m->value));
}

/* ---- verl ---- */

/* verl's rollout dumps (trainer.rollout_data_dir): one line per sample of a training step, with
   decoded input and output and a score. Samples with the same input form a group. */
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

	dialog_open(m, &d, &h);
	dialog_prompt(m, &d, prompt);
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

/* ---- TRL ---- */

/* TRL's logged completions (log_completions), a row per rollout: step, prompt and completion as text
   or as lists of messages, a column per reward function, advantage. */
static bool may_be_talk(struct str value)
{
	return json_type(value) == JSON_STRING || messages_may_be(value);
}

static bool is_trl_completions(struct str value)
{
	return may_be_talk(JSON_GET(value, "prompt")) &&
	       may_be_talk(JSON_GET(value, "completion")) &&
	       (json_type(JSON_GET(value, "step")) == JSON_NUMBER ||
	        JSON_GET(value, "advantage").p);
}

/* ---- rewards ---- */

static bool is_spelled_as_double(struct str number)
{
	return memchr(number.p, '.', number.n) != NULL;
}

/* Rewards are doubles: where the row's advantage is spelled as one, a whole number is a column of the user's own,
   such as a port that a reward function logs. */
static bool is_reward(struct str row, const struct json_member *one)
{
	struct str advantage = JSON_GET(row, "advantage");

	return one->type == JSON_NUMBER && !json_key_is(one->key, STR("step")) &&
	       !json_key_is(one->key, STR("advantage")) &&
	       (is_spelled_as_double(one->value) || !advantage.p ||
	        !is_spelled_as_double(advantage));
}

/* The weights of reward functions are not logged: with several, the user has to choose. Columns of
   the user's own that hold doubles cannot be told from them. */
static struct str reward_of(struct import *m, struct str value)
{
	struct str found = STR_NONE;
	struct json_member one;
	size_t cursor = 0, count = 0;

	if (m->options->reward)
		return json_get(value, str_from(m->options->reward));
	while (json_next_member(value, &cursor, &one)) {
		if (is_reward(value, &one)) {
			found = one.value;
			count++;
		}
	}
	return count == 1 ? found : STR_NONE;
}

/* All columns, where there are several. */
static void put_rewards(struct import *m, struct dialog *d, struct str value)
{
	AUTO_BUF list = BUF(BUF_MAX_MESSAGE);
	struct json_member one;
	size_t count = 0;

	for (size_t cursor = 0; json_next_member(value, &cursor, &one);) {
		if (is_reward(value, &one)) {
			buf_printf(&list, "%s\"", count++ ? "," : "{");
			buf_str(&list, one.key);
			buf_text(&list, "\":");
			buf_str(&list, one.value);
		}
	}
	buf_char(&list, '}');
	if (count > 1)
		import_event(m, &d->rollout, EVENT_REWARDS, buf_view(&list));
}

/* ---- messages ---- */

/* The bytes of the string, or of the other token, at the start of valid JSON. */
static size_t token_length(struct str rest)
{
	size_t n = 1;

	if (rest.p[0] == '"') {
		while (rest.p[n] != '"')
			n += rest.p[n] == '\\' ? 2 : 1;
		return n + 1;
	}
	while (n < rest.n && !strchr("{}[]:,\" \t\r\n", rest.p[n]))
		n++;
	return strchr("{}[]:, \t\r\n", rest.p[0]) ? 1 : n;
}

/* Undoes what Arrow does to a list of messages, whose objects must all have the same members of the
   same types: members without a value are left out, and whole numbers spelled as such. */
static struct str without_arrow(struct import *m, struct str json)
{
	static const struct str null = STR_INIT(":null");
	struct buf *to = &m->work;
	bool comma = false;

	buf_clear(to);
	while (json.n) {
		struct str token = {json.p, token_length(json)};
		char first = token.p[0];

		json = str_skip(json, token.n);
		if (first == '"' && str_starts(json, null)) {
			json = str_skip(json, null.n);
			continue;
		}
		if (first == ',' || strchr(" \t\r\n", first)) {
			comma = comma || first == ',';
			continue;
		}
		if (comma && !strchr("}]", first) && to->n && !strchr("{[", to->p[to->n - 1]))
			buf_char(to, ',');
		comma = false;
		if (strchr("-0123456789", first) && str_ends(token, STR(".0")))
			token.n -= 2;
		buf_str(to, token);
	}
	return arena_str(&m->arena, buf_view(to));
}

static struct str plain_messages(struct import *m, struct str value)
{
	AUTO_BUF minified = BUF(BUF_MAX_MESSAGE);

	if (json_type(value) != JSON_ARRAY)
		return value;
	json_minify(value, &minified);
	return without_arrow(m, buf_view(&minified));
}

static int import_trl_completions(struct import *m, struct str value, struct error *err)
{
	struct str prompt = JSON_GET(value, "prompt"), completion = JSON_GET(value, "completion");
	struct import_header h = {.task = text_turns_task(m, prompt, JSON_GET(value, "step"))};
	struct import_end e = {0};
	struct dialog d;

	e.total_reward = reward_of(m, value);
	if (m->options->reward && json_is_null(e.total_reward) &&
	    !json_get(value, str_from(m->options->reward)).p) {
		return error_set(err, FAIL_INPUT, "no column '%s' for the reward",
		                 m->options->reward);
	}
	dialog_open(m, &d, &h);
	dialog_prompt(m, &d, plain_messages(m, prompt));
	if (json_type(completion) == JSON_STRING)
		text_turns(m, &d, completion);
	dialog_messages(m, &d, plain_messages(m, completion));
	dialog_flush(m, &d);
	put_rewards(m, &d, value);
	dialog_end(m, &d, &e);
	return 0;
}

static int write(struct export *x, struct error *err)
{
	AUTO_BUF prompt = BUF(BUF_MAX_MESSAGE), completion = BUF(BUF_MAX_MESSAGE);
	bool fits;

	buf_char(&prompt, '[');
	export_prompt(x, MESSAGES_OBJECTS, 1, &prompt);
	buf_char(&prompt, ']');
	buf_char(&completion, '[');
	for (size_t i = 0; i < x->r.count;)
		i = export_turn(x, i, MESSAGES_OBJECTS, 1, &completion);
	buf_char(&completion, ']');
	fits = !prompt.full && !completion.full;
	if (fits) {
		struct json_writer j = jw_form(
			x->out, "{step:0,prompt:%r,completion:%r,reward:%r,advantage:null",
			buf_view(&prompt), buf_view(&completion), x->r.end.value[KEY_TOTAL_REWARD]);

		jw_line_end(&j);
	}
	return fits ? 0
	            : error_set(err, FAIL_INPUT, "its conversation is longer than %zu MiB",
	                        BUF_MAX_MESSAGE >> 20);
}

const struct format format_trl_completions = {
	.name = "trl-completions",
	.what = "TRL's logged completions: Parquet, trackio's database, or JSON Lines of their rows",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(TOTAL_REWARD),
	.is = is_trl_completions,
	.take = import_trl_completions,
	.writer = &(const struct format_writer){.write = write},
};
