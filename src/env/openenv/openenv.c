/* The OpenEnv adapters: opening a session, over the WebSocket or over plain HTTP, and the functions
   of both within a session. Over the WebSocket, one connection is one
   session with one environment. After a lost connection nothing is retried: a new connection
   would have a new environment, without a reset. */
#include "env/openenv/openenv.h"

#include "base/log.h"
#include "env/reading.h"
#include "env/tool_list.h"
#include "json/write.h"

#include <stdlib.h>

struct env_openenv *openenv_new(const struct env_ops *ops, const struct env_conf *conf,
                                struct io *io)
{
	struct env_openenv *e = mem_new(sizeof(*e));

	e->base.ops = ops;
	e->conf = conf;
	e->schema = e->tools = e->request = e->state = BUF(BUF_MAX_MESSAGE);
	e->start = e->seen = BUF(BUF_MAX_MESSAGE);
	e->name = e->version = e->episode = e->ignored.json = BUF(BUF_MAX_SMALL);
	e->env_steps = -1;
	reading_init(&e->reading);
	openenv_wire_init(&e->wire, conf, io, &e->base.events);
	return e;
}

static struct env_openenv *openenv_of(struct env *base)
{
	return (struct env_openenv *)base;
}

void openenv_note(struct env_openenv *e, enum event_kind event, const char *what, struct str why)
{
	reading_note(&e->base.events, event, what, why, false);
}

/* ---- the state ---- */

static const struct str bookkeeping[] = {STR_INIT("episode_id"), STR_INIT("step_count")};

static bool is_bookkeeping(struct str key)
{
	return str_eq(key, bookkeeping[0]) || str_eq(key, bookkeeping[1]);
}

bool openenv_state_informs(struct str state)
{
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(state, &cursor, &m))
		if (!is_bookkeeping(m.key))
			return true;
	return false;
}

static void check_episode(struct env_openenv *e, struct str id, bool ours)
{
	struct buf now = BUF(BUF_MAX_SMALL);

	if (json_type(id) == JSON_STRING && json_is(id, buf_view(&e->episode)))
		return;
	if (json_type(id) == JSON_STRING)
		json_decode(id, &now);
	if (!ours && !str_eq(buf_view(&now), buf_view(&e->episode))) {
		openenv_note(e, EVENT_EPISODE_CHANGED, "episode_id",
		             json_is_null(id) ? STR("null") : id);
	}
	buf_set(&e->episode, buf_view(&now));
	buf_release(&now);
}

/* Requests the current state. after_reset: any episode that it names is ours. */
static int request_state(struct env_openenv *e, bool after_reset, struct error *err)
{
	struct openenv_answer a;
	struct env_reply failure;

	buf_clear(&e->state);
	e->env_steps = -1;
	e->state_returned = false;
	if (openenv_ask(&e->wire, OPENENV_STATE, STR_NONE, &a, err))
		return -1;
	if (a.got == OPENENV_ANSWER && json_type(a.data) == JSON_OBJECT) {
		struct str values[ARRAY_LEN(bookkeeping)];

		buf_str(&e->state, a.data);
		json_pick(a.data, bookkeeping, ARRAY_LEN(bookkeeping), values);
		check_episode(e, values[0], after_reset);
		if (!json_i64(values[1], &e->env_steps) || e->env_steps < 0)
			e->env_steps = -1;
		return 0;
	}
	openenv_read_other(&a, &e->reading, &failure);
	if (!e->state_failed)
		openenv_note(e, EVENT_CONTROL_PLANE_FAILED, "state", failure.error.message);
	e->state_failed = true;
	return 0;
}

/* Over plain HTTP, an uninformative state is reported as such: observations of environments that
   exist for one request are not used as state. */
static void choose_source(struct env_openenv *e)
{
	if (e->source.kind == STATE_AUTO) {
		e->source.kind = STATE_OPENENV;
		if (e->state.n && e->wire.ws && !openenv_state_informs(buf_view(&e->state))) {
			e->source.kind = STATE_OBSERVATION;
			openenv_note(e, EVENT_NOTIFICATION, "state",
			             STR("not informative: it contains only episode_id and "
			                 "step_count; observations are compared instead"));
		}
	}
	e->base.facts.state_kind = e->source.kind;
	e->base.facts.state_target = e->source.target;
	e->base.facts.state_arguments = e->source.arguments;
}

/* Members next to the observation: often present only after the first step, and only in some
   releases. Used only if there is nothing else. */
const char *openenv_metadata_aside(struct str observation)
{
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(observation, &cursor, &m))
		if (!str_is(m.key, "metadata"))
			return "/metadata";
	return NULL;
}

