/* Bodies of requests: see request.h. */
#include "policy/llm/request.h"

#include "json/write.h"
#include "policy/tool_set.h"

#include <stdio.h>

/* ---- tools ---- */

static void put_function(struct json_writer *w, struct str tool)
{
	struct str description = JSON_GET(tool, "description");
	struct str schema = tool_schema(tool);

	jw_pack(w, "{name:%r,description:%?r,parameters:%r}", JSON_GET(tool, "name"),
	        json_type(description) == JSON_STRING ? description : STR_NONE,
	        schema.p ? schema : STR("{\"type\":\"object\",\"properties\":{}}"));
}

static void put_tools(struct json_writer *w, struct str tools)
{
	struct str tool;

	jw_pack(w, "tools:[");
	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		jw_pack(w, "{type:'function'");
		jw_key(w, "function");
		put_function(w, tool);
		jw_end(w);
	}
	jw_end(w);
}

/* As text, one per line: {"name":..,"description":..,"parameters":..}. */
static void describe_tools(struct str tools, struct buf *out)
{
	struct json_writer w;
	struct str tool;

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		jw_init(&w, out);
		put_function(&w, tool);
		buf_char(out, '\n');
	}
}

/* ---- the schema of a reply in tool mode json ---- */

static void put_call_schema(struct json_writer *w, struct str tool)
{
	struct str schema = tool_schema(tool);

	jw_pack(w,
	        "{type:'object',properties:{name:{const:%r},arguments:%r},"
	        "required:['name','arguments'],additionalProperties:false}",
	        JSON_GET(tool, "name"), schema.p ? schema : STR("{\"type\":\"object\"}"));
}

static void put_reply_schema(struct json_writer *w, struct str tools)
{
	bool several = json_count(tools) != 1;
	struct str tool;

	jw_pack(w, several ? "{oneOf:[" : "");
	for (size_t cursor = 0; json_next(tools, &cursor, &tool);)
		put_call_schema(w, tool);
	jw_pack(w, several ? "]}" : "");
}

static void put_response_format(struct json_writer *w, enum schema_form form, struct str tools)
{
	if (form == SCHEMA_UNSUPPORTED)
		return;
	jw_pack(w, "response_format:{");
	if (form == SCHEMA_JSON_OBJECT) {
		jw_pack(w, "type:'json_object'");
		jw_key(w, "schema");
		put_reply_schema(w, tools);
	} else {
		jw_pack(w, "type:'json_schema',json_schema:{name:'tool_call'");
		jw_key(w, "schema");
		put_reply_schema(w, tools);
		jw_end(w);
	}
	jw_end(w);
}

/* ---- parameters ---- */

/* Added to a seed per turn: more than the number of samples in a group, and small enough for
   servers with 32-bit seeds. */
#define SEEDS_A_TURN 65536

static int64_t seed_plus(int64_t seed, int64_t more)
{
	return (int64_t)(((uint64_t)seed + (uint64_t)more) & INT64_MAX);
}

/* A seed is given for the whole group, whose rollouts would then be equal: the sample number is
   added. A negative seed means "random" for some servers. */
static int64_t seed_of(const struct llm_conf *c, int64_t sample)
{
	int64_t seed = -1;

	if (!llm_conf_sends(c, "seed") || !json_i64(JSON_GET(c->asked, "seed"), &seed) || seed < 0)
		return -1;
	return seed_plus(seed, sample);
}

void chat_request_turn(struct chat_request *r, int64_t turn)
{
	if (r->seed >= 0) {
		int n = snprintf(r->seed_text, sizeof(r->seed_text), "%lld",
		                 (long long)seed_plus(r->seed, turn * SEEDS_A_TURN));

		r->turn_seed = (struct str){r->seed_text, (size_t)n};
	}
}

static void put_parameter(struct json_writer *w, const struct llm_conf *c,
                          const struct json_member *m, struct str seed)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	struct str value = m->value;

	buf_str(&name, m->key);
	if (llm_conf_sends(c, buf_cstr(&name))) {
		bool limit = str_is(m->key, "max_tokens");

		if (str_is(m->key, "seed") && seed.p)
			value = seed;
		jw_put_raw(w, limit ? c->profile->max_tokens : buf_cstr(&name), value);
	}
}

/* Requests token ids and log-probs if supported. The number of alternatives is sent too, because
   some servers return no log-probs without it. */
static void ask_for_tokens(struct json_writer *w, const struct llm_conf *c)
{
	if (llm_conf_sends(c, "logprobs") && !JSON_GET(c->asked, "logprobs").p)
		jw_pack(w, "logprobs:true");
	if (llm_conf_sends(c, "top_logprobs") && !JSON_GET(c->asked, "top_logprobs").p)
		jw_pack(w, "top_logprobs:1");
}

