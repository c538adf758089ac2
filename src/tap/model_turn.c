/* Turns of models: see model_turn.h. */
#define _GNU_SOURCE /* memmem */
#include "tap/model_turn.h"

#include "base/map.h"
#include "base/text.h"
#include "json/canon.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the text of a prompt ---- */

struct building {
	struct arena *arena; /* of the request */
	struct tap_prompt *p;
	struct buf text;
};

/* Appends a text of a conversation, or the result of a call. */
static void put_text(char role, struct str text, struct buf *out)
{
	buf_char(out, role);
	buf_str(out, text);
	buf_char(out, '\0');
}

static void put_call(struct str id, struct str name, struct str arguments, struct buf *out)
{
	buf_char(out, 'c');
	buf_str(out, id);
	buf_char(out, '\n');
	buf_str(out, name);
	buf_char(out, '\n');
	if (json_is_valid(arguments))
		json_canon(text_trim(arguments), NULL, JSON_EDIT_DROP, out);
	else
		buf_str(out, arguments);
	buf_char(out, '\0');
}

/* Token ids. Returns where the last one begins. */
static size_t put_tokens(struct str ids, struct buf *out)
{
	size_t last = out->n;
	struct str id;

	for (size_t cursor = 0; json_next(ids, &cursor, &id);) {
		last = out->n;
		buf_str(out, id);
		buf_char(out, ',');
	}
	return last;
}

static void add_call(struct building *b, struct str call)
{
	AUTO_ARENA a = {0};
	struct str function = JSON_GET(call, "function");
	struct str arguments = JSON_GET(function, "arguments");

	put_call(json_text(&a, JSON_GET(call, "id")), json_text(&a, JSON_GET(function, "name")),
	         json_type(arguments) == JSON_STRING ? json_text(&a, arguments) : arguments,
	         &b->text);
}

static void add_content(struct building *b, struct str role, struct str content)
{
	bool result = json_is(role, STR("tool"));
	AUTO_BUF decoded = BUF(BUF_MAX_MESSAGE);

	(void)chat_content(content, &decoded);
	struct str text = text_trim(buf_view(&decoded)), word = json_inner(role);
	if (result) {
		b->p->results++;
		b->p->result = arena_str(b->arena, text);
	}
	if (text.n || result)
		put_text(word.p && word.n ? word.p[0] : '-', text, &b->text);
}

/* ---- conversations, as messages of chat completions ---- */

static void add_message(struct building *b, struct str message)
{
	struct tap_prompt *p = b->p;
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct str call;

	if (json_type(message) != JSON_OBJECT)
		return;
	json_minify(message, &text);
	message = buf_keep(&text, b->arena);
	p->messages = arena_grow(b->arena, p->messages, p->count, sizeof(*p->messages));
	p->begins = arena_grow(b->arena, p->begins, p->count, sizeof(*p->begins));
	p->messages[p->count] = message;
	p->begins[p->count++] = b->text.n;
	add_content(b, JSON_GET(message, "role"), JSON_GET(message, "content"));
	for (size_t cursor = 0; json_next(JSON_GET(message, "tool_calls"), &cursor, &call);)
		add_call(b, call);
}

/* {"role":ROLE,"content":CONTENT}, and for a result the id of its call. */
static void add_made(struct building *b, struct str role, struct str content, struct str id)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	if (json_is_null(content))
		return;
	json_pack(&text, "{role:%r,tool_call_id:%?r,content:%r}", role, id, content);
	add_message(b, buf_view(&text));
}

/* arguments: a raw JSON string. */
static void add_made_call(struct building *b, struct str id, struct str name, struct str arguments)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	json_pack(
		&text,
		"{role:'assistant',content:null,tool_calls:[{id:%r,type:'function',function:{name:%r,"
		"arguments:%r}}]}",
		id, name, arguments);
	add_message(b, buf_view(&text));
}

static void add_item(struct building *b, struct str item)
{
	struct str type = JSON_GET(item, "type");

	if (json_is(type, STR("function_call"))) {
		add_made_call(b, JSON_GET(item, "call_id"), JSON_GET(item, "name"),
		              JSON_GET(item, "arguments"));
	} else if (json_is(type, STR("function_call_output"))) {
		add_made(b, STR("\"tool\""), JSON_GET(item, "output"), JSON_GET(item, "call_id"));
	} else if (JSON_GET(item, "role").p) {
		add_made(b, JSON_GET(item, "role"), JSON_GET(item, "content"), STR_NONE);
	}
}

