/* A session over /ws: one message, at most one answer. See openenv.h. */
#include "serve/openenv/openenv.h"

#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/fault/fault.h"
#include "serve/openenv/pydantic_errors.h"
#include "serve/openenv/python.h"
#include "serve/playback/playback.h"

#include <inttypes.h>
#include <stdio.h>

#define ERRORS_MAX ((size_t)32 << 20)
#define ANSWER_MAX ((size_t)32 << 20)

void openenv_init(struct openenv *o, const struct serve_conf *c)
{
	size_t cursor = 0;

	*o = (struct openenv){.conf = *c};
	for (const struct fault_hooks *f; (f = fault_of(c, &cursor));) {
		if (f->openenv_start) {
			f->openenv_start(o);
		}
	}
}

void openenv_release(struct openenv *o)
{
	episode_release(&o->shared);
}

uint64_t openenv_own_seed(struct openenv *o)
{
	return atomic_fetch_add(&o->serial, 1) + 1;
}

/* ---- error messages ---- */

static void begin_error(struct openenv_reply *r, struct str message, const char *code)
{
	buf_text(&r->text, "{\"type\":\"error\",\"data\":{\"message\":");
	json_quote(&r->text, message);
	buf_printf(&r->text, ",\"code\":\"%s\"", code);
}

void openenv_say_error(struct openenv_reply *r, struct str message, const char *code)
{
	begin_error(r, message, code);
	buf_text(&r->text, "}}");
}

static void end_session(struct openenv_reply *r, struct str message)
{
	openenv_say_error(r, message, "SESSION_ERROR");
	r->close = CLOSE_NORMAL;
}

static void answer_invalid(struct openenv_reply *r, const struct complaints *c)
{
	begin_error(r, STR("Invalid message"), "VALIDATION_ERROR");
	buf_text(&r->text, ",\"errors\":[");
	buf_str(&r->text, buf_view(&c->list));
	buf_text(&r->text, "]}}");
}

/* Lines and columns are counted in characters, from 1. */
static void answer_no_json(struct openenv_reply *r, struct str text, const struct json_fault *fault)
{
	struct buf why = BUF(BUF_MAX_SMALL);
	size_t at, characters = 0, line = 1, line_start = 0;
	const char *said = python_json_error(text, fault, &at);

	for (size_t i = 0; i < at; i++) {
		characters += ((unsigned char)text.p[i] & 0xc0) != 0x80;
		if (text.p[i] == '\n') {
			line++;
			line_start = characters;
		}
	}
	buf_printf(&why, "Invalid JSON: %s: line %zu column %zu (char %zu)", said, line,
	           characters - line_start + 1, characters);
	openenv_say_error(r, buf_view(&why), "INVALID_JSON");
	buf_release(&why);
}

/* ---- what can be asked ---- */

static enum metadata_place metadata_place(const struct openenv *o)
{
	return o->hides_metadata ? METADATA_NOWHERE : METADATA_TWICE;
}

void openenv_show(struct turn *t, bool stepped)
{
	struct buf *out = &t->reply->text;

	buf_text(out, "{\"type\":\"observation\",\"data\":");
	episode_observe(t->session->episode, stepped, metadata_place(t->session->server), out);
	buf_char(out, '}');
}

/* The environment's own opinion of seeds: gymnasium's. */
static bool read_seed(struct turn *t, uint64_t *seed)
{
	struct str value = JSON_GET(t->data, "seed");
	struct buf why = BUF(BUF_MAX_SMALL);
	const char *type = python_type(value);
	bool truth = false;

	if (json_is_null(value) || t->session->server->ignores_seeds) {
		*seed = openenv_own_seed(t->session->server);
	} else if (json_bool(value, &truth)) {
		*seed = truth;
	} else if (strcmp(type, "int") != 0) {
		buf_printf(&why, "Seed must be a python integer, actual type: <class '%s'>", type);
	} else if (value.p[0] == '-') {
		buf_printf(&why, "Seed must be greater or equal to zero, actual value: %.*s",
		           STR_ARG(value));
	} else if (!text_u64(value, seed)) {
		*seed = UINT64_MAX;
	}
	bool good = why.n == 0;
	if (!good) {
		openenv_say_error(t->reply, buf_view(&why), "EXECUTION_ERROR");
	}
	buf_release(&why);
	return good;
}

static enum complaint judge_id(struct str value)
{
	return json_is_null(value) ? FITS : judge_string(value);
}

