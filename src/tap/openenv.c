/* Decoder of OpenEnv's WebSocket: a connection is a session, an episode begins with a reset. There are no
   ids, but each request has one reply, in order; so requests wait in a queue, and each is looked at when it
   is its turn: the client may have sent it before the reply to the one before. What replies mean is decided
   where `run` decides it, in env/openenv/. */
#include "env/openenv/openenv.h"

#include "json/write.h"
#include "protocol/tool_list.h"
#include "tap/episode.h"

#include <stdlib.h>

/* A request that has no reply yet. */
struct openenv_asked {
	struct openenv_asked *next;
	bool known; /* false: a message that is no request of the protocol */
	enum openenv_ask what;
	struct buf data; /* raw JSON; empty: none */
};

struct openenv_tap {
	struct openenv_decoder *d;
	struct tap_session *tap;
	struct openenv_asked *first, *last;
	bool begun;            /* the first request in the queue was looked at */
	struct tap_step *step; /* of the step in flight */
	struct reply_reading reading;
	enum state_kind kind;
	int64_t env_steps;
	bool counts;
	bool fresh; /* STATE_OPENENV: the state is known for the next call */
	/* A reply that waits for a reply to `state`, which belongs to it. */
	enum { HOLDS_NOTHING, HOLDS_RESET, HOLDS_STEP } holds;
	struct arena kept;
	struct env_reply held;
	struct buf reset; /* the data of the reset */
	bool closing;     /* the client sent close */
	bool closed;      /* the client sent close, or the server refused the session */
};

/* What is known of the server. */
struct openenv_decoder {
	struct tap_recording *r;
	struct buf name, version, tools;
	bool calls_tools;
	bool described; /* the server was asked for its description */
	bool forgetful; /* a client asked for the state after a reset, but not after each step */
};

static void learn_text(struct str value, struct buf *out)
{
	if (json_type(value) == JSON_STRING) {
		buf_clear(out);
		json_decode(value, out);
	}
}

static void learn_tools(struct openenv_decoder *d, struct str tools)
{
	if (json_count(tools) > 0) {
		buf_set(&d->tools, tools);
		d->calls_tools = true;
	}
}

static struct tap_env_facts facts_of(const struct openenv_decoder *d)
{
	return (struct tap_env_facts){.name = d->name.n ? buf_view(&d->name) : STR("openenv"),
	                              .version = buf_given(&d->version),
	                              .tools = buf_given(&d->tools)};
}

/* ---- the queue ---- */

static void push(struct openenv_tap *s, bool known, enum openenv_ask what, struct str data)
{
	struct openenv_asked *a = mem_new(sizeof(*a));

	*a = (struct openenv_asked){.known = known, .what = what, .data = BUF(BUF_MAX_MESSAGE)};
	buf_str(&a->data, data);
	*(s->last ? &s->last->next : &s->first) = a;
	s->last = a;
}

static void pop(struct openenv_tap *s)
{
	struct openenv_asked *a = s->first;

	s->first = a->next;
	s->last = s->first ? s->last : NULL;
	s->begun = false;
	buf_release(&a->data);
	free(a);
}

/* ---- resets ---- */

/* The data of a reset without the members that name the rollout; absent if nothing is left. */
static struct str without(struct str data, bool seed_too, struct buf *out)
{
	AUTO_ARENA keys = {0};
	struct json_member m;
	bool any = false;

	struct json_writer w = jw_begin(out);
	for (size_t cursor = 0; json_next_member(data, &cursor, &m);) {
		struct str key = json_key_text(&keys, m.key);

		if (!str_is(key, "episode_id") && !(seed_too && str_is(key, "seed"))) {
			jw_key_str(&w, key);
			jw_raw(&w, m.value);
			any = true;
		}
	}
	jw_end(&w);
	return any && !out->full ? buf_view(out) : STR_NONE;
}

/* Where states come from is decided once for an episode: from the replies to `state` if the client
   sends it with its calls, else from observations. */
static void choose_state(struct openenv_tap *s, struct str state, struct str observation,
                         struct tap_episode_start *f)
{
	bool asks = state.p && openenv_state_informs(state) && !s->d->forgetful;

