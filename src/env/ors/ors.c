/* The ORS adapter: what the server offers, sessions, resets and calls. A reset opens a new session,
   as one session has one episode. */
#include "env/ors/ors.h"

#include "base/log.h"
#include "env/task_api.h"
#include "json/write.h"

#include <stdlib.h>

#define PING_MS         10000 /* as the official client; the server waits 900 s */
#define PING_TIMEOUT_MS 2000
#define TRY_AGAIN_MS    200 /* if a server that is starting does not say when */
#define TRY_AGAIN_MOST  5000

extern const struct env_ops env_ors;

static struct env_ors *ors_of(struct env *base)
{
	return (struct env_ors *)base;
}

/* ---- exchanges ---- */

static enum ors_stream take_event(const struct sse_event *e, struct buf *reply, struct buf *task_id)
{
	if (str_is(e->type, "task_id")) {
		buf_set(task_id, e->data);
	} else if (str_is(e->type, "chunk") || str_is(e->type, "end")) {
		buf_str(reply, e->data);
		return str_is(e->type, "end") ? ORS_END : ORS_CUT;
	} else if (str_is(e->type, "error")) {
		buf_set(reply, e->data);
		return ORS_ERROR;
	}
	return ORS_CUT;
}

enum ors_stream ors_read_events(struct sse *sse, struct str piece, struct buf *reply,
                                struct buf *task_id)
{
	enum ors_stream got = ORS_CUT;
	struct sse_event e;

	sse_feed(sse, piece);
	while (got == ORS_CUT && sse_next(sse, &e))
		got = take_event(&e, reply, task_id);
	return got;
}

static int read_stream(struct env_ors *e, struct http_exchange *x, enum ors_stream *out,
                       struct error *err)
{
	struct str piece;
	int got = 0;

	sse_restart(&e->sse);
	buf_clear(&e->task_id);
	*out = ORS_CUT;
	while (*out == ORS_CUT && (got = http_read(x, &piece, err)) > 0)
		*out = ors_read_events(&e->sse, piece, &e->http.http.reply, &e->task_id);
	return got < 0 ? -1 : 0;
}

/* One request, sent once; body absent: GET. -1: interrupted, or a local failure. */
static int ask(struct env_ors *e, const char *path, struct str body, struct ors_answer *out,
               struct error *err)
{
	struct http_json *h = &e->http.http;
	uint64_t timeout_ms = e->closing ? PING_TIMEOUT_MS : h->conf->timeout_ms;
	struct http_exchange *x;
	enum ors_stream stream = ORS_NO_STREAM;
	bool is_starting = false;
	int failed;

	*out = (struct ors_answer){.stream = ORS_NO_STREAM};
	if (http_json_begin(h, path, body, timeout_ms, &x, &out->http, err))
		return -1;
	if (!x)
		return 0;
	if (http_media_is(x, "text/event-stream") && http_status(x) == 200) {
		failed = read_stream(e, x, &stream, err);
	} else {
		failed = http_read_all(x, &h->reply, err);
		is_starting = http_status(x) == 503 &&
		              str_is(http_header(x, "X-Backend-State"), "starting");
	}
	out->try_again_ms = is_starting && !failed ? http_retry_after_ms(x) : 0;
	if (http_json_end(h, x, failed, &out->http, err))
		return -1;
	out->is_starting = is_starting;
	out->stream = out->http.status ? stream : ORS_NO_STREAM;
	out->task_id = e->task_id.n && stream ? buf_view(&e->task_id) : STR_NONE;
	return 0;
}

/* "/lake/call" */
static const char *path_of(struct env_ors *e, const char *what)
{
	buf_set(&e->path, STR("/"));
	buf_str(&e->path, buf_view(&e->http.name));
	buf_char(&e->path, '/');
	buf_text(&e->path, what);
	return buf_cstr(&e->path);
}

/* ---- environments ---- */

/* Does it list environments as an ORS server does? False also without a reply. */
static bool recognizes(struct http_json *h)
{
	struct http_json_answer a;
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	struct error err = {0};
	bool yes = !task_api_ask_names(h, &name, &a, &err) && task_api_are_names(&a);

	if (yes)
		log_info("%s: ORS, because of its /list_environments", h->conf->url);
	return yes;
}

