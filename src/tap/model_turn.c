/* Turns of models: see model_turn.h. */
#define _GNU_SOURCE /* memmem */
#include "tap/model_turn.h"

#include "base/map.h"
#include "base/text.h"

#include <stdlib.h>

/* The reply as a message of a conversation, as the next request is expected to have it. */
static void put_reply(const struct chat_reply *r, struct buf *out)
{
	struct json_writer w;

	jw_init(&w, out);
	jw_pack(&w, "{role:'assistant',content:%s", r->content);
	if (r->call_count)
		jw_put_array(&w, "tool_calls");
	for (size_t i = 0; i < r->call_count; i++) {
		const struct chat_call *c = &r->calls[i];

		jw_pack(&w, "{id:%s,type:'function',function:{name:%s,arguments:%s}}",
		        c->id.p ? c->id : STR(""), c->name.p ? c->name : STR(""),
		        c->arguments.p ? c->arguments : STR(""));
	}
	if (r->call_count)
		jw_end(&w);
	jw_end(&w);
}

static void chain_message(struct model_turn *t)
{
	const struct chat_reply *r = &t->reply;
	struct str text = text_trim(r->content);
	struct buf unit = BUF(BUF_MAX_MESSAGE);

	if (text.n) {
		t->after = model_chain_on(t->after, 'a', text);
		t->length++;
	}
	for (size_t i = 0; i < r->call_count; i++) {
		model_put_call_unit(r->calls[i].id, r->calls[i].name, r->calls[i].arguments, &unit);
		t->after = model_chain_on(t->after, 'c', buf_view(&unit));
		t->length++;
	}
	t->almost = t->after;
	buf_clear(&unit);
	put_reply(r, &unit);
	t->message = unit.full ? STR_NONE : arena_str(&t->arena, buf_view(&unit));
	buf_release(&unit);
}

static void chain_text(struct model_turn *t)
{
	struct str id;

	t->almost = t->after;
	for (size_t cursor = 0; json_next(t->reply.token_ids, &cursor, &id);) {
		t->almost = t->after;
		t->after = model_next_token(t->after, id);
		t->length++;
	}
	for (size_t i = 0; !t->reply.token_ids.p && i < t->reply.content.n; i++) {
		t->almost = t->after;
		t->after = map_hash_with(t->after, (unsigned char)t->reply.content.p[i]);
		t->length++;
	}
}

/* A request of tokens or text does not say which tools there are: those that the reply names, as
   "name": "TOOL". */
static struct str named_tools(struct arena *a, struct str text)
{
	static const char key[] = "\"name\"";
	struct buf list = BUF(BUF_MAX_SMALL);

	buf_char(&list, '[');
	for (struct str rest = text; rest.n;) {
		const char *at = memmem(rest.p, rest.n, key, sizeof(key) - 1);
		struct json_fault fault;
		size_t used;

		if (!at)
			break;
		rest = str_skip(rest, (size_t)(at - rest.p) + sizeof(key) - 1);
		rest = str_skip(rest, (size_t)(text_trim(rest).p - rest.p));
		struct str value = str_starts(rest, STR(":")) ? str_skip(rest, 1) : STR("");
		if (json_validate_first(value, &used, &fault) == 0) {
			value = text_trim((struct str){value.p, used});
			if (json_type(value) == JSON_STRING) {
				buf_printf(&list, "%s{\"name\":%.*s,\"inputSchema\":{}}",
				           list.n > 1 ? "," : "", STR_ARG(value));
			}
		}
	}
	buf_char(&list, ']');
	struct str tools = list.n > 2 && !list.full ? arena_str(a, buf_view(&list)) : STR_NONE;
	buf_release(&list);
	return tools;
}

struct model_turn *model_turn_new(const struct model_request *q, size_t prompt,
                                  struct chat_reply *reply)
{
	struct model_turn *t = mem_new(sizeof(*t));
	struct tap_prompt *p = q->prompts[prompt < q->prompt_count ? prompt : 0];

	t->prompt = p;
	p->uses++;
	t->reply = *reply;
	*reply = (struct chat_reply){.calls = NULL};
	t->model = arena_str(&t->arena, q->model);
	t->tools = arena_str(&t->arena, q->tools);
	t->sent = arena_str(&t->arena, q->sent);
	t->seed = arena_str(&t->arena, q->seed);
	t->rollout = arena_str(&t->arena, q->rollout);
	t->rung = q->rung;
	t->weak = q->weak;
	t->after = t->almost = p->chain[p->units];
	t->length = p->units;
	if (p->is_text)
		chain_text(t);
	else
		chain_message(t);
	bool bare = p->is_text && !t->tools.p;
	struct calls_conf conf = {.tools = bare ? named_tools(&t->arena, t->reply.content)
	                                        : t->tools,
	                          .mode = TOOLS_NATIVE,
	                          .repair = true};
	calls_read(&conf, &t->reply, &t->arena, &t->calls);
	return t;
}

void model_turn_free(struct model_turn *t)
{
	if (t) {
		model_release_prompt(t->prompt);
		chat_reply_release(&t->reply);
		arena_release(&t->arena);
		free(t);
	}
}

void model_turn_put_messages(const struct model_turn *t, size_t from, struct buf *out)
{
	const struct tap_prompt *p = t->prompt;

	for (size_t i = 0; i < p->count; i++) {
		if (p->begins[i] >= from) {
			buf_text(out, out->n ? "," : "");
			buf_str(out, p->messages[i]);
		}
	}
}
