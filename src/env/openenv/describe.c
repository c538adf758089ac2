/* The description of an OpenEnv server, without a session: whether it is one, its name, the
   schema of its actions, the tools of an MCP-style environment. */
#include "env/openenv/openenv.h"

#include "base/log.h"
#include "json/write.h"

#define OLD_TITLE "Environment HTTP Server" /* openenv-core 0.1, which has no /schema */

static bool is_schema(struct str body)
{
	return json_type(JSON_GET(body, "action")) == JSON_OBJECT &&
	       json_type(JSON_GET(body, "observation")) == JSON_OBJECT;
}

static bool is_old(struct str openapi)
{
	struct str title = JSON_GET(JSON_GET(openapi, "info"), "title");
	struct str paths = JSON_GET(openapi, "paths");

	return json_type(title) == JSON_STRING && json_is(title, STR(OLD_TITLE)) &&
	       json_get(paths, STR("/reset")).p && json_get(paths, STR("/step")).p;
}

bool openenv_answers(struct http_json *h)
{
	struct error err = {0};
	struct str body;
	int status = 0;
	bool yes = !http_json_page(h, "/schema", &status, &body, &err) && is_schema(body);

	if (yes) {
		log_info("%s: OpenEnv, because /schema describes actions and observations",
		         buf_cstr(&h->base));
	} else if (status) {
		yes = !http_json_page(h, "/openapi.json", &status, &body, &err) && is_old(body);
		log_info("%s: %s", buf_cstr(&h->base),
		         yes ? "OpenEnv 0.1, because of the title of its /openapi.json"
		             : "not OpenEnv: /schema and /openapi.json do not mention it");
	}
	return yes;
}

static void store_text(struct str value, struct buf *out)
{
	if (json_type(value) == JSON_STRING) {
		buf_clear(out);
		json_decode(value, out);
	}
}

/* An unreachable server is an error; a missing page is not. */
static int ask_page(struct env_openenv *e, const char *path, struct str *body, struct error *err)
{
	int status;

	if (http_json_page(&e->http.http, path, &status, body, err))
		return -1;
	return status ? 0 : error_set(err, FAIL_TRANSPORT, "%s", buf_cstr(&e->http.http.why));
}

/* The name is optional: to report it, the server creates an environment, which may take long. */
static int allow_no_reply(const struct error *err)
{
	if (err->kind != FAIL_TRANSPORT)
		return -1;
	log_info("the server does not report its name: %s", err->text);
	return 0;
}

int openenv_describe(struct env_openenv *e, bool *known, struct error *err)
{
	struct str body;

	if (ask_page(e, "/schema", &body, err))
		return -1;
	*known = is_schema(body);
	if (*known) {
		buf_str(&e->schema, JSON_GET(body, "action"));
		if (ask_page(e, "/metadata", &body, err))
			return allow_no_reply(err);
		store_text(JSON_GET(body, "name"), &e->http.name);
		store_text(JSON_GET(body, "version"), &e->version);
		return 0;
	}
	if (ask_page(e, "/openapi.json", &body, err))
		return -1;
	*known = is_old(body);
	return 0;
}

/* ---- tools ---- */

bool openenv_action_is_call(struct str schema)
{
	static const char *const titles[] = {"Action", "CallToolAction", "ListToolsAction"};
	struct str title = JSON_GET(schema, "title");

	for (size_t i = 0; json_type(title) == JSON_STRING && i < ARRAY_LEN(titles); i++)
		if (json_is(title, str_from(titles[i])))
			return true;
	return false;
}

static bool store_tools(struct env_openenv *e, struct str tools)
{
	if (json_type(tools) != JSON_ARRAY)
		return false;
	buf_str(&e->http.tools, tools);
	e->calls_tools = true;
	return true;
}

/* tools/list is not a step, so it is tried first; older releases only have the action. */
static int list_tools(struct env_openenv *e, struct error *err)
{
	static const struct str request =
		STR_INIT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}");
	struct openenv_answer a;

	if (e->wire.ws) {
		if (openenv_ask(&e->wire, OPENENV_MCP, request, false, &a, err))
			return -1;
		struct str result = JSON_GET(a.data, "result");
		if (a.got == OPENENV_ANSWER && store_tools(e, JSON_GET(result, "tools")))
			return 0;
	}
	if (openenv_ask(&e->wire, OPENENV_STEP, STR("{\"type\":\"list_tools\"}"), false, &a, err))
		return -1;
	struct str observation = JSON_GET(a.data, "observation");
	if (a.got == OPENENV_ANSWER)
		store_tools(e, JSON_GET(observation, "tools"));
	return 0;
}

void openenv_put_step_tool(struct str schema, struct buf *out)
{
	json_pack(out,
	          "[{name:'step',description:'One step of the environment; the arguments are the "
	          "action.',inputSchema:%r}]",
	          schema.n ? schema : STR("{\"type\":\"object\"}"));
}

static int check_source(struct env_openenv *e, struct error *err)
{
	if (e->http.source.kind == STATE_OPENENV || !state_kind_asks_server(e->http.source.kind))
		return 0;
	return error_set(err, FAIL_USAGE,
	                 "\1state\2 %s: not available on an OpenEnv server: use openenv, "
	                 "observation or none",
	                 state_kind_name(e->http.source.kind));
}

int openenv_learn_facts(struct env_openenv *e, struct error *err)
{
	e->http.base.facts.protocol = e->http.base.ops->name;
	if (check_source(e, err))
		return -1;
	if (openenv_action_is_call(buf_view(&e->schema)) && list_tools(e, err))
		return error_from_peer(err);
	if (!e->calls_tools && e->wire.session.n) {
		return error_set(err, FAIL_USAGE,
		                 "%s: the environment has no MCP tools: use its URL without /mcp",
		                 e->http.conf->url);
	}
	if (!e->calls_tools)
		openenv_put_step_tool(buf_view(&e->schema), &e->http.tools);
	buf_release(&e->schema);
	e->http.base.facts.name = e->http.name.n ? buf_view(&e->http.name) : STR("openenv");
	e->http.base.facts.version = buf_given(&e->version);
	e->http.base.facts.tools = buf_view(&e->http.tools);
	e->http.base.facts.env_session = str_from(e->http.conf->env_session);
	e->http.base.facts.url = e->wire.session.n
	                                 ? str_from(e->http.conf->url)
	                                 : buf_view(e->wire.ws ? &e->wire.url : &e->http.http.base);
	e->http.base.facts.traits.takes_seed = e->http.base.facts.traits.starts_over = true;
	e->http.base.facts.traits.has_episodes = true;
	return 0;
}