/* Finds the server's environments, and the one that the URL names: the base then lacks its name. */
static int find_environment(struct env_ors *e, struct env_reply *refusal, struct error *err)
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

/* The tools of the task, or of the environment if the server knows no others. */
static int list_tools(struct env_ors *e, struct env_reply *refusal, struct error *err)
{
	struct ors_answer a;

	if (ask(e, path_of(e, "task_tools"), STR_NONE, &a, err))
		return -1;
	if (a.http.status >= 400 && a.http.status < 500 && /* an older server */
	    ask(e, path_of(e, "tools"), STR_NONE, &a, err)) {
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

/* ---- staying alive ---- */

static void end_ping(struct env_ors *e)
{
	http_end(e->ping);
	e->ping = NULL;
}

/* Pings, whoever waits: for a reply, or for a model. Replies to pings are not read: a lost
   session is reported by the next call. */
static int ping_if_due(void *env, uint64_t *wake_ns, struct error *err)
{
	struct env_ors *e = env;
	struct http_json *h = &e->alive;

	if (e->session.n && !io_left_ms(h->io, e->ping_ns)) {
		e->ping_ns = io_deadline_ns(h->io, PING_MS);
		end_ping(e);
		if (http_begin(h->io, &h->request, &e->ping, err))
			return -1;
	}
	if (e->session.n && e->ping_ns < *wake_ns)
		*wake_ns = e->ping_ns;
	return 0;
}

static void start_pings(struct env_ors *e)
{
	struct http_json *h = &e->alive;
	size_t n = e->http.conf->header_count;

	buf_set(&h->session, buf_view(&e->http.http.session));
	h->headers[n] = buf_cstr(&h->session);
	buf_clear(&h->url);
	buf_printf(&h->url, "%s/ping", buf_cstr(&e->http.http.base));
	h->request = (struct http_request){.method = "POST",
	                                   .url = buf_cstr(&h->url),
	                                   .headers = h->headers,
	                                   .header_count = n + 1,
	                                   .body = STR(""),
	                                   .timeout_ms = PING_TIMEOUT_MS};
	e->ping_ns = io_deadline_ns(h->io, PING_MS);
	io_set_idle(h->io, ping_if_due, e);
}

/* ---- an episode ---- */

/* POST /create_session: its id, which all other requests name. */
static int open_session(struct env_ors *e, struct env_reply *out, struct error *err)
{
	struct ors_answer a;

	if (ask(e, "/create_session", STR("{}"), &a, err))
		return -1;
	ors_read_other(&a, &e->http.reading, out);
	if (out->outcome != OUTCOME_OK)
		return 0;
	if (!a.task_id.p) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s: not an ORS server: create_session names no session",
		                 buf_cstr(&e->http.http.base));
	}
	buf_str(&e->session, a.task_id);
	buf_clear(&e->http.http.session);
	buf_printf(&e->http.http.session, "X-Session-ID: %s", buf_cstr(&e->session));
	e->http.base.facts.session = e->http.base.facts.env_session = buf_view(&e->session);
	start_pings(e);
	return 0;
}

/* The first split, for a user who names no task. */
static int find_split(struct env_ors *e, struct error *err)
{
	struct ors_answer a;

	if (e->split.n)
		return 0;
	if (ask(e, path_of(e, "splits"), STR_NONE, &a, err))
		return -1;
	struct str first = json_first(a.http.data);
	if (a.http.status == 200 && first.p) {
		struct str name = JSON_GET(first, "name");

		json_text_or_json(name.p ? name : first, &e->split);
	}
	return 0;
}

/* The user's arguments; the first task of the first split if they name none. */
static int write_create(struct env_ors *e, struct error *err)
{
	struct str args = e->http.conf->reset_args;
	bool task = JSON_GET(args, "task_spec").p != NULL;

	if (!task && !JSON_GET(args, "split").p && find_split(e, err))
		return -1;
	buf_clear(&e->http.request);
	struct json_writer w = jw_begin(&e->http.request);
	jw_put_members(&w, args);
	if (!JSON_GET(args, "env_name").p)
		jw_put_str(&w, "env_name", buf_view(&e->http.name));
	if (!task && !JSON_GET(args, "split").p)
		jw_put_str(&w, "split", buf_view(&e->split));
	if (!task && !JSON_GET(args, "index").p)
		jw_put_i64(&w, "index", 0);
	jw_end(&w);
	return 0;
}