	s->kind = asks ? STATE_OPENENV : STATE_OBSERVATION;
	f->first_state = asks ? state : observation;
	f->aside = asks ? NULL : openenv_metadata_aside(observation);
	f->state_kind = s->kind;
}

static void set_state(struct openenv_tap *s, struct str state)
{
	s->fresh = state.p != NULL;
	tap_state(s->tap, state);
}

/* Begins the episode of a reset; reply NULL: of a step that came first. */
static void begin_episode(struct openenv_tap *s, const struct env_reply *reply, struct str state)
{
	struct str data = buf_view(&s->reset), id = JSON_GET(data, "episode_id");
	AUTO_BUF name = BUF(BUF_MAX_SMALL), args = BUF(BUF_MAX_SMALL), group = BUF(BUF_MAX_SMALL);
	struct str observation = reply ? reply->observation : STR_NONE;

	learn_text(id, &name);
	struct tap_env_facts env = facts_of(s->d);
	tap_session_name(s->tap, STR_NONE, buf_given(&name));
	struct tap_episode_start f = {.env = &env,
	                              .id = buf_given(&name),
	                              .reset_args = without(data, true, &args),
	                              .data = without(data, false, &group),
	                              .reset = reply};
	choose_state(s, state, observation, &f);
	f.has_seed = json_i64(JSON_GET(data, "seed"), &f.seed);
	tap_episode_begin(s->tap, &f);
	if (s->kind == STATE_OPENENV)
		set_state(s, state);
	else if (reply && reply->outcome == OUTCOME_OK)
		tap_state(s->tap, observation);
}

static int64_t count_of(struct str state)
{
	int64_t n;

	return json_i64(JSON_GET(state, "step_count"), &n) && n >= 0 ? n : -1;
}

/* ---- steps ---- */

static void finish_step(struct openenv_tap *s, struct str state)
{
	int64_t before = s->env_steps;
	struct env_reply *reply = &s->held;

	s->holds = HOLDS_NOTHING;
	s->env_steps = reply->env_steps = count_of(state);
	openenv_confirm_uncounted(&s->reading, before, &s->counts, reply);
	tap_step_end(s->step, reply);
	s->step = NULL;
	if (s->kind == STATE_OPENENV)
		set_state(s, state);
	else
		tap_state(s->tap, reply->outcome == OUTCOME_OK ? reply->observation : STR_NONE);
}

/* What was held is complete; state: absent if the client did not ask for it. */
static void finish_held(struct openenv_tap *s, struct str state)
{
	if (s->holds == HOLDS_RESET) {
		s->holds = HOLDS_NOTHING;
		s->env_steps = count_of(state);
		begin_episode(s, &s->held, state);
	} else if (s->holds == HOLDS_STEP) {
		finish_step(s, state);
	} else if (s->kind == STATE_OPENENV && state.p) {
		s->env_steps = count_of(state);
		set_state(s, state);
	}
}

static void begin_step(struct openenv_tap *s, struct str data)
{
	struct str named = JSON_GET(data, "tool_name"), arguments = JSON_GET(data, "arguments");
	AUTO_BUF tool = BUF(BUF_MAX_SMALL);

	bool calls = json_type(named) == JSON_STRING && json_type(arguments) == JSON_OBJECT;
	if (calls)
		json_decode(named, &tool);
	if (!tap_episode_is_open(s->tap)) {
		buf_clear(&s->reset);
		begin_episode(s, NULL, STR_NONE);
	}
	/* a client that asks for the state now and then is no source of states */
	s->d->forgetful |= s->kind == STATE_OPENENV && !s->fresh;
	s->step = tap_step_begin(s->tap, calls ? buf_view(&tool) : STR("step"),
	                         calls ? arguments : data);
}

static bool is_known_tool(const struct openenv_tap *s, struct str data)
{
	struct str named = JSON_GET(data, "tool_name");
	AUTO_BUF tool = BUF(BUF_MAX_SMALL);

	learn_text(named, &tool);
	return !tool.n || !s->d->calls_tools ||
	       tool_find(buf_view(&s->d->tools), buf_view(&tool)).p;
}