static void reset(struct turn *t)
{
	static const struct field_check options[] = {{"episode_id", judge_id, false}};
	struct complaints c = {.list = BUF(ERRORS_MAX)};
	struct openenv_session *s = t->session;
	uint64_t seed = 0;

	if (read_seed(t, &seed)) {
		if (openenv_fits(t->data, options, ARRAY_LEN(options), true, &c)) {
			episode_begin(s->episode, &s->server->conf, seed,
			              JSON_GET(t->data, "episode_id"));
			openenv_show(t, false);
		} else {
			answer_invalid(t->reply, &c);
		}
	}
	buf_release(&c.list);
}

static void act(struct turn *t)
{
	struct openenv_session *s = t->session;
	struct buf seen = BUF(ANSWER_MAX), why = BUF(ERRORS_MAX);
	uint64_t before = s->episode->step_count;

	if (episode_act(s->episode, t->data, metadata_place(s->server), &seen, &why)) {
		buf_text(&t->reply->text, "{\"type\":\"observation\",\"data\":");
		buf_str(&t->reply->text, buf_view(&seen));
		buf_char(&t->reply->text, '}');
	} else {
		openenv_say_error(t->reply, buf_view(&why), "EXECUTION_ERROR");
	}
	atomic_fetch_add(&s->server->steps, s->episode->step_count - before);
	buf_release(&seen);
	buf_release(&why);
}

static void step(struct turn *t)
{
	t->reply->wait_ms = t->waited ? 0 : fault_wait_ms(&t->session->server->conf);
	if (t->reply->wait_ms == 0) {
		act(t);
	}
}

static bool action_fits(struct turn *t)
{
	struct complaints c = {.list = BUF(ERRORS_MAX)};
	bool fits = openenv_action_fits(t->session->server->conf.world, t->data, &c);

	if (!fits) {
		answer_invalid(t->reply, &c);
	}
	buf_release(&c.list);
	return fits;
}

static void state(struct turn *t)
{
	buf_text(&t->reply->text, "{\"type\":\"state\",\"data\":");
	episode_state(t->session->episode, &t->reply->text);
	buf_char(&t->reply->text, '}');
}

static void leave(struct turn *t)
{
	t->reply->close = CLOSE_NORMAL;
}

static void mint_id(struct openenv_session *s)
{
	char digits[33];

	if (s->id[0] != '\0') {
		return;
	}
	gym_mint(digits);
	snprintf(s->id, sizeof(s->id), "%.8s-%.4s-4%.3s-a%.3s-%.12s", digits, digits + 8,
	         digits + 13, digits + 17, digits + 20);
}

static void rpc(struct turn *t)
{
	mint_id(t->session);
	buf_text(&t->reply->text, "{\"type\":\"mcp\",\"data\":");
	openenv_rpc(t->session->server, t->session, t->data, &t->reply->text);
	buf_char(&t->reply->text, '}');
}

enum { NO_DATA, MAY_HAVE_DATA, HAS_DATA };

static const struct message {
	const char *type;
	enum turn_kind kind;
	int data;
	void (*answer)(struct turn *t);
} messages[] = {
	{"step", TURN_STEP, HAS_DATA, step},         {"state", TURN_STATE, NO_DATA, state},
	{"reset", TURN_RESET, MAY_HAVE_DATA, reset}, {"close", TURN_OTHER, NO_DATA, leave},
	{"mcp", TURN_OTHER, HAS_DATA, rpc},
};

static bool envelope_fits(struct turn *t, int data)
{
	const struct field_check fields[] = {{"type", NULL, true},
	                                     {"data", judge_dict, data == HAS_DATA}};
	struct complaints c = {.list = BUF(ERRORS_MAX)};
	bool fits = openenv_fits(t->message, fields, data == NO_DATA ? 1 : 2, false, &c);

	if (!fits) {
		answer_invalid(t->reply, &c);
	}
	buf_release(&c.list);
	return fits;
}

static void answer_unknown(struct openenv_reply *r, struct str type)
{
	struct buf why = BUF(ERRORS_MAX);

	buf_text(&why, "Unknown message type: ");
	if (type.p) {
		python_str(type, &why);
	}
	openenv_say_error(r, buf_view(&why), "UNKNOWN_TYPE");
	buf_release(&why);
}