static void add_block(struct building *b, struct str role, struct str block)
{
	struct str type = JSON_GET(block, "type");
	AUTO_BUF quoted = BUF(BUF_MAX_MESSAGE);

	if (json_is(type, STR("tool_use"))) {
		json_quote(&quoted, JSON_GET(block, "input"));
		add_made_call(b, JSON_GET(block, "id"), JSON_GET(block, "name"), buf_view(&quoted));
	} else if (json_is(type, STR("tool_result"))) {
		add_made(b, STR("\"tool\""), JSON_GET(block, "content"),
		         JSON_GET(block, "tool_use_id"));
	} else if (json_is(type, STR("text"))) {
		add_made(b, role, JSON_GET(block, "text"), STR_NONE);
	}
}

static void add_conversation(struct building *b, enum api_id api, struct str body)
{
	bool items = api == API_RESPONSES;
	struct str list = items ? JSON_GET(body, "input") : JSON_GET(body, "messages"), one, block;

	add_made(b, STR("\"system\""),
	         items ? JSON_GET(body, "instructions") : JSON_GET(body, "system"), STR_NONE);
	if (json_type(list) == JSON_STRING)
		add_made(b, STR("\"user\""), list, STR_NONE);
	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		struct str content = JSON_GET(one, "content");

		if (api == API_RESPONSES)
			add_item(b, one);
		else if (api == API_ANTHROPIC && json_type(content) == JSON_ARRAY)
			for (size_t at = 0; json_next(content, &at, &block);)
				add_block(b, JSON_GET(one, "role"), block);
		else
			add_message(b, one);
	}
}

/* ---- prompts ---- */

static void begin_prompt(struct model_request *q, struct building *b)
{
	q->prompts = arena_grow(&q->arena, q->prompts, q->prompt_count, sizeof(*q->prompts));
	*b = (struct building){.arena = &q->arena,
	                       .p = &q->prompts[q->prompt_count++],
	                       .text = BUF(BUF_MAX_MESSAGE)};
	*b->p = (struct tap_prompt){.is_text = !q->api};
}

/* A text, or a list of token ids. */
static void add_prompt(struct model_request *q, struct str prompt)
{
	struct building b;

	begin_prompt(q, &b);
	put_tokens(prompt, &b.text);
	if (json_type(prompt) == JSON_STRING)
		json_decode(prompt, &b.text);
	b.p->text = buf_keep(&b.text, b.arena);
}

static void read_prompts(struct model_request *q, struct str body)
{
	struct str prompt = JSON_GET(body, "prompt"), first = json_first(prompt), one;
	struct building b;

	if (q->api) {
		begin_prompt(q, &b);
		add_conversation(&b, (enum api_id)(q->api - apis), body);
		b.p->text = buf_keep(&b.text, b.arena);
	} else if (first.p && json_type(first) != JSON_NUMBER) {
		for (size_t cursor = 0; json_next(prompt, &cursor, &one);)
			add_prompt(q, one);
	} else if (prompt.p) {
		add_prompt(q, prompt);
	}
}

/* ---- requests ---- */

/* False: it is the path of no request for a completion. *api NULL: completions. */
static bool api_of(struct str path, const struct api **api)
{
	for (size_t i = 0; api_names[i]; i++) {
		*api = &apis[i];
		if (str_ends(path, str_from(apis[i].path)))
			return true;
	}
	*api = NULL;
	return str_ends(path, STR("/completions"));
}

/* The part of the path that names the rollout, in the forms that gateways use. */
static struct str rollout_in_path(struct str path, bool *weak)
{
	static const char *const before[] = {"/r/", "/ng-rollout/", "/sessions/", "/rollout/",
	                                     "/proxy/rollout/"};
	struct str rest = STR_NONE;