static bool asks_state(const struct openenv_asked *a)
{
	return a && a->known && a->what == OPENENV_STATE;
}

static bool lists_tools(const struct openenv_asked *a)
{
	return a->what == OPENENV_STEP &&
	       json_is(JSON_GET(buf_view(&a->data), "type"), STR("list_tools"));
}

/* ---- the client's messages ---- */

/* The request whose reply comes next, and what it says about the reply before it. */
static void begin_next(struct openenv_tap *s)
{
	const struct openenv_asked *a = s->first;

	if (!a || s->begun)
		return;
	if (s->holds && !asks_state(a))
		finish_held(s, STR_NONE);
	s->begun = true;
	if (!a->known || lists_tools(a))
		return;
	if (a->what == OPENENV_STEP) {
		begin_step(s, buf_view(&a->data));
	} else if (a->what == OPENENV_RESET) {
		buf_set(&s->reset, buf_view(&a->data));
		tap_asked(s->tap, FAULT_AT_RESET);
	}
}

static void note_unreadable(struct openenv_tap *s, const struct tap_bytes *m)
{
	tap_note(s->tap, EVENT_NOISE, "the client's message is no request of the protocol",
	         (struct str){m->bytes.p, m->bytes.n < 400 ? m->bytes.n : 400});
}

/* The reply to a `state` that is still to come belongs to the last step. */
static void close_session(struct openenv_tap *s)
{
	const struct openenv_asked *next = s->first;

	if (s->closing && !asks_state(next)) {
		finish_held(s, STR_NONE);
		if (!next) {
			tap_episode_end(s->tap, END_STOPPED, "the client closed the session");
			s->closed = true;
		}
	}
}

static void take_request(struct openenv_tap *s, const struct tap_bytes *m)
{
	bool valid = !m->binary && !m->cut && json_is_valid(m->bytes);
	struct str type = valid ? JSON_GET(m->bytes, "type") : STR_NONE;
	struct str data = valid ? JSON_GET(m->bytes, "data") : STR_NONE;

	if (json_is(type, STR("close"))) {
		s->closing = true;
		close_session(s);
		return;
	}
	enum openenv_ask what = OPENENV_STATE;
	bool known = openenv_ask_of(type, &what);
	if (!known)
		note_unreadable(s, m);
	push(s, known, what, known ? data : STR_NONE);
	begin_next(s);
}

/* ---- the server's messages ---- */

static void hold(struct openenv_tap *s, const struct env_reply *reply)
{
	s->held = *reply;
	(void)reading_keep(&s->held, &s->kept);
}

static void read_reset(struct openenv_tap *s, const struct openenv_answer *a)
{
	struct openenv_question q = {.known_tool = true, .is_reset = true};
	struct env_reply reply;

	openenv_read(a, &q, &s->reading, &reply);
	hold(s, &reply);
	if (reply.outcome == OUTCOME_OK) {
		AUTO_BUF group = BUF(BUF_MAX_SMALL);

		tap_reset_answered(s->tap, without(buf_view(&s->reset), false, &group));
	}
	s->holds = HOLDS_RESET;
}

static void read_step(struct openenv_tap *s, const struct openenv_answer *a, struct str data)
{
	struct openenv_question q = {.known_tool = is_known_tool(s, data),
	                             .before = tap_episode_before(s->tap)};
	struct env_reply reply;

	openenv_read(a, &q, &s->reading, &reply);
	hold(s, &reply);
	s->holds = HOLDS_STEP;
}

/* A step is complete, unless a reply to `state` is to come; a reset waits until it is known whether the client asks for it. */
static void settle_held(struct openenv_tap *s)
{
	const struct openenv_asked *next = s->first;
	bool failed = s->holds == HOLDS_RESET && s->held.outcome != OUTCOME_OK;

	if (s->holds && !failed && !next && !s->closing && tap_asks(s->d->r))
		tap_ask(s->d->r, STR("{\"type\":\"state\"}"), NULL);
	else if (failed || (s->holds == HOLDS_STEP && !asks_state(next)))
		finish_held(s, STR_NONE);
}

