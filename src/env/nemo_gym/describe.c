/* What a resources server offers: its style, and the tools in its OpenAPI description. */
#include "env/nemo_gym/nemo_gym.h"

#include "base/log.h"
#include "base/names.h"
#include "json/write.h"

#define SCHEMAS "#/components/schemas/"

/* In the order in which they are looked for. */
const struct nemo_gym_style_words nemo_gym_styles[] = {
	[NEMO_GYM_TOOLS] = {"/seed_session", {"/seed_session", "/verify"}},
	[NEMO_GYM_STEPS] = {"/reset", {"/reset", "/step"}},
	[NEMO_GYM_NATIVE] = {"/seed_session", {"/seed_session", "/close_session"}},
};

static bool has_path(struct str paths, const char *path)
{
	return json_get(paths, str_from(path)).p != NULL;
}

/* -1 if it is none. Every resources server has /aggregate_metrics, at least by inheritance. */
static int style_of(struct str openapi)
{
	struct str paths = JSON_GET(openapi, "paths");
	static const enum nemo_gym_style order[] = {NEMO_GYM_NATIVE, NEMO_GYM_TOOLS,
	                                            NEMO_GYM_STEPS};

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		const struct nemo_gym_style_words *s = &nemo_gym_styles[order[i]];
		bool sure = order[i] != NEMO_GYM_STEPS || has_path(paths, "/aggregate_metrics");

		if (sure && has_path(paths, s->evidence[0]) && has_path(paths, s->evidence[1]))
			return (int)order[i];
	}
	return -1;
}

bool nemo_gym_answers(struct http_json *h)
{
	struct error err = {0};
	struct str openapi;
	int status;
	bool yes = !http_json_page(h, "/openapi.json", &status, &openapi, &err) &&
	           style_of(openapi) >= 0;

	if (yes)
		log_info("%s: NeMo Gym, because of the paths in its /openapi.json", h->conf->url);
	return yes;
}

/* ---- tools ---- */

static bool is_own_path(struct str path)
{
	static const char *const own[] = {"seed_session",  "verify", "aggregate_metrics",
	                                  "reset",         "step",   "close_session",
	                                  "reverify_mode", "mcp"};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (str_is(path, own[i]))
			return true;
	return !path.n || memchr(path.p, '/', path.n) || memchr(path.p, '{', path.n);
}

/* Adds the names of the schemas to which a schema refers. */
static void add_references(struct str schema, struct names *to, struct arena *texts)
{
	struct str text;

	for (size_t cursor = 0; json_next_string(schema, &cursor, &text);) {
		struct str name = str_skip(json_inner(text), strlen(SCHEMAS));
		bool known = !str_starts(json_inner(text), STR(SCHEMAS));

		for (size_t i = 0; i < to->count && !known; i++)
			known = str_is(name, to->text[i]);
		if (!known)
			names_add(to, arena_str(texts, name));
	}
}

/* The schema of a request's body, with the schemas it refers to under the same paths. */
static void write_schema(struct str operation, struct str components, struct buf *out)
{
	struct str content = JSON_GET(JSON_GET(operation, "requestBody"), "content");
	struct str schema = JSON_GET(JSON_GET(content, "application/json"), "schema");
	AUTO_NAMES used = {.count = 0};
	AUTO_ARENA texts = {0};

	add_references(schema, &used, &texts);
	if (used.count == 1 && JSON_GET(schema, "$ref").p) {
		schema = json_get(components, str_from(used.text[0]));
		used.count = 0;
		add_references(schema, &used, &texts);
	}
	for (size_t i = 0; i < used.count; i++) /* grows */
		add_references(json_get(components, str_from(used.text[i])), &used, &texts);
	struct json_writer w = jw_begin(out);
	jw_put_members(&w, schema);
	if (!JSON_GET(schema, "type").p)
		jw_put_text(&w, "type", "object");
	if (used.count) {
		jw_put_object(&w, "components");
		jw_put_object(&w, "schemas");
	}
	for (size_t i = 0; i < used.count; i++)
		jw_put_raw(&w, used.text[i], json_get(components, str_from(used.text[i])));
	while (w.depth)
		jw_end(&w);
}

