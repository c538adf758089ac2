/* What an ORS server offers: its environments, the splits and tools of one. */
#include "env/ors/ors.h"

#include "base/log.h"
#include "json/write.h"

const char *ors_path(struct env_ors *e, const char *what)
{
	buf_clear(&e->path);
	buf_printf(&e->path, "/%s/%s", buf_cstr(&e->http.name), what);
	return buf_cstr(&e->path);
}

/* ---- environments ---- */

static bool are_names(struct str list)
{
	struct str name;
	size_t cursor = 0, count = 0;

	while (json_next(list, &cursor, &name)) {
		if (json_type(name) != JSON_STRING) {
			return false;
		}
		count++;
	}
	return count > 0;
}

static bool is_listed(struct str names, struct str name)
{
	struct str one;
	size_t cursor = 0;

	while (json_next(names, &cursor, &one)) {
		if (json_is(one, name)) {
			return true;
		}
	}
	return false;
}

/* The last part of the base's path; absent if it has none. */
static struct str last_part(const struct buf *base)
{
	const char *host = strstr(buf_cstr(base), "://") + 3;
	const char *slash = strrchr(host, '/');

	return slash ? str_from(slash + 1) : STR_NONE;
}

/* GET /list_environments, beside the URL if that ends in the name of an environment (the base then
   loses it), else at the URL. *a: the last answer. -1: interrupted, or a local failure. */
static int ask_names(struct http_json *h, struct buf *name, struct http_json_answer *a,
                     struct error *err)
{
	struct str part = last_part(&h->base);
	size_t whole = h->base.n;

	if (part.p) {
		buf_str(name, part);
		buf_cut(&h->base, whole - part.n - 1);
		if (http_json_ask(h, "/list_environments", STR_NONE, a, err)) {
			return -1;
		}
		if (a->status == 200 && are_names(a->data)) {
			return 0;
		}
		buf_char(&h->base, '/');
		buf_str(&h->base, buf_view(name));
		buf_clear(name);
	}
	return http_json_ask(h, "/list_environments", STR_NONE, a, err);
}

bool ors_answers(const struct env_conf *conf, struct io *io)
{
	struct http_json h;
	struct http_json_answer a;
	struct event_queue unread = {0};
	struct buf name = BUF(BUF_MAX_SMALL);
	struct error err = {0};

	http_json_init(&h, conf, io, &unread);
	bool yes = !ask_names(&h, &name, &a, &err) && a.status == 200 && are_names(a.data);
	if (yes) {
		log_info("%s: ORS, because of its /list_environments", conf->url);
	}
	http_json_release(&h);
	events_release(&unread);
	buf_release(&name);
	return yes;
}

/* The name in the URL, or the only one. */
static int choose_name(struct env_ors *e, struct str names, struct error *err)
{
	struct buf list = BUF(BUF_MAX_SMALL);
	struct str name, first = STR_NONE;
	size_t cursor = 0;

	while (json_next(names, &cursor, &name)) {
		buf_text(&list, first.p ? ", " : "");
		json_decode(name, &list);
		first = first.p ? first : name;
	}
	int failed = 0;
	if (e->http.name.n && !is_listed(names, buf_view(&e->http.name))) {
		failed = error_set(err, FAIL_USAGE,
		                   "the server has no environment '%s'; available: %s",
		                   buf_cstr(&e->http.name), buf_cstr(&list));
	} else if (!e->http.name.n && json_count(names) > 1) {
		failed = error_set(err, FAIL_USAGE,
		                   "the server has several environments (%s): add the name of one "
		                   "to the URL, %s/NAME",
		                   buf_cstr(&list), buf_cstr(&e->http.http.base));
	} else if (!e->http.name.n) {
		json_decode(first, &e->http.name);
	}
	buf_release(&list);
	return failed;
}

int ors_find_environment(struct env_ors *e, struct env_reply *refusal, struct error *err)
{
	struct ors_answer a = {.stream = ORS_NO_STREAM};

	if (ask_names(&e->http.http, &e->http.name, &a.http, err)) {
		return -1;
	}
	if (!a.http.status) {
		return error_set(err, a.http.late ? FAIL_TIMEOUT : FAIL_TRANSPORT, "%.*s",
		                 STR_ARG(a.http.text));
	}
	bool absent = a.http.status == 404 || a.http.status == 405;
	if (absent || (a.http.status == 200 && !are_names(a.http.data))) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s: not an ORS server: /list_environments is no list of names",
		                 buf_cstr(&e->http.http.base));
	}
	ors_read_other(&a, &e->reading, refusal);
	return refusal->outcome == OUTCOME_OK ? choose_name(e, a.http.data, err) : 0;
}

/* ---- tools ---- */

static void write_tools(struct env_ors *e, struct str list)
{
	enum { NAME, DESCRIPTION, SCHEMA, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("name"), STR_INIT("description"),
	                                       STR_INIT("input_schema")};
	struct str tool[COUNT];
	struct json_writer w;
	size_t cursor = 0;

	buf_clear(&e->http.tools);
	jw_init(&w, &e->http.tools);
	jw_array(&w);
	while (json_next_picked(list, &cursor, keys, COUNT, tool)) {
		http_env_put_tool(&w, tool[NAME], tool[DESCRIPTION], tool[SCHEMA]);
	}
	jw_end(&w);
}

int ors_list_tools(struct env_ors *e, struct env_reply *refusal, struct error *err)
{
	uint64_t timeout_ms = e->http.conf->timeout_ms;
	struct ors_answer a;

	if (ors_ask(&e->wire, ors_path(e, "task_tools"), STR_NONE, timeout_ms, &a, err)) {
		return -1;
	}
	if (a.http.status >= 400 && a.http.status < 500 && /* an older server */
	    ors_ask(&e->wire, ors_path(e, "tools"), STR_NONE, timeout_ms, &a, err)) {
		return -1;
	}
	ors_read_other(&a, &e->reading, refusal);
	if (refusal->outcome != OUTCOME_OK) {
		return 0;
	}
	write_tools(e, JSON_GET(a.http.data, "tools"));
	struct str terminal = JSON_GET(JSON_GET(a.http.data, "terminal_tool"), "name");
	if (json_type(terminal) == JSON_STRING) {
		reading_note(&e->http.events, EVENT_NOTIFICATION, "terminal_tool",
		             json_inner(terminal), false);
	}
	return 0;
}