static void refuse(struct openenv_tap *s, const struct openenv_answer *a)
{
	struct tap_env_facts env = facts_of(s->d);
	struct env_reply reply;

	openenv_read(a, NULL, &s->reading, &reply);
	tap_session_refused(s->tap, &env, &reply);
	s->closed = true;
}

static void read_reply(struct openenv_tap *s, const struct openenv_answer *a)
{
	struct openenv_asked *asked = s->first;
	struct str data = buf_view(&asked->data);

	if (!asked->known) {
	} else if (asked->what == OPENENV_RESET) {
		read_reset(s, a);
	} else if (lists_tools(asked)) {
		learn_tools(s->d, JSON_GET(JSON_GET(a->data, "observation"), "tools"));
	} else if (asked->what == OPENENV_STEP) {
		read_step(s, a, data);
	} else if (asked->what == OPENENV_STATE) {
		bool good = a->got == OPENENV_ANSWER && json_type(a->data) == JSON_OBJECT;

		finish_held(s, good ? a->data : STR_NONE);
	} else {
		learn_tools(s->d, JSON_GET(JSON_GET(a->data, "result"), "tools"));
	}
	pop(s);
	settle_held(s);
	begin_next(s);
	close_session(s);
}

static void take_reply(struct openenv_tap *s, const struct tap_bytes *m)
{
	struct openenv_answer a;
	const struct openenv_asked *asked = s->first;

	openenv_read_frame(m->bytes, m->binary, asked && asked->known ? &asked->what : NULL, &a);
	if (m->cut) {
		a.got = OPENENV_NOT_JSON;
		a.fault.why = "it is too long to be recorded";
	}
	bool closes = a.got == OPENENV_ERROR && openenv_error_closes(a.data);
	if (closes && !tap_episode_is_open(s->tap) && !s->holds) {
		refuse(s, &a); /* sent unasked, perhaps before the reset arrived */
	} else if (!asked) {
		tap_note(s->tap, EVENT_LATE_REPLY, "a message that is not a reply to a request",
		         (struct str){m->bytes.p, m->bytes.n < 400 ? m->bytes.n : 400});
	} else {
		read_reply(s, &a);
	}
}

static void take_message(struct openenv_tap *s, enum tap_side from, const struct tap_bytes *m)
{
	if (s->closed)
		return;
	if (from == TAP_CLIENT)
		take_request(s, m);
	else
		take_reply(s, m);
}

/* ---- the decoder ---- */

static void *start(struct tap_recording *r)
{
	struct openenv_decoder *d = mem_new(sizeof(*d));

	d->r = r;
	d->name = d->version = BUF(BUF_MAX_SMALL);
	d->tools = BUF(BUF_MAX_MESSAGE);
	return d;
}

static void stop(void *ctx)
{
	struct openenv_decoder *d = ctx;

	BUFS_RELEASE(&d->name, &d->version, &d->tools);
	free(d);
}

static bool is_socket(const struct tap_head *request)
{
	return str_ends(tap_path(request), STR("/ws")) && tap_header(request, "upgrade").n;
}

/* The server's description, which clients may ask for. */
static bool is_page(const struct tap_head *request, const char *name)
{
	return str_is(request->method, "GET") && str_ends(tap_path(request), str_from(name));
}

static bool owns(void *ctx, const struct tap_head *request)
{
	(void)ctx;
	return is_socket(request) || is_page(request, "/schema") || is_page(request, "/metadata");
}

/* Asks for a page of the server's description, which few clients do. */
static void ask_page(struct openenv_decoder *d, const struct tap_head *asked, const char *name)
{
	struct str path = tap_path(asked);
	AUTO_BUF request = BUF(BUF_MAX_SMALL);

	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	buf_printf(&request, "GET %.*s%s HTTP/1.1\r\n", STR_ARG(path), name);
	tap_put_fields(asked, NULL, &request);
	buf_text(&request, "Accept: application/json\r\n\r\n");
	d->described = true;
	tap_ask(d->r, buf_view(&request), d);
}