/* The environment is set up after `create` has been answered; until then the prompt is refused
   with 503 and a hint when to ask again. */
static int await_prompt(struct env_ors *e, struct ors_answer *a, struct error *err)
{
	const struct env_conf *conf = e->http.conf;
	uint64_t ms = conf->open_timeout_ms ? conf->open_timeout_ms : conf->timeout_ms;
	uint64_t end = io_deadline_ns(e->http.http.io, ms);

	for (unsigned tries = 0;; tries++) {
		if (ask(e, path_of(e, "prompt"), STR_NONE, a, err))
			return -1;
		if (!a->is_starting || !io_left_ms(e->http.http.io, end)) {
			log_info("the environment was ready after %u refusals", tries);
			return 0;
		}
		uint64_t wait = a->try_again_ms ? a->try_again_ms : TRY_AGAIN_MS;
		events_push(&e->http.base.events, EVENT_RETRY,
		            STR("{\"why\":\"the environment is still being set up\"}"));
		if (io_wait(e->http.http.io, NULL, wait < TRY_AGAIN_MOST ? wait : TRY_AGAIN_MOST,
		            err)) {
			return -1;
		}
	}
}

/* A new session with a new environment. *out: its prompt, or why it was refused. */
static int begin_episode(struct env_ors *e, struct env_reply *out, struct error *err)
{
	struct ors_answer a;

	if (open_session(e, out, err))
		return -1;
	if (out->outcome != OUTCOME_OK)
		return 0;
	if (write_create(e, err) || ask(e, "/create", buf_view(&e->http.request), &a, err))
		return -1;
	ors_read_other(&a, &e->http.reading, out);
	if (out->outcome != OUTCOME_OK)
		return 0;
	if (await_prompt(e, &a, err))
		return -1;
	ors_read_prompt(&a, &e->http.reading, out);
	buf_set(&e->prompt, out->observation);
	return 0;
}

static int delete_session(struct env_ors *e, const char *path, struct ors_answer *a,
                          struct error *err)
{
	buf_clear(&e->http.request);
	json_pack(&e->http.request, "{sid:%s}", buf_view(&e->session));
	return ask(e, path, buf_view(&e->http.request), a, err);
}

/* Both requests are answered even if the session is unknown. */
static void end_episode(struct env_ors *e)
{
	struct ors_answer a;
	struct error ignored = {0};

	io_unset_idle(e->http.http.io, e);
	end_ping(e);
	if (!e->session.n)
		return;
	e->closing = true;
	if (!delete_session(e, "/delete", &a, &ignored) && a.http.status)
		(void)!delete_session(e, "/delete_session", &a, &ignored);
	e->closing = false;
	buf_clear(&e->session);
	buf_clear(&e->http.http.session);
}

static int ors_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_ors *e = ors_of(base);

	e->http.base.facts.total_reward = STR_NONE;
	if (e->prompt.n) { /* open() has begun it */
		out->observation = buf_view(&e->prompt);
	} else {
		end_episode(e);
		if (begin_episode(e, out, err))
			return -1;
	}
	int failed = http_env_begin_episode(&e->http, out, false, err);
	buf_clear(&e->prompt);
	return failed;
}

/* ---- calls and the state ---- */

static int call(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                struct error *err)
{
	struct env_ors *e = ors_of(base);
	struct ors_answer a;

	buf_clear(&e->http.request);
	json_pack(&e->http.request, "{name:%s,input:%r}", name, arguments);
	if (ask(e, path_of(e, "call"), buf_view(&e->http.request), &a, err))
		return -1;
	ors_read_call(&a, http_env_before(&e->http), e->http.conf, &e->http.reading, out);
	return 0;
}

static int ors_state(struct env *base, struct str *out, struct error *err)
{
	return http_env_state(&ors_of(base)->http, call, out, err);
}

