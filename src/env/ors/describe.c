/* What an ORS server offers: its environments, the splits and tools of one. */
#include "env/ors/ors.h"

#include "base/log.h"
#include "env/task_api.h"
#include "json/write.h"

const char *ors_path(struct env_ors *e, const char *what)
{
	buf_set(&e->path, STR("/"));
	buf_str(&e->path, buf_view(&e->http.name));
	buf_char(&e->path, '/');
	buf_text(&e->path, what);
	return buf_cstr(&e->path);
}

/* ---- environments ---- */

bool ors_answers(struct http_json *h)
{
	struct http_json_answer a;
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	struct error err = {0};
	bool yes = !task_api_ask_names(h, &name, &a, &err) && task_api_are_names(&a);

	if (yes)
		log_info("%s: ORS, because of its /list_environments", h->conf->url);
	return yes;
}

int ors_find_environment(struct env_ors *e, struct env_reply *refusal, struct error *err)
{
	struct ors_answer a = {.stream = ORS_NO_STREAM};

	if (task_api_ask_names(&e->http.http, &e->http.name, &a.http, err))
		return -1;
	if (!a.http.status) {
		return error_set(err, a.http.late ? FAIL_TIMEOUT : FAIL_TRANSPORT, "%.*s",
		                 STR_ARG(a.http.text));
	}
	bool absent = a.http.status == 404 || a.http.status == 405;
	if (absent || (a.http.status == 200 && !task_api_are_names(&a.http))) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s: not an ORS server: /list_environments is no list of names",
		                 buf_cstr(&e->http.http.base));
	}
	ors_read_other(&a, &e->http.reading, refusal);
	return refusal->outcome == OUTCOME_OK
	               ? task_api_choose_name(&e->http.http, a.http.data, &e->http.name, err)
	               : 0;
}

/* ---- tools ---- */

/* The model does not see it: a client calls it with the model's first message without a call. */
static void put_terminal_tool(struct json_writer *w, struct str tool)
{
	struct str name = JSON_GET(tool, "name"), argument = JSON_GET(tool, "arg");
	AUTO_BUF schema = BUF(BUF_MAX_MESSAGE);

	buf_text(&schema, "{\"type\":\"object\",\"properties\":{");
	if (json_type(argument) == JSON_STRING) {
		buf_printf(&schema, "%.*s:{\"type\":\"string\"}},\"required\":[%.*s]}",
		           STR_ARG(argument), STR_ARG(argument));
	} else {
		buf_text(&schema, "}}");
	}
	if (json_type(name) == JSON_STRING)
		http_env_put_tool(w, name, JSON_GET(tool, "description"), buf_view(&schema));
}

void ors_put_tools(struct str reply, struct buf *out)
{
	enum { NAME, DESCRIPTION, SCHEMA, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("name"), STR_INIT("description"),
	                                       STR_INIT("input_schema")};
	struct str tool[COUNT];
	size_t cursor = 0;

	buf_clear(out);
	struct json_writer w = jw_form(out, "[");
	while (json_next_picked(JSON_GET(reply, "tools"), &cursor, keys, COUNT, tool))
		http_env_put_tool(&w, tool[NAME], tool[DESCRIPTION], tool[SCHEMA]);
	put_terminal_tool(&w, JSON_GET(reply, "terminal_tool"));
	jw_end(&w);
}

int ors_list_tools(struct env_ors *e, struct env_reply *refusal, struct error *err)
{
	struct ors_answer a;

	if (ors_ask(e, ors_path(e, "task_tools"), STR_NONE, &a, err))
		return -1;
	if (a.http.status >= 400 && a.http.status < 500 && /* an older server */
	    ors_ask(e, ors_path(e, "tools"), STR_NONE, &a, err)) {
		return -1;
	}
	ors_read_other(&a, &e->http.reading, refusal);
	if (refusal->outcome != OUTCOME_OK)
		return 0;
	ors_put_tools(a.http.data, &e->http.tools);
	struct str terminal = JSON_GET(JSON_GET(a.http.data, "terminal_tool"), "name");
	if (json_type(terminal) == JSON_STRING) {
		buf_clear(&e->http.request);
		buf_printf(&e->http.request,
		           "%.*s takes the model's answer; here it is one of the tools",
		           STR_ARG(json_inner(terminal)));
		reading_note(&e->http.base.events, EVENT_NOTIFICATION, "terminal_tool",
		             buf_view(&e->http.request));
	}
	return 0;
}
