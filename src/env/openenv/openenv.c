/* The OpenEnv adapters: opening a session, over the WebSocket or over plain HTTP, and the functions
   of both within a session. Over the WebSocket, one connection is one
   session with one environment. After a lost connection nothing is retried: a new connection
   would have a new environment, without a reset. */
#include "env/openenv/openenv.h"

#include "base/log.h"
#include "env/reading.h"
#include "json/write.h"
#include "protocol/tool_list.h"

#include <stdlib.h>

extern const struct env_ops env_openenv;

struct env_openenv *openenv_new(const struct env_ops *ops, const struct env_conf *conf,
                                struct io *io)
{
	struct env_openenv *e = mem_new(sizeof(*e));

	http_env_init(&e->http, ops, conf, io);
	e->schema = e->state = BUF(BUF_MAX_MESSAGE);
	e->version = e->episode = BUF(BUF_MAX_SMALL);
	e->env_steps = -1;
	openenv_wire_init(&e->wire, &e->http.http);
	return e;
}

static struct env_openenv *openenv_of(struct env *base)
{
	return (struct env_openenv *)base;
}

void openenv_note(struct env_openenv *e, enum event_kind event, const char *what, struct str why)
{
	reading_note(&e->http.base.events, event, what, why);
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
	AUTO_BUF now = BUF(BUF_MAX_SMALL);

	if (json_type(id) == JSON_STRING && json_is(id, buf_view(&e->episode)))
		return;
	if (json_type(id) == JSON_STRING)
		json_decode(id, &now);
	if (!ours && !str_eq(buf_view(&now), buf_view(&e->episode)))
		openenv_note(e, EVENT_EPISODE_CHANGED, "episode_id",
		             json_is_null(id) ? STR("null") : id);
	buf_set(&e->episode, buf_view(&now));
}

/* Requests the current state. after_reset: any episode that it names is ours. */
static int request_state(struct env_openenv *e, bool after_reset, struct error *err)
{
	struct openenv_answer a;
	struct env_reply failure;

	buf_clear(&e->state);
	e->env_steps = -1;
	e->state_returned = false;
	if (openenv_ask(&e->wire, OPENENV_STATE, STR_NONE, false, &a, err))
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
	openenv_read(&a, NULL, &e->http.reading, &failure);
	http_env_note_state(&e->http, failure.error.message);
	return 0;
}

/* Over plain HTTP, an uninformative state is reported as such: observations of environments that
   exist for one request are not used as state. */
static void choose_source(struct env_openenv *e)
{
	if (e->http.source.kind == STATE_AUTO) {
		e->http.source.kind = STATE_OPENENV;
		if (e->state.n && e->wire.ws && !openenv_state_informs(buf_view(&e->state))) {
			e->http.source.kind = STATE_OBSERVATION;
			openenv_note(e, EVENT_NOTIFICATION, "state",
			             STR("not informative: it contains only episode_id and "
			                 "step_count; observations are compared instead"));
		}
	}
	e->http.base.facts.state_kind = e->http.source.kind;
	e->http.base.facts.state_target = e->http.source.target;
	e->http.base.facts.state_arguments = e->http.source.arguments;
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
	enum state_kind kind = e->http.source.kind;
	struct str first = kind == STATE_OPENENV ? buf_view(&e->state) : e->http.last;
	bool whole = kind == STATE_OBSERVATION && !e->http.source.target.n;

	e->http.ignored.aside = whole ? openenv_metadata_aside(e->http.last) : NULL;
	return ignore_paths_of_session(&e->http.ignored, &e->http.base, e->http.conf,
	                               first.n ? first : STR_NONE, err);
}

int openenv_state(struct env *base, struct str *out, struct error *err)
{
	struct env_openenv *e = openenv_of(base);

	*out = STR_NONE;
	if (e->wire.gone && !e->over)
		return error_set(err, FAIL_TRANSPORT, "%s", buf_cstr(&e->http.http.why));
	if (e->http.source.kind == STATE_OPENENV && e->state_returned && !e->wire.gone &&
	    request_state(e, false, err)) {
		return -1;
	}
	if (e->http.source.kind == STATE_OPENENV) {
		e->state_returned = true;
		*out = buf_given(&e->state);
		return 0;
	}
	if (e->http.source.kind == STATE_OBSERVATION)
		*out = state_source_observed(&e->http.source, e->http.last);
	return 0;
}

/* ---- reset and step ---- */

/* The user's reset arguments; our own only if the user gave none. */
static void write_reset(struct env_openenv *e)
{
	struct str args = e->http.conf->reset_args;

	buf_clear(&e->http.request);
	struct json_writer w = jw_begin(&e->http.request);
	jw_put_members(&w, args);
	if (e->http.conf->has_seed && !JSON_GET(args, "seed").p)
		jw_put_i64(&w, "seed", e->http.conf->seed);
	if (!JSON_GET(args, "episode_id").p)
		jw_put_text(&w, "episode_id", e->http.conf->env_session);
	jw_end(&w);
}

