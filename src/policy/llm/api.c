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

bool api_accepts(const struct api *a, const char *parameter)
{
	size_t n = strlen(parameter);

	for (const char *at = a->refuses; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, parameter, n) == 0 && (at[n] == ',' || at[n] == '\0')) {
			return false;
		}
	}
	return true;
}

/* ---- chunks ---- */

static void begin(struct json_writer *w, struct buf *out)
{
	buf_clear(out);
	jw_init(w, out);
	jw_object(w);
	jw_key(w, "choices");
	jw_array(w);
	jw_object(w);
	jw_key(w, "index");
	jw_i64(w, 0);
	jw_key(w, "delta");
	jw_object(w);
}

void api_chunk(const char *key, struct str value, struct buf *out)
{
	struct json_writer w;

	begin(&w, out);
	jw_key(&w, key);
	jw_raw(&w, value);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
}

void api_chunk_call(const struct api_call_piece *c, struct buf *out)
{
	struct json_writer w;

	begin(&w, out);
	jw_key(&w, "tool_calls");
	jw_array(&w);
	jw_object(&w);
	jw_key(&w, "index");
	jw_i64(&w, c->index);
	api_put(&w, "id", c->id);
	jw_key(&w, "function");
	jw_object(&w);
	api_put(&w, "name", c->name);
	api_put(&w, "arguments", c->arguments);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
}

void api_chunk_end(const char *finish_reason, const struct api_usage *u, struct buf *out)
{
	struct json_writer w;

	begin(&w, out);
	jw_end(&w);
	jw_key(&w, "finish_reason");
	jw_text(&w, finish_reason);
	jw_end(&w);
	jw_end(&w);
	api_put_usage(&w, u);
	jw_end(&w);
}

/* ---- requests ---- */

void api_put_list(struct json_writer *w, const char *key, struct str list,
                  void (*put)(struct json_writer *w, struct str element))
{
	struct str each;

	jw_key(w, key);
	jw_array(w);
	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		put(w, each);
	}
	jw_end(w);
}

void api_put_function(struct json_writer *w, struct str tool, const char *schema_key)
{
	struct str function = JSON_GET(tool, "function");

	api_put(w, "name", JSON_GET(function, "name"));
	api_put(w, "description", JSON_GET(function, "description"));
	api_put(w, schema_key, JSON_GET(function, "parameters"));
}

bool api_is_limit(struct str key)
{
	return str_is(key, "max_tokens") || str_is(key, "max_completion_tokens");
}

/* ---- replies ---- */

bool api_is_type(struct str value, const char *type)
{
	return json_is(JSON_GET(value, "type"), str_from(type));
}

void api_begin_reply(struct json_writer *w, struct str body, struct buf *out)
{
	buf_clear(out);
	jw_init(w, out);
	jw_object(w);
	api_put(w, "model", JSON_GET(body, "model"));
	jw_key(w, "choices");
	jw_array(w);
	jw_object(w);
	jw_key(w, "message");
	jw_object(w);
}

void api_put_text(struct json_writer *w, const char *key, bool any, const struct buf *text)
{
	if (any) {
		jw_key(w, key);
		jw_str(w, buf_view(text));
	}
}

/* ---- members ---- */

void api_put(struct json_writer *w, const char *key, struct str raw)
{
	if (raw.p) {
		jw_key(w, key);
		jw_raw(w, raw);
	}
}

void api_put_usage(struct json_writer *w, const struct api_usage *u)
{
	if (!u->known) {
		return;
	}
	jw_key(w, "usage");
	jw_object(w);
	jw_key(w, "prompt_tokens");
	jw_i64(w, u->prompt);
	jw_key(w, "completion_tokens");
	jw_i64(w, u->completion);
	jw_key(w, "total_tokens");
	jw_i64(w, u->prompt + u->completion);
	if (u->cached) {
		jw_key(w, "prompt_tokens_details");
		jw_object(w);
		jw_key(w, "cached_tokens");
		jw_i64(w, u->cached);
		jw_end(w);
	}
	jw_end(w);
}

void api_put_call(struct json_writer *w, struct str id, struct str name, struct str arguments)
{
	jw_object(w);
	api_put(w, "id", id);
	jw_key(w, "type");
	jw_text(w, "function");
	jw_key(w, "function");
	jw_object(w);
	api_put(w, "name", name);
	api_put(w, "arguments", arguments);
	jw_end(w);
	jw_end(w);
}