	*weak = false;
	for (size_t i = 0; i < ARRAY_LEN(before) && !rest.p; i++)
		if (str_starts(path, str_from(before[i])))
			rest = str_skip(path, strlen(before[i]));
	if (!rest.p && path.n > 1) {
		*weak = true; /* "/ID/v1": may also be where the server is mounted */
		rest = str_skip(path, 1);
	}
	const char *end = rest.n ? memchr(rest.p, '/', rest.n) : NULL;
	struct str id = end ? (struct str){rest.p, (size_t)(end - rest.p)} : STR_NONE;
	bool named = id.n && (!*weak || str_starts(str_skip(rest, id.n), STR("/v1/")));
	return named && !str_is(id, "v1") ? id : STR_NONE;
}

bool model_is_completion(struct str path)
{
	const struct api *api;

	return api_of(path, &api);
}

bool model_owns_path(struct str path)
{
	bool weak;

	return model_is_completion(path) || str_starts(path, STR("/v1/")) ||
	       (rollout_in_path(path, &weak).p && !weak);
}

static struct str tools_of(struct arena *a, struct str list)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct str tool;

	if (json_count(list) == 0)
		return STR_NONE;
	struct json_writer w = jw_form(&text, "[");
	for (size_t cursor = 0; json_next(list, &cursor, &tool);) {
		struct str f = JSON_GET(tool, "function");

		f = json_type(f) == JSON_OBJECT ? f : tool;
		struct str schema = JSON_GET(f, "parameters");
		schema = schema.p ? schema : JSON_GET(f, "input_schema");
		if (json_type(JSON_GET(f, "name")) != JSON_STRING)
			continue;
		jw_pack(&w, "{name:%r,description:%r,inputSchema:%r}", JSON_GET(f, "name"),
		        JSON_GET(f, "description"), schema.p ? schema : STR("{}"));
	}
	jw_end(&w);
	return buf_keep(&text, a);
}

static struct str sent_of(struct arena *a, struct str body)
{
	static const char *const names[] = {"temperature",
	                                    "top_p",
	                                    "top_k",
	                                    "min_p",
	                                    "frequency_penalty",
	                                    "presence_penalty",
	                                    "repetition_penalty",
	                                    "max_tokens",
	                                    "max_completion_tokens",
	                                    "max_output_tokens",
	                                    "stop",
	                                    "tool_choice",
	                                    "seed"};
	struct buf text = BUF(BUF_MAX_SMALL);

	struct json_writer w = jw_begin(&text);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct str value = json_get(body, str_from(names[i]));

		if (!json_is_null(value))
			jw_put_raw(&w, names[i], value);
	}
	jw_end(&w);
	struct str sent = buf_keep(&text, a);
	return sent.n > 2 ? sent : STR_NONE;
}

static void name_rollout(struct model_request *q, const struct tap_head *h, struct str body)
{
	static const char *const fields[] = {"x-session-id", "proxy-x-session-id", "x-rollout-id"};
	static const char *const keys[] = {"authorization", "x-api-key"};
	struct str named = rollout_in_path(tap_path(h), &q->weak), key = STR_NONE;
	char hidden[24];

	q->rung = "path";
	if (named.p && !q->weak) {
		q->rollout = arena_str(&q->arena, named);
		return;
	}
	struct str mounted = named;
	named = STR_NONE;
	for (size_t i = 0; i < ARRAY_LEN(fields) && !named.n; i++)
		named = tap_header(h, fields[i]);
	for (size_t i = 0; i < ARRAY_LEN(keys) && !key.n; i++)
		key = tap_header(h, keys[i]);
	struct str inside = JSON_GET(body, "_session_id");
	inside = inside.p ? inside : JSON_GET(body, "session_id");
	if (named.n || json_type(inside) == JSON_STRING) {
		q->weak = false;
		q->rung = "header";
		q->rollout = named.n ? arena_str(&q->arena, named) : json_text(&q->arena, inside);
	} else if (mounted.p) {
		q->rollout = arena_str(&q->arena, mounted);
	} else if (key.n) { /* a secret: only its hash is kept */
		q->weak = true;
		q->rung = "key";
		snprintf(hidden, sizeof(hidden), "%016llx", (unsigned long long)map_hash(key));
		q->rollout = arena_str(&q->arena, str_from(hidden));
	}
}