static int choose_ignored(struct env_openenv *e, struct error *err)
{
	struct str first = e->source.kind == STATE_OPENENV ? buf_view(&e->state) : e->last;

	bool whole = e->source.kind == STATE_OBSERVATION && !e->source.target.n;

	ignore_paths_release(&e->ignored);
	e->ignored = (struct ignore_paths){.json = BUF(BUF_MAX_SMALL),
	                                   .aside = whole ? openenv_metadata_aside(e->last) : NULL};
	if (ignore_paths_choose(&e->ignored, e->conf->ignore, e->conf->ignore_count,
	                        first.n ? first : STR_NONE, err)) {
		return -1;
	}
	e->base.facts.state_ignore = buf_view(&e->ignored.json);
	e->base.facts.ignore_paths = e->ignored.paths;
	return 0;
}

int openenv_state(struct env *base, struct str *out, struct error *err)
{
	struct env_openenv *e = openenv_of(base);

	*out = STR_NONE;
	if (e->wire.gone && !e->over)
		return error_set(err, FAIL_TRANSPORT, "%s", buf_cstr(&e->wire.http.why));
	if (e->source.kind == STATE_OPENENV && e->state_returned && !e->wire.gone &&
	    request_state(e, false, err)) {
		return -1;
	}
	if (e->source.kind == STATE_OPENENV) {
		e->state_returned = true;
		*out = e->state.n ? buf_view(&e->state) : STR_NONE;
		return 0;
	}
	if (e->source.kind == STATE_OBSERVATION)
		*out = state_source_observed(&e->source, e->last);
	return 0;
}

/* ---- reset and step ---- */

static void keep_reply(struct env_openenv *e, struct env_reply *out)
{
	e->last = reading_keep(out, &e->kept);
	e->over = out->terminated > 0;
}

/* The user's reset arguments; our own only if the user gave none. */
static void write_reset(struct env_openenv *e)
{
	struct str args = e->conf->reset_args, key;
	struct json_member m;
	struct arena keys = {0};
	size_t cursor = 0;

	buf_clear(&e->request);
	struct json_writer w = jw_begin(&e->request);
	while (json_next_member(args, &cursor, &m)) {
		key = json_key_text(&keys, m.key);
		jw_put_raw(&w, key.p, m.value);
	}
	if (e->conf->has_seed && !JSON_GET(args, "seed").p)
		jw_put_i64(&w, "seed", e->conf->seed);
	if (!JSON_GET(args, "episode_id").p)
		jw_put_text(&w, "episode_id", e->conf->env_session);
	jw_end(&w);
	arena_release(&keys);
}

/* Many environments assign their own episode ids, or none. */
static void read_episode_id(struct env_openenv *e)
{
	if (e->episode.n)
		e->base.facts.env_session = buf_view(&e->episode);
	if (!str_is(buf_view(&e->episode), e->conf->env_session))
		log_info("the environment ignores the requested episode_id");
}

int openenv_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_openenv *e = openenv_of(base);
	struct openenv_answer a;

	write_reset(e);
	if (openenv_ask(&e->wire, OPENENV_RESET, buf_view(&e->request), &a, err))
		return -1;
	struct openenv_question q = {.known_tool = true, .is_reset = true};
	openenv_read(&a, &q, &e->reading, out);
	keep_reply(e, out);
	buf_set(&e->start, e->last);
	buf_set(&e->seen, e->last);
	if (out->outcome == OUTCOME_OK && request_state(e, true, err))
		return -1;
	read_episode_id(e);
	choose_source(e);
	return choose_ignored(e, err);
}

/* No tool is named "step", so the arguments are the action. */
static void write_action(struct env_openenv *e, struct str name, struct str arguments)
{
	buf_clear(&e->request);
	if (str_is(name, "step")) {
		buf_str(&e->request, arguments);
		return;
	}
	struct json_writer w = jw_begin(&e->request);
	jw_put_text(&w, "type", "call_tool");
	jw_put_str(&w, "tool_name", name);
	jw_put_raw(&w, "arguments", arguments);
	jw_end(&w);
}

static struct openenv_question question_of(const struct env_openenv *e, bool known_tool)
{
	return (struct openenv_question){.known_tool = known_tool,
	                                 .before = reading_before(&e->start, &e->seen),
	                                 .error_texts = e->conf->error_texts,
	                                 .error_text_count = e->conf->error_text_count};
}

static void keep_seen(struct env_openenv *e, const struct env_reply *out)
{
	if (out->outcome == OUTCOME_OK)
		buf_set(&e->seen, out->observation);
	else
		e->last = STR_NONE;
}