static void write_sent(struct chat_request *r, const struct llm_conf *c, struct str tools)
{
	struct json_member m;

	struct json_writer w = jw_begin(&r->sent);
	for (size_t cursor = 0; json_next_member(c->asked, &cursor, &m);)
		put_parameter(&w, c, &m, r->turn_seed);
	/* some servers reject it without tools */
	if (c->tool_mode == TOOLS_NATIVE && json_count(tools) && llm_conf_sends(c, "tool_choice") &&
	    !JSON_GET(c->asked, "tool_choice").p) {
		jw_pack(&w, "tool_choice:'auto'");
	}
	if (c->tokens)
		ask_for_tokens(&w, c);
	if (c->stream)
		jw_pack(&w, "stream:true");
	if (c->stream && llm_conf_sends(c, "stream_options"))
		jw_pack(&w, "stream_options:{include_usage:true}");
	jw_end(&w);
}

/* Appends the members of a raw JSON object, except two that change per request. */
static void add_members(struct buf *out, struct str object, const char *but, const char *nor)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		if ((but && str_is(m.key, but)) || (nor && str_is(m.key, nor)))
			continue;
		buf_text(out, ",\"");
		buf_str(out, m.key);
		buf_text(out, "\":");
		buf_str(out, m.value);
	}
}

void chat_request_init(struct chat_request *r, const struct llm_conf *c, struct str tools,
                       int64_t sample)
{

	r->fixed = r->sent = BUF(BUF_MAX_MESSAGE);
	r->seed = seed_of(c, sample);
	r->turn_seed = STR_NONE;
	chat_request_turn(r, 0);
	write_sent(r, c, tools);
	struct json_writer w = jw_form(&r->fixed, "{model:%t", c->model);
	if (c->tool_mode == TOOLS_NATIVE && json_count(tools))
		put_tools(&w, tools); /* some servers reject an empty list */
	if (c->tool_mode == TOOLS_JSON)
		put_response_format(&w, c->profile->schema, tools);
	jw_end(&w);
	buf_cut(&r->fixed, r->fixed.n - 1);
	add_members(&r->fixed, buf_view(&r->sent), c->profile->max_tokens,
	            r->turn_seed.p ? "seed" : NULL);
	if (c->tokens && c->profile->tokens) {
		buf_char(&r->fixed, ',');
		buf_text(&r->fixed, c->profile->tokens);
	}
	add_members(&r->fixed, c->extra, NULL, NULL);
	r->limit_name = c->profile->max_tokens;
	r->limit = json_get(buf_view(&r->sent), str_from(r->limit_name));
}

void chat_request_limit(struct chat_request *r, uint64_t tokens)
{
	int n = snprintf(r->limit_text, sizeof(r->limit_text), "%llu", (unsigned long long)tokens);

	r->limit = (struct str){r->limit_text, (size_t)n};
}

void chat_request_release(struct chat_request *r)
{
	BUFS_RELEASE(&r->fixed, &r->sent);
}

void chat_request_write(const struct chat_request *r, struct str messages, struct buf *out)
{
	buf_set(out, buf_view(&r->fixed));
	if (r->limit.p) {
		buf_printf(out, ",\"%s\":", r->limit_name);
		buf_str(out, r->limit);
	}
	if (r->turn_seed.p) {
		buf_text(out, ",\"seed\":");
		buf_str(out, r->turn_seed);
	}
	buf_text(out, ",\"messages\":[");
	buf_str(out, messages);
	buf_text(out, "]}");
}

/* ---- the first messages ---- */

#define NOTHING_TO_SAY "Begin."

static const char *const how_to_call[] = {
	[TOOLS_NATIVE] = NULL,
	[TOOLS_JSON] = "\n"
		       "\n"
		       "Answer with one JSON object and nothing else: {\"name\": the tool's name, "
		       "\"arguments\": an object that fits its parameters}. The tools:\n",
	[TOOLS_TEXT] = "\n"
		       "\n"
		       "To call a tool write\n"
		       "<tool_call>\n"
		       "{\"name\": the tool's name, \"arguments\": an object that fits its "
		       "parameters}\n"
		       "</tool_call>\n"
		       "The result follows in <tool_response></tool_response>. The tools:\n",
};

/* Models without a tool template get the tools as text, and often accept no system message
   either. */
static void write_prompts(const struct llm_conf *c, struct str tools, const struct prompt_values *v,
                          struct buf *system, struct buf *user)
{
	if (c->system)
		prompt_fill(c->system, v, system);
	prompt_fill(c->user, v, user);
	if (!user->n)
		buf_text(user, NOTHING_TO_SAY); /* some servers reject an empty message */
	if (how_to_call[c->tool_mode]) {
		buf_text(system, how_to_call[c->tool_mode]);
		describe_tools(tools, system);
	}
	if (c->tool_mode != TOOLS_NATIVE) {
		buf_text(system, "\n");
		buf_str(system, buf_view(user));
		buf_set(user, buf_view(system));
		buf_clear(system);
	}
}

void chat_prompts(const struct llm_conf *c, struct str tools, const struct prompt_values *v,
                  struct conversation *to)
{
	AUTO_BUF system = BUF(BUF_MAX_MESSAGE), user = BUF(BUF_MAX_MESSAGE);

	write_prompts(c, tools, v, &system, &user);
	if (system.n)
		conversation_add_text(to, "system", buf_view(&system));
	conversation_add_text(to, "user", buf_view(&user));
}