static const struct message *find_message(struct str type)
{
	for (size_t i = 0; json_type(type) == JSON_STRING && i < ARRAY_LEN(messages); i++) {
		if (json_is(type, str_from(messages[i].type))) {
			return &messages[i];
		}
	}
	return NULL;
}

/* It makes sense: the faults have their say, before it acts and after. */
static void take_turn(struct turn *t, const struct message *m)
{
	const struct serve_conf *c = &t->session->server->conf;
	const struct fault_hooks *f;

	for (size_t cursor = 0; !t->waited && !t->done && (f = fault_of(c, &cursor));) {
		if (f->before_turn) {
			f->before_turn(t);
		}
	}
	if (!t->done && t->session->played && t->kind != TURN_OTHER) {
		openenv_play(t);
	} else if (!t->done) {
		m->answer(t);
	}
	if (t->reply->wait_ms > 0) {
		return;
	}
	t->session->steps += t->kind == TURN_STEP;
	for (size_t cursor = 0; (f = fault_of(c, &cursor));) {
		if (f->after_turn) {
			f->after_turn(t);
		}
	}
}

static void answer_message(struct turn *t)
{
	struct str type = JSON_GET(t->message, "type");
	const struct message *m = find_message(type);

	if (!m) {
		answer_unknown(t->reply, type);
		return;
	}
	t->kind = m->kind;
	bool judged = t->kind == TURN_STEP && !t->session->played;

	if (envelope_fits(t, m->data) && (!judged || action_fits(t))) {
		take_turn(t, m);
	}
}

void openenv_hear(struct openenv_session *s, struct str message, bool binary, bool waited,
                  struct openenv_reply *r)
{
	struct turn t = {.session = s, .message = text_trim(message), .waited = waited, .reply = r};
	struct json_fault fault;
	struct buf why = BUF(BUF_MAX_SMALL);

	if (binary) {
		end_session(r, STR("'text'"));
	} else if (json_validate(message, &fault) != 0) {
		answer_no_json(r, message, &fault);
	} else if (json_type(t.message) != JSON_OBJECT) {
		buf_printf(&why, "'%s' object has no attribute 'get'", python_type(t.message));
		end_session(r, buf_view(&why));
	} else {
		t.data = JSON_GET(t.message, "data");
		answer_message(&t);
	}
	buf_release(&why);
}

/* ---- room ---- */

static void refuse(struct openenv *o, struct openenv_reply *r)
{
	struct buf why = BUF(BUF_MAX_SMALL);

	buf_printf(&why,
	           "Server at capacity: %" PRIu64 "/%" PRIu64
	           " sessions active. Cannot accept new connections.",
	           o->taken, o->conf.max_envs);
	begin_error(r, buf_view(&why), "CAPACITY_REACHED");
	buf_printf(&r->text, ",\"active_sessions\":%" PRIu64 ",\"max_sessions\":%" PRIu64 "}}",
	           o->taken, o->conf.max_envs);
	r->close = CLOSE_NORMAL;
	buf_release(&why);
}

static void take_room(struct openenv_session *s)
{
	struct openenv *o = s->server;

	s->counted = o->taken < o->conf.max_envs;
	s->refused = !s->counted;
	o->taken += s->counted;
	s->episode = o->shares ? &o->shared : &s->own;
	if (!s->episode->place) {
		episode_begin(s->episode, &o->conf, openenv_own_seed(o), STR_NONE);
	}
}

void openenv_open(struct openenv *o, struct openenv_session *s, struct str id,
                  struct openenv_reply *r)
{
	struct buf why = BUF(BUF_MAX_SMALL);

	*s = (struct openenv_session){.server = o, .held = BUF(ERRORS_MAX)};
	if (id.n > 0) {
		buf_printf(&why, "Unknown session_id: %.*s", STR_ARG(id));
		end_session(r, buf_view(&why));
	} else if (o->taken >= o->conf.max_envs && !o->always_opens) {
		refuse(o, r);
	} else {
		take_room(s);
		if (o->conf.playback) {
			openenv_play_open(s, r);
		}
	}
	buf_release(&why);
}

void openenv_give_back(struct openenv_session *s)
{
	if (s->counted && !s->server->keeps_room) {
		s->server->taken--;
	}
	s->counted = false;
}

void openenv_leave(struct openenv_session *s)
{
	openenv_give_back(s);
	playback_end(s->played);
	s->played = NULL;
	s->episode = NULL;
	episode_release(&s->own);
	buf_release(&s->held);
}