int openenv_step(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                 struct error *err)
{
	struct env_openenv *e = openenv_of(base);
	bool known =
		e->calls_tools ? tool_is_listed(e->base.facts.tools, name) : str_is(name, "step");
	struct openenv_answer a;
	int64_t counted = e->env_steps;

	*out = (struct env_reply){REPLY_UNKNOWN};
	buf_clear(&e->state);
	write_action(e, name, arguments);
	if (openenv_ask_and_state(&e->wire, OPENENV_STEP, buf_view(&e->request), &a, err))
		return -1;
	struct openenv_question q = question_of(e, known);
	openenv_read(&a, &q, &e->reading, out);
	keep_reply(e, out);
	bool no_reply = out->outcome == OUTCOME_TRANSPORT_ERROR || out->outcome == OUTCOME_TIMEOUT;
	bool unreadable = e->wire.gone || (no_reply && !e->wire.ws);
	if (!unreadable && request_state(e, false, err))
		return -1;
	out->env_steps = unreadable ? -1 : e->env_steps;
	openenv_confirm_uncounted(&e->reading, counted, &e->counts, out);
	keep_seen(e, out);
	out->env_session = e->base.facts.env_session;
	return 0;
}

/* ---- opening and closing ---- */

/* Explains why a path has no WebSocket. */
static int declined(struct env_openenv *e, const struct openenv_answer *a, bool known,
                    struct env_reply *refusal, struct error *err)
{
	bool busy = a->code == 429 || (a->code >= 500 && a->code != 501);

	if (a->code == 401 || (busy && !a->page)) {
		openenv_read_other(a, &e->reading, refusal);
		return 0;
	}
	if (a->code / 100 == 3) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%.*s: redirects of a WebSocket are not followed; use the URL "
		                 "it redirects to",
		                 STR_ARG(a->text));
	}
	if (busy) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%.*s: a proxy in between cannot reach the server",
		                 STR_ARG(a->text));
	}
	if (known && e->schema.n) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%.*s, although the server replies to plain HTTP: a proxy in "
		                 "between does not forward WebSockets (it must pass on the "
		                 "headers Upgrade and Connection)",
		                 STR_ARG(a->text));
	}
	if (!known) {
		return error_set(err, FAIL_PROTOCOL, "%.*s: not an OpenEnv server; check the path",
		                 STR_ARG(a->text));
	}
	return error_set(err, FAIL_PROTOCOL,
	                 "%.*s: this OpenEnv server has no WebSocket. Try \1protocol\2 "
	                 "openenv-http (no sessions: requests share one environment, or each "
	                 "gets its own)",
	                 STR_ARG(a->text));
}

/* The server refuses a session after a successful handshake, with an unsolicited message, which
   is received in place of the first reply. */
static int await_first_state(struct env_openenv *e, struct env_reply *refusal, struct error *err)
{
	struct openenv_answer a;

	if (openenv_ask(&e->wire, OPENENV_STATE, STR_NONE, &a, err))
		return -1;
	if (!e->wire.gone)
		return 0; /* an environment may have no state before its first reset */
	openenv_read_other(&a, &e->reading, refusal);
	if (a.got == OPENENV_ENDED && a.end == WEBSOCKET_LOST)
		return error_set(err, FAIL_TRANSPORT, "%.*s", STR_ARG(a.text));
	return 0;
}

static int openenv_open(const struct env_conf *conf, struct io *io, struct env **out,
                        struct env_reply *refusal, struct error *err)
{
	struct env_openenv *e = openenv_new(&env_openenv, conf, io);
	struct openenv_answer a;
	bool known;

	*out = &e->base;
	*refusal = (struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	if (state_source_parse(conf->state_spec, &e->source, err) ||
	    openenv_describe(e, &known, err) || openenv_connect(&e->wire, &a, err)) {
		return -1;
	}
	if (a.got == OPENENV_STATUS)
		return declined(e, &a, known, refusal, err);
	if (await_first_state(e, refusal, err))
		return error_from_peer(err);
	return refusal->outcome == OUTCOME_OK ? openenv_learn_facts(e, err) : 0;
}

void openenv_close(struct env *base)
{
	struct env_openenv *e = openenv_of(base);

	if (!e)
		return;
	openenv_wire_release(&e->wire);
	reading_release(&e->reading);
	state_source_release(&e->source);
	events_release(&e->base.events);
	ignore_paths_release(&e->ignored);
	arena_release(&e->kept);
	BUFS_RELEASE(&e->schema, &e->tools, &e->request, &e->name, &e->version, &e->state,
	             &e->episode, &e->start, &e->seen);
	free(e);
}

static int openenv_claims(const char *url)
{
	bool http = !strncmp(url, "http://", 7) || !strncmp(url, "https://", 8);

	if (!strncmp(url, "ws://", 5) || !strncmp(url, "wss://", 6))
		return 2;
	return http ? 1 : 0;
}

const struct env_ops env_openenv = {
	.name = "openenv",
	.help = "OpenEnv over its WebSocket",
	.protocols = (const char *const[]){"openenv", NULL},
	.places = "ws(s)://HOST, http(s)://HOST",
	.limit_fix = OPENENV_LIMIT_FIX,
	.claims = openenv_claims,
	.recognizes = openenv_answers,
	.open = openenv_open,
	.reset = openenv_reset,
	.state = openenv_state,
	.step = openenv_step,
	.close = openenv_close,
};
