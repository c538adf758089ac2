/* Parser and lookup of scripts: see reply_script.h. */
#include "serve/llm/reply_script.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/text.h"

#include <stddef.h>
#include <stdio.h>

#define SCRIPT_MAX ((size_t)256 << 20)

static const char *const then_words[] = {"end", "cycle", "last", NULL};
static const char *const close_words[] = {"not", "before", "within", NULL};

static int read_base64(struct keyed *k, struct str value, void *to)
{
	struct llm_reply *reply = to;
	AUTO_BUF bytes = BUF(SCRIPT_MAX);
	bool good = json_type(value) == JSON_STRING && base64_decode(&bytes, json_inner(value));

	if (good)
		reply->raw = arena_str(k->arena, buf_view(&bytes));
	return good ? 0 : keyed_expected(k, "a string of base64");
}

static int read_status(struct keyed *k, struct str value, void *to)
{
	struct llm_reply *reply = to;
	struct keyed_number *n = &reply->status;

	n->given = json_i64(value, &n->value) && n->value >= 200 && n->value <= 599;
	return n->given ? 0 : keyed_expected(k, "an integer from 200 to 599");
}

#define IN_WHEN(member) offsetof(struct llm_when, member)
static const struct keyed_row when_rows[] = {
	{"last", KEYED_TEXT, .at = IN_WHEN(last)},
	{"model", KEYED_TEXT, .at = IN_WHEN(model)},
	{"turn", KEYED_COUNT, .at = IN_WHEN(turn)},
	{"seed", KEYED_COUNT, .at = IN_WHEN(seed)},
};
static const struct keyed_table when_table = KEYED_TABLE(when_rows);

#define IN_REPLY(member) offsetof(struct llm_reply, member)
static const struct keyed_row reply_rows[] = {
	{"when", KEYED_INNER, .at = IN_REPLY(when), .inner = &when_table},
	{"text", KEYED_STRING, .at = IN_REPLY(text)},
	{"calls", KEYED_ARRAY, .at = IN_REPLY(calls)},
	{"message", KEYED_OBJECT, .at = IN_REPLY(message)},
	{"finish_reason", KEYED_ANY, .at = IN_REPLY(finish_reason)},
	{"usage", KEYED_ANY, .at = IN_REPLY(usage)},
	{"logprobs", KEYED_ANY, .at = IN_REPLY(logprobs)},
	{"token_ids", KEYED_ANY, .at = IN_REPLY(token_ids)},
	{"prompt_token_ids", KEYED_ANY, .at = IN_REPLY(prompt_token_ids)},
	{"stop_reason", KEYED_ANY, .at = IN_REPLY(stop_reason)},
	{"status", KEYED_BY, .read = read_status},
	{"says", KEYED_STRING, .at = IN_REPLY(says)},
	{"code", KEYED_ANY, .at = IN_REPLY(code)},
	{"raw", KEYED_TEXT, .at = IN_REPLY(raw)},
	{"raw_base64", KEYED_BY, .read = read_base64},
	{"headers", KEYED_OBJECT, .at = IN_REPLY(headers)},
	{"delay", KEYED_DURATION, .at = IN_REPLY(delay_ms)},
	{"size", KEYED_SIZE, .at = IN_REPLY(size)},
	{"close", KEYED_CHOICE, .at = IN_REPLY(close), .words = close_words},
	{"every", KEYED_COUNT, .at = IN_REPLY(every)},
	{"piece", KEYED_COUNT, .at = IN_REPLY(piece)},
};
static const struct keyed_table reply_table = KEYED_TABLE(reply_rows);

static int read_replies(struct keyed *k, struct str list, void *to)
{
	struct llm_script *s = to;
	struct str each;

	if (json_type(list) != JSON_ARRAY || !json_count(list))
		return keyed_expected(k, "an array of at least one reply");
	s->replies = arena_new(k->arena, json_count(list) * sizeof(*s->replies));
	for (size_t cursor = 0; json_next(list, &cursor, &each); s->count++) {
		struct llm_reply *reply = &s->replies[s->count];

		snprintf(k->place, sizeof(k->place), "replies[%zu]", s->count);
		if (keyed_read(k, each, &reply_table, reply))
			return -1;
		reply->matched = JSON_GET(each, "when").p != NULL;
	}
	k->place[0] = '\0';
	return 0;
}

#define IN_SCRIPT(member) offsetof(struct llm_script, member)
static const struct keyed_row script_rows[] = {
	{"models", KEYED_ARRAY, .at = IN_SCRIPT(models)},
	{"key", KEYED_TEXT, .at = IN_SCRIPT(key)},
	{"then", KEYED_CHOICE, .at = IN_SCRIPT(then), .words = then_words},
	{"replies", KEYED_BY, .required = true, .read = read_replies},
};
static const struct keyed_table script_table = KEYED_TABLE(script_rows);

int llm_script_parse(struct str text, const char *name, struct llm_script *out, struct error *err)
{
	struct keyed k = {
		.what = "script ", .name = name, .text = text, .arena = &out->arena, .err = err};

	*out = (struct llm_script){.count = 0};
	return keyed_parse(&k) || keyed_read(&k, text_trim(text), &script_table, out) ? -1 : 0;
}

int llm_script_read(const char *path, struct llm_script *out, struct error *err)
{
	AUTO_BUF text = BUF(SCRIPT_MAX);

	*out = (struct llm_script){.count = 0};
	int failed = file_read("script", path, &text, err) ||
	             llm_script_parse(buf_view(&text), path, out, err);
	return failed ? -1 : 0;
}

void llm_script_release(struct llm_script *s)
{
	arena_release(&s->arena);
}

static bool matches(const struct llm_when *w, const struct scripted_request *a)
{
	return (!w->last.p || text_glob(w->last, a->last)) &&
	       (!w->model.p || str_eq(w->model, a->model)) &&
	       (!w->turn.given || w->turn.value == a->turn) &&
	       (!w->seed.given || (a->seed.given && w->seed.value == a->seed.value));
}

static const struct llm_reply *in_order(const struct llm_script *s, size_t which)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->replies[i].matched && which-- == 0)
			return &s->replies[i];
	return NULL;
}

static size_t count_ordered(const struct llm_script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += !s->replies[i].matched;
	return n;
}

const struct llm_reply *llm_script_choose(const struct llm_script *s,
                                          const struct scripted_request *a, size_t *next)
{
	size_t count = count_ordered(s), which;

	for (size_t i = 0; i < s->count; i++)
		if (s->replies[i].matched && matches(&s->replies[i].when, a))
			return &s->replies[i];
	which = (*next)++;
	if (count && which >= count && s->then != THEN_END)
		which = s->then == THEN_CYCLE ? which % count : count - 1;
	return in_order(s, which);
}