static void write_tool(struct json_writer *w, struct str path, struct str operation,
                       struct str components)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL), schema = BUF(BUF_MAX_MESSAGE);
	struct str described = JSON_GET(operation, "description");

	json_quote(&name, path);
	write_schema(operation, components, &schema);
	http_env_put_tool(w, buf_view(&name),
	                  described.p ? described : JSON_GET(operation, "summary"),
	                  buf_view(&schema));
}

/* Each POST route that is not one of the framework's own. */
static void write_routes(struct buf *out, struct str openapi)
{
	struct str components = JSON_GET(JSON_GET(openapi, "components"), "schemas");
	struct json_member m;

	struct json_writer w = jw_form(out, "[");
	for (size_t cursor = 0; json_next_member(JSON_GET(openapi, "paths"), &cursor, &m);) {
		struct str post = JSON_GET(m.value, "post");

		if (post.p && !is_own_path(str_skip(m.key, 1)))
			write_tool(&w, str_skip(m.key, 1), post, components);
	}
	jw_end(&w);
}

/* The task's tools, as a model would get them. */
static void write_task_tools(struct json_writer *w, struct str tools)
{
	enum { NAME, DESCRIPTION, PARAMETERS, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("name"), STR_INIT("description"),
	                                       STR_INIT("parameters")};
	struct str tool[COUNT];

	for (size_t cursor = 0; json_next_picked(tools, &cursor, keys, COUNT, tool);)
		if (json_type(tool[NAME]) == JSON_STRING)
			http_env_put_tool(w, tool[NAME], tool[DESCRIPTION], tool[PARAMETERS]);
}

static void write_tools(struct env_nemo_gym *e)
{
	struct str params = JSON_GET(e->http.conf->reset_args, "responses_create_params");
	struct str tools = JSON_GET(params, "tools");

	if (!json_count(tools) && e->style != NEMO_GYM_STEPS) {
		buf_set(&e->http.tools, buf_view(&e->served));
		return;
	}
	struct json_writer w = jw_form(&e->http.tools, "[");
	if (json_count(tools)) {
		write_task_tools(&w, tools);
	} else {
		http_env_put_tool(&w, STR("\"step\""),
		                  STR("\"One step of the environment; the text is what a model "
		                      "says.\""),
		                  STR("{\"type\":\"object\",\"properties\":{\"text\":{\"type\":"
		                      "\"string\"}},\"required\":[\"text\"]}"));
	}
	jw_end(&w);
}

int nemo_gym_describe(struct env_nemo_gym *e, struct env_reply *refusal, struct error *err)
{
	struct http_json_answer a = {0};
	struct str openapi, title;

	if (http_json_page(&e->http.http, "/openapi.json", &a.status, &openapi, err))
		return -1;
	if (!a.status)
		return error_set(err, FAIL_TRANSPORT, "%s", buf_cstr(&e->http.http.why));
	if (a.status == 401 || a.status == 403 || a.status >= 500) {
		nemo_gym_read_other(&a, &e->http.reading, refusal);
		return 0;
	}
	int style = style_of(openapi);
	if (style < 0) {
		return error_set(
			err, FAIL_PROTOCOL,
			"%s: not a resources server of NeMo Gym: /openapi.json has "
			"neither /seed_session and /verify nor /reset, /step and /aggregate_metrics",
			buf_cstr(&e->http.http.base));
	}
	e->style = (enum nemo_gym_style)style;
	title = JSON_GET(JSON_GET(openapi, "info"), "title");
	if (json_is(title, STR("FastAPI")) || json_type(title) != JSON_STRING)
		buf_text(&e->http.name, "nemo-gym");
	else
		json_decode(title, &e->http.name);
	write_routes(&e->served, openapi);
	write_tools(e);
	return 0;
}