static int ors_step(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                    struct error *err)
{
	struct env_ors *e = ors_of(base);

	if (call(base, name, arguments, out, err))
		return -1;
	http_env_keep_step(&e->http, out);
	if (out->outcome == OUTCOME_OK && out->reward.p) {
		buf_set(&e->reward, out->reward);
		e->http.base.facts.total_reward = buf_view(&e->reward);
	}
	return 0;
}

/* ---- the session's contract ---- */

/* *answered: the call was executed. */
static int try_call(struct env_ors *e, struct str name, struct str arguments, bool *answered,
                    struct error *err)
{
	struct env_reply reply = {REPLY_UNKNOWN};

	if (call(&e->http.base, name, arguments, &reply, err))
		return -1;
	*answered = reply.outcome == OUTCOME_OK;
	return 0;
}

static int ors_examine(struct env *base, struct str name, struct str arguments,
                       struct env_contract *out, struct error *err)
{
	struct env_ors *e = ors_of(base);
	AUTO_BUF session = BUF(BUF_MAX_SMALL);
	struct ors_answer a;
	bool answered;

	if (write_create(e, err) || ask(e, "/create", buf_view(&e->http.request), &a, err))
		return -1;
	env_contract_note(out, a.http.status != 200, &out->broken,
	                  "a second create in a session is accepted");
	buf_set(&session, buf_view(&e->http.http.session));
	buf_clear(&e->http.http.session);
	int failed = try_call(e, name, arguments, &answered, err);
	buf_set(&e->http.http.session, buf_view(&session));
	if (failed)
		return -1;
	env_contract_note(out, !answered, &out->broken, "a call without a session is answered");
	for (int i = 0; i < 2; i++)
		if (delete_session(e, "/delete", &a, err))
			return -1;
	env_contract_note(out, a.http.status == 200, &out->broken,
	                  "a second delete of a session fails");
	if (try_call(e, name, arguments, &answered, err))
		return -1;
	env_contract_note(out, !answered, &out->broken, "a call after delete is answered");
	return 0;
}

/* ---- opening and closing ---- */

static int ors_open(const struct env_conf *conf, struct io *io, struct env **out,
                    struct env_reply *refusal, struct error *err)
{
	struct env_ors *e = mem_new(sizeof(*e));

	*out = &e->http.base;
	http_env_init(&e->http, &env_ors, conf, io);
	e->http.http.follow_posts = true;
	e->session = e->split = e->path = e->reward = e->task_id = BUF(BUF_MAX_SMALL);
	e->prompt = BUF(BUF_MAX_MESSAGE);
	http_json_init(&e->alive, conf, io, &e->http.base.events);
	sse_init(&e->sse, BUF_MAX_MESSAGE);
	e->http.base.facts.traits.has_episodes = e->http.base.facts.traits.starts_over = true;
	e->http.base.facts.traits.names_sessions = true;
	if (state_source_parse(conf->state_spec, &e->http.source, err))
		return -1;
	if (find_environment(e, refusal, err) || refusal->outcome != OUTCOME_OK)
		return err->kind ? -1 : 0;
	if (begin_episode(e, refusal, err) || refusal->outcome != OUTCOME_OK)
		return err->kind ? -1 : 0;
	if (list_tools(e, refusal, err))
		return -1;
	/* a prompt is no state, a tool's text rarely */
	return http_env_set_source(&e->http, STATE_NONE, err);
}

static void ors_close(struct env *base)
{
	struct env_ors *e = ors_of(base);

	if (!e)
		return;
	end_episode(e);
	BUFS_RELEASE(&e->session, &e->split, &e->prompt, &e->path, &e->reward, &e->task_id);
	http_json_release(&e->alive);
	sse_release(&e->sse);
	http_env_release(&e->http);
	free(e);
}

const struct env_ops env_ors = {
	.name = "ors",
	.help = "ORS (OpenReward)",
	.protocols = (const char *const[]){"ors", NULL},
	.places = "http(s)://HOST[/NAME]",
	.limit_fix = "start more servers, or raise the server's limit of sessions",
	.claims = http_env_claims,
	.recognizes = recognizes,
	.open = ors_open,
	.reset = ors_reset,
	.state = ors_state,
	.step = ors_step,
	.examine = ors_examine,
	.close = ors_close,
};