static void learn_page(struct openenv_decoder *d, const struct tap_exchange *x)
{
	struct str body = x->reply_body.bytes, action;

	if (x->reply.status != 200 || x->reply_body.encoded || !json_is_valid(body))
		return;
	if (is_page(&x->request, "/metadata")) {
		learn_text(JSON_GET(body, "name"), &d->name);
		learn_text(JSON_GET(body, "version"), &d->version);
		return;
	}
	action = JSON_GET(body, "action");
	if (x->connection->asker)
		ask_page(d, &x->request, "metadata");
	if (json_type(action) == JSON_OBJECT && !d->calls_tools &&
	    !openenv_action_is_call(action)) {
		buf_clear(&d->tools);
		openenv_put_step_tool(action, &d->tools);
	}
}

/* ---- the connection ---- */

static void request(void *ctx, struct tap_exchange *x)
{
	struct openenv_decoder *d = ctx;

	if (!is_socket(&x->request))
		return;
	struct openenv_tap *s = mem_new(sizeof(*s));
	s->d = d;
	s->env_steps = -1;
	s->reset = BUF(BUF_MAX_MESSAGE);
	reading_init(&s->reading);
	s->tap = tap_session_begin(d->r, PROTOCOL_OPENENV, x->connection,
	                           tap_query(&x->request, "session_id"));
	tap_asked(s->tap, FAULT_AT_SESSION);
	x->own = s;
	if (!d->described)
		ask_page(d, &x->request, "schema");
}

/* A page of the description, or the handshake was declined. */
static void reply(void *ctx, struct tap_exchange *x)
{
	struct openenv_tap *s = x->own;

	if (!s) {
		learn_page(ctx, x);
		return;
	}
	struct str body = x->reply_body.bytes;
	bool json = body.n && json_is_valid(body);
	struct openenv_answer a = {.got = OPENENV_STATUS,
	                           .end = WEBSOCKET_DECLINED,
	                           .code = x->reply.status,
	                           .data = json ? body : STR_NONE,
	                           .text = body.n ? body : STR("the handshake was declined")};

	refuse(s, &a);
}

/* How a call is classified that the end of the connection left without a reply. */
static void read_ending(struct openenv_tap *s, const struct tap_ending *e, struct env_reply *out)
{
	struct openenv_answer a = {.got = OPENENV_ENDED,
	                           .end = e->code ? WEBSOCKET_CLOSED : WEBSOCKET_LOST,
	                           .code = e->code,
	                           .text = e->why.n  ? e->why
	                                   : e->code ? STR("the server closed the connection")
	                                             : STR("the server dropped the connection")};

	openenv_read(&a, NULL, &s->reading, out);
}

static void free_session(struct openenv_tap *s)
{
	while (s->first)
		pop(s);
	reading_release(&s->reading);
	arena_release(&s->kept);
	buf_release(&s->reset);
	free(s);
}

static void closed(void *ctx, struct tap_exchange *x, const struct tap_ending *e)
{
	struct openenv_tap *s = x->own;
	struct env_reply lost;

	(void)ctx;
	if (!s)
		return;
	finish_held(s, STR_NONE);
	read_ending(s, e, &lost);
	if (e->unreachable || (!s->closed && !tap_episode_is_open(s->tap) && s->begun &&
	                       s->first->known && s->first->what == OPENENV_RESET)) {
		struct tap_env_facts env = facts_of(s->d);

		tap_session_refused(s->tap, &env, &lost);
	}
	tap_session_end(s->tap, e, e->first == TAP_SERVER ? &lost : NULL);
	free_session(s);
}

static void message(void *ctx, struct tap_exchange *x, enum tap_side from,
                    const struct tap_bytes *m)
{
	(void)ctx;
	if (x->own)
		take_message(x->own, from, m);
}

const struct tap_decoder tap_openenv = {
	.owns = owns,
	.start = start,
	.stop = stop,
	.request = request,
	.reply = reply,
	.message = message,
	.closed = closed,
};
