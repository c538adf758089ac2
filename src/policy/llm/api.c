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

void api_end(struct chat_stream *s, const char *finish_reason, const struct api_usage *u)
{
	buf_set(&s->finish_reason, str_from(finish_reason));
	if (!u->known)
		return;
	buf_clear(&s->usage);
	struct json_writer w =
		jw_form(&s->usage, "{prompt_tokens:%i,completion_tokens:%i,total_tokens:%i",
	                u->prompt, u->completion, u->prompt + u->completion);
	if (u->cached)
		jw_pack(&w, "prompt_tokens_details:{cached_tokens:%i}", u->cached);
	jw_end(&w);
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
