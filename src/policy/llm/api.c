/* The table of APIs, and chunks of chat completions for their adapters: see api.h. */
#include "policy/llm/api.h"

#include "policy/llm/api_internal.h"

const struct api apis[] = {
#define API(id, ...) {__VA_ARGS__},
#include "policy/llm/apis.def"
#undef API
};

const char *const api_names[] = {
#define API(id, name, ...) name,
#include "policy/llm/apis.def"
#undef API
	NULL,
};

const char api_bars[] =
#define API(id, name, ...) "|" name
#include "policy/llm/apis.def"
#undef API
	;

/* Is the word in the comma-separated list? */
static bool is_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
			return true;
	}
	return false;
}

bool api_accepts(const struct api *a, const char *parameter)
{
	return !is_listed(a->refuses, parameter);
}

void api_chunk(const char *key, struct str value, struct buf *out)
{

	buf_clear(out);
	struct json_writer w = jw_form(out, "{choices:[{index:0,delta:{");
	jw_put_raw(&w, key, value);
	jw_pack(&w, "}}]}");
}

void api_chunk_call(const struct api_call_piece *c, struct buf *out)
{
	buf_clear(out);
	json_pack(out,
	          "{choices:[{index:0,delta:{tool_calls:[{index:%i,id:%?r,"
	          "function:{name:%?r,arguments:%?r}}]}}]}",
	          c->index, c->id, c->name, c->arguments);
}

void api_chunk_end(const char *finish_reason, const struct api_usage *u, struct buf *out)
{

	buf_clear(out);
	struct json_writer w =
		jw_form(out, "{choices:[{index:0,delta:{},finish_reason:%t}]", finish_reason);
	api_put_usage(&w, u);
	jw_end(&w);
}

void api_put_list(struct json_writer *w, const char *key, struct str list,
                  void (*put)(struct json_writer *w, struct str element))
{
	struct str each;

	jw_put_array(w, key);
	for (size_t cursor = 0; json_next(list, &cursor, &each);)
		put(w, each);
	jw_end(w);
}

bool api_is_limit(struct str key)
{
	return str_is(key, "max_tokens") || str_is(key, "max_completion_tokens");
}

bool api_is_type(struct str value, const char *type)
{
	return json_is(JSON_GET(value, "type"), str_from(type));
}

void api_put_usage(struct json_writer *w, const struct api_usage *u)
{
	if (!u->known)
		return;
	jw_pack(w, "usage:{prompt_tokens:%i,completion_tokens:%i,total_tokens:%i", u->prompt,
	        u->completion, u->prompt + u->completion);
	if (u->cached)
		jw_pack(w, "prompt_tokens_details:{cached_tokens:%i}", u->cached);
	jw_end(w);
}

void api_put_call(struct json_writer *w, struct str id, struct str name, struct str arguments)
{
	jw_pack(w, "{id:%?r,type:'function',function:{name:%?r,arguments:%?r}}", id, name,
	        arguments);
}

const struct profile profiles[] = {
#define PROFILE(...) {__VA_ARGS__},
#include "policy/llm/profiles.def"
#undef PROFILE
};
const size_t profiles_count = ARRAY_LEN(profiles);

const char *const profile_names[] = {
#define PROFILE(name, ...) name,
#include "policy/llm/profiles.def"
#undef PROFILE
	NULL,
};

const char profile_bars[] =
#define PROFILE(name, ...) "|" name
#include "policy/llm/profiles.def"
#undef PROFILE
	;

bool profile_accepts(const struct profile *p, const char *field)
{
	return is_listed(p->accepts, field);
}