/* Many environments assign their own episode ids, or none. */
static void read_episode_id(struct env_openenv *e)
{
	if (e->episode.n)
		e->http.base.facts.env_session = buf_view(&e->episode);
	if (!str_is(buf_view(&e->episode), e->http.conf->env_session))
		log_info("the environment ignores the requested episode_id");
}

int openenv_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_openenv *e = openenv_of(base);
	struct openenv_answer a;

	write_reset(e);
	if (openenv_ask(&e->wire, OPENENV_RESET, buf_view(&e->http.request), false, &a, err))
		return -1;
	struct openenv_question q = {.known_tool = true, .is_reset = true};
	openenv_read(&a, &q, &e->http.reading, out);
	http_env_keep_reset(&e->http, out, true);
	e->over = out->terminated > 0;
	if (out->outcome == OUTCOME_OK && request_state(e, true, err))
		return -1;
	read_episode_id(e);
	choose_source(e);
	return choose_ignored(e, err);
}

/* No tool is named "step", so the arguments are the action. */
static void write_action(struct env_openenv *e, struct str name, struct str arguments)
{
	buf_clear(&e->http.request);
	if (str_is(name, "step")) {
		buf_str(&e->http.request, arguments);
		return;
	}
	json_pack(&e->http.request, "{type:'call_tool',tool_name:%s,arguments:%r}", name,
	          arguments);
}

static void keep_seen(struct env_openenv *e, const struct env_reply *out)
{
	if (out->outcome == OUTCOME_OK)
		buf_set(&e->http.seen, out->observation);
	else
		e->http.last = STR_NONE;
}

int openenv_step(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                 struct error *err)
{
	struct env_openenv *e = openenv_of(base);
	bool known = e->calls_tools ? tool_find(e->http.base.facts.tools, name).p != NULL
	                            : str_is(name, "step");
	struct openenv_answer a;
	int64_t counted = e->env_steps;

	buf_clear(&e->state);
	write_action(e, name, arguments);
	if (openenv_ask(&e->wire, OPENENV_STEP, buf_view(&e->http.request), true, &a, err))
		return -1;
	struct openenv_question q = {.known_tool = known,
	                             .before = http_env_before(&e->http),
	                             .error_texts = e->http.conf->error_texts,
	                             .error_text_count = e->http.conf->error_text_count};
	openenv_read(&a, &q, &e->http.reading, out);
	e->http.last = reading_keep(out, &e->http.kept);
	e->over = out->terminated > 0;
	bool no_reply = out->outcome == OUTCOME_TRANSPORT_ERROR || out->outcome == OUTCOME_TIMEOUT;
	bool unreadable = e->wire.gone || (no_reply && !e->wire.ws);
	if (!unreadable && request_state(e, false, err))
		return -1;
	out->env_steps = unreadable ? -1 : e->env_steps;
	openenv_confirm_uncounted(&e->http.reading, counted, &e->counts, out);
	keep_seen(e, out);
	out->env_session = e->http.base.facts.env_session;
	return 0;
}

/* ---- opening and closing ---- */

/* Explains why a path has no WebSocket. */
static int declined(struct env_openenv *e, const struct openenv_answer *a, bool known,
                    struct env_reply *refusal, struct error *err)
{
	bool busy = a->code == 429 || (a->code >= 500 && a->code != 501);

	if (a->code == 401 || (busy && !a->page)) {
		openenv_read(a, NULL, &e->http.reading, refusal);
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

	if (openenv_ask(&e->wire, OPENENV_STATE, STR_NONE, false, &a, err))
		return -1;
	if (!e->wire.gone)
		return 0; /* an environment may have no state before its first reset */
	openenv_read(&a, NULL, &e->http.reading, refusal);
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

	*out = &e->http.base;
	if (state_source_parse(conf->state_spec, &e->http.source, err) ||
	    openenv_describe(e, &known, err) || openenv_connect(&e->wire, &a, err)) {
		return -1;
	}
	if (e->wire.posts && !e->wire.session.n) {
		openenv_read(&a, NULL, &e->http.reading, refusal);
		return 0;
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
	http_env_release(&e->http);
	BUFS_RELEASE(&e->schema, &e->version, &e->state, &e->episode);
	free(e);
}

static int openenv_claims(const char *url)
{
	bool websocket = !strncmp(url, "ws://", 5) || !strncmp(url, "wss://", 6);

	return websocket ? 2 : http_env_claims(url);
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
