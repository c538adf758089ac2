/* Turns in decoded text: see text_turns.h. */
#include "convert/text_turns.h"

#include "base/text.h"
#include "convert/messages.h"

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
	struct json_writer j;
	struct json_fault fault;
	bool calls = false;

	text = without_roles(text);
	if (!text.n) {
		return;
	}
	j = message_begin(m, "assistant");
	jw_key(&j, "content");
	jw_str(&j, text);
	while (text.n) {
		size_t at = find_at(text, CALL_BEGIN);
		struct str rest = text_after(text, at, CALL_BEGIN);
		struct str call = {rest.p, find_at(rest, CALL_END)};

		text = text_after(rest, call.n, CALL_END);
		if (call.n && json_validate(call, &fault) == 0) {
			if (!calls) {
				jw_key(&j, "tool_calls");
				jw_array(&j);
			}
			calls = true;
			jw_raw(&j, text_trim(call));
		}
	}
	if (calls) {
		jw_end(&j);
	}
	dialog_message(m, d, message_end(m, &j), NULL);
}

static void take_answer(struct import *m, struct dialog *d, struct str text)
{
	struct json_writer j = message_begin(m, "tool");

	jw_key(&j, "content");
	jw_str(&j, text_trim(text));
	dialog_message(m, d, message_end(m, &j), NULL);
}

void text_turns(struct import *m, struct dialog *d, struct str text)
{
	struct str rest = json_text(&m->arena, text);

	while (rest.n) {
		size_t at = find_at(rest, ANSWER_BEGIN);

		take_turn(m, d, (struct str){rest.p, at});
		if (at == rest.n) {
			return;
		}
		rest = text_after(rest, at, ANSWER_BEGIN);
		at = find_at(rest, ANSWER_END);
		take_answer(m, d, (struct str){rest.p, at});
		rest = text_after(rest, at, ANSWER_END);
	}
}

struct str text_turns_prompt(struct import *m, struct str content)
{
	return message_new(m, "user", content);
}

struct str text_turns_task(struct import *m, struct str prompt, struct str step)
{
	char hex[HASH_HEX + 1];
	int64_t n;

	hash_hex(m->hasher, prompt, hex);
	hex[8] = '\0';
	buf_clear(&m->value);
	if (json_i64(step, &n)) {
		buf_printf(&m->value, "step-%lld.", (long long)n);
	}
	buf_printf(&m->value, "prompt-%s", hex);
	return arena_str(&m->arena, buf_view(&m->value));
}