struct model_request *model_request_read(const struct tap_exchange *x)
{
	struct model_request *q = mem_new(sizeof(*q));
	struct str body = text_trim(x->request_body.bytes);

	*q = (struct model_request){.uses = 1, .number = x->id, .asked_ns = x->asked_ns};
	(void)api_of(tap_path(&x->request), &q->api);
	if (!x->request_body.cut && json_is_valid(body)) {
		q->tools = tools_of(&q->arena, JSON_GET(body, "tools"));
		q->sent = sent_of(&q->arena, body);
		q->seed = arena_str(&q->arena, JSON_GET(body, "seed"));
		q->model = arena_str(&q->arena, JSON_GET(body, "model"));
		name_rollout(q, &x->request, body);
		read_prompts(q, body);
	}
	if (q->prompt_count)
		return q;
	model_request_release(q);
	return NULL;
}

void model_request_release(struct model_request *q)
{
	if (q && --q->uses == 0) {
		arena_release(&q->arena);
		free(q);
	}
}

/* ---- turns ---- */

/* The reply as a message of a conversation, as the next request is expected to have it. */
static void put_reply(const struct chat_reply *r, struct buf *out)
{

	struct json_writer w = jw_form(out, "{role:'assistant',content:%s", r->content);
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

static void read_message(struct model_turn *t, struct buf *said)
{
	const struct chat_reply *r = &t->reply;
	struct str text = text_trim(r->content);
	AUTO_BUF message = BUF(BUF_MAX_MESSAGE);

	if (text.n)
		put_text('a', text, said);
	for (size_t i = 0; i < r->call_count; i++)
		put_call(r->calls[i].id, r->calls[i].name, r->calls[i].arguments, said);
	put_reply(r, &message);
	t->message = message.full ? STR_NONE : arena_str(&t->arena, buf_view(&message));
}

/* A request of tokens or text does not say which tools there are: those that the reply names, as
   "name": "TOOL". */
static struct str named_tools(struct arena *a, struct str text)
{
	static const char key[] = "\"name\"";
	AUTO_BUF list = BUF(BUF_MAX_SMALL);

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
	return list.n > 2 && !list.full ? arena_str(a, buf_view(&list)) : STR_NONE;
}

struct model_turn *model_turn_new(struct model_request *q, size_t prompt, struct chat_reply *reply)
{
	struct model_turn *t = mem_new(sizeof(*t));
	const struct tap_prompt *p = &q->prompts[prompt < q->prompt_count ? prompt : 0];
	struct buf said = BUF(BUF_MAX_MESSAGE);

	q->uses++;
	t->request = q;
	t->prompt = p;
	t->reply = *reply;
	*reply = (struct chat_reply){.calls = NULL};
	if (!p->is_text) {
		read_message(t, &said);
	} else if (t->reply.token_ids.p) {
		t->certain = put_tokens(t->reply.token_ids, &said);
	} else {
		buf_str(&said, t->reply.content);
		t->certain = said.n ? said.n - 1 : 0;
	}
	t->said = buf_keep(&said, &t->arena);
	bool bare = p->is_text && !q->tools.p;
	struct calls_conf conf = {.tools = bare ? named_tools(&t->arena, t->reply.content)
	                                        : q->tools,
	                          .mode = TOOLS_NATIVE,
	                          .repair = true};
	calls_read(&conf, &t->reply, &t->arena, &t->calls);
	return t;
}

void model_turn_free(struct model_turn *t)
{
	if (t) {
		model_request_release(t->request);
		chat_reply_release(&t->reply);
		arena_release(&t->arena);
		free(t);
	}
}

size_t model_turn_length(const struct model_turn *t)
{
	return t->prompt->text.n + t->said.n;
}

/* The reply is compared first: the prompts of one task begin alike. */
bool model_turn_precedes(const struct model_turn *t, const struct tap_prompt *p, bool whole)
{
	if (!t || !model_turn_length(t) || p->text.n <= t->prompt->text.n)
		return false;
	struct str said = {t->said.p, !whole ? 0 : p->is_text ? t->certain : t->said.n};
	return str_starts(str_skip(p->text, t->prompt->text.n), said) &&
	       str_starts(p->text, t->prompt->text);
}
