/* Sessions over /ws: each message gets at most one reply. See openenv.h. */
#include "serve/openenv/openenv.h"

#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/fault/fault.h"
#include "serve/playback/playback.h"

#include <inttypes.h>

#define ERRORS_MAX ((size_t)32 << 20)
#define ANSWER_MAX ((size_t)32 << 20)

void openenv_init(struct openenv *o, const struct serve_conf *c)
{
	*o = (struct openenv){.conf = *c, .traits = fault_traits(c)};
}

void openenv_release(struct openenv *o)
{
	episode_release(&o->shared);
}

uint64_t openenv_next_seed(struct openenv *o)
{
	return atomic_fetch_add(&o->serial, 1) + 1;
}

/* ---- error messages ---- */

void openenv_reply_error(struct openenv_reply *r, const char *code, const char *fmt, ...)
{
	AUTO_BUF message = BUF(ERRORS_MAX);
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&message, fmt, args);
	va_end(args);
	json_pack(&r->text, "{type:'error',data:{message:%s,code:%t}}", buf_view(&message), code);
}

/* Replies with why a message does not fit, which is released. */
static bool accept(struct openenv_reply *r, bool fits, struct buf *why)
{
	if (!fits) {
		json_pack(&r->text,
		          "{type:'error',data:{message:'Invalid message',code:'VALIDATION_ERROR',"
		          "errors:[%r]}}",
		          buf_view(why));
	}
	buf_release(why);
	return fits;
}

/* ---- handlers of messages ---- */

static bool shows_metadata(const struct openenv *o)
{
	return !(o->traits & FAULT_HIDES_METADATA);
}

void openenv_reply_observation(struct openenv_message *t, bool stepped)
{
	struct buf *out = &t->reply->text;

	buf_text(out, "{\"type\":\"observation\",\"data\":");
	episode_observe(t->session->episode, stepped, shows_metadata(t->session->server), out);
	buf_char(out, '}');
}

/* The rules of gymnasium for seeds, which the environment applies. */
static bool read_seed(struct openenv_message *t, uint64_t *seed)
{
	struct str value = JSON_GET(t->data, "seed");

	if (json_is_null(value) || t->session->server->traits & FAULT_IGNORES_SEEDS) {
		*seed = openenv_next_seed(t->session->server);
	} else if (!text_u64(value, seed)) {
		openenv_reply_error(t->reply, "EXECUTION_ERROR",
		                    "Seed must be an integer, zero or more");
		return false;
	}
	return true;
}

static void reset(struct openenv_message *t)
{
	static const struct str options =
		STR_INIT("{\"properties\":{\"episode_id\":{\"type\":[\"string\",\"null\"]}},"
	                 "\"additionalProperties\":true}");
	struct buf why = BUF(ERRORS_MAX);
	struct openenv_session *s = t->session;
	uint64_t seed = 0;

	if (read_seed(t, &seed) &&
	    accept(t->reply, fields_fit(t->data.p ? t->data : STR("{}"), options, &why), &why)) {
		episode_begin(s->episode, &s->server->conf, seed, JSON_GET(t->data, "episode_id"));
		openenv_reply_observation(t, false);
	}
}

static void run_step(struct openenv_message *t)
{
	struct openenv_session *s = t->session;
	AUTO_BUF seen = BUF(ANSWER_MAX), why = BUF(ERRORS_MAX);
	uint64_t before = s->episode->step_count;

	if (episode_act(s->episode, t->data, shows_metadata(s->server), &seen, &why))
		json_pack(&t->reply->text, "{type:'observation',data:%r}", buf_view(&seen));
	else
		openenv_reply_error(t->reply, "EXECUTION_ERROR", "%s", buf_cstr(&why));
	atomic_fetch_add(&s->server->steps, s->episode->step_count - before);
}

static void step(struct openenv_message *t)
{
	t->reply->wait_ms = t->waited ? 0 : fault_wait_ms(&t->session->server->conf);
	if (t->reply->wait_ms == 0)
		run_step(t);
}

static bool validate_action(struct openenv_message *t)
{
	struct buf why = BUF(ERRORS_MAX);

	return accept(t->reply, fields_fit_action(t->session->server->conf.world, t->data, &why),
	              &why);
}

static void state(struct openenv_message *t)
{
	buf_text(&t->reply->text, "{\"type\":\"state\",\"data\":");
	episode_state(t->session->episode, &t->reply->text);
	buf_char(&t->reply->text, '}');
}

static void leave(struct openenv_message *t)
{
	t->reply->close = CLOSE_NORMAL;
}

static void rpc(struct openenv_message *t)
{
	buf_text(&t->reply->text, "{\"type\":\"mcp\",\"data\":");
	openenv_rpc(t->session->server, t->data, &t->reply->text);
	buf_char(&t->reply->text, '}');
}

enum { NO_DATA, MAY_HAVE_DATA, HAS_DATA };

static const struct message {
	const char *type;
	enum openenv_message_kind kind;
	int data;
	void (*answer)(struct openenv_message *t);
	void (*play)(struct openenv_message *t); /* from a recording */
} messages[] = {
	{"step", MESSAGE_STEP, HAS_DATA, step, openenv_play_step},
	{"state", MESSAGE_STATE, NO_DATA, state, openenv_play_state},
	{"reset", MESSAGE_RESET, MAY_HAVE_DATA, reset, openenv_play_reset},
	{"close", MESSAGE_OTHER, NO_DATA, leave, leave},
	{"mcp", MESSAGE_OTHER, HAS_DATA, rpc, rpc},
};

static bool validate_envelope(struct openenv_message *t, int data)
{
	static const struct str schemas[] = {
		[NO_DATA] = STR_INIT("{\"properties\":{\"type\":{}}}"),
		[MAY_HAVE_DATA] =
			STR_INIT("{\"properties\":{\"type\":{},\"data\":{\"type\":\"object\"}}}"),
		[HAS_DATA] =
			STR_INIT("{\"properties\":{\"type\":{},\"data\":{\"type\":\"object\"}},"
	                         "\"required\":[\"data\"]}"),
	};
	struct buf why = BUF(ERRORS_MAX);

	return accept(t->reply, fields_fit(t->message, schemas[data], &why), &why);
}

static const struct message *find_message(struct str type)
{
	for (size_t i = 0; json_type(type) == JSON_STRING && i < ARRAY_LEN(messages); i++)
		if (json_is(type, str_from(messages[i].type)))
			return &messages[i];
	return NULL;
}

/* Executes a valid message, with the hooks of faults before and after. */
static void execute_message(struct openenv_message *t, const struct message *m)
{
	const struct serve_conf *c = &t->session->server->conf;
	const struct fault *f;

	for (size_t cursor = 0; !t->waited && !t->done && (f = fault_of(c, &cursor));)
		if (f->before_message)
			f->before_message(t);
	if (!t->done)
		(t->session->played ? m->play : m->answer)(t);
	if (t->reply->wait_ms > 0)
		return;
	t->session->steps += t->kind == MESSAGE_STEP;
	for (size_t cursor = 0; (f = fault_of(c, &cursor));)
		if (f->after_message)
			f->after_message(t);
}

static void answer_message(struct openenv_message *t)
{
	struct str type = JSON_GET(t->message, "type");
	const struct message *m = find_message(type);

	if (!m) {
		openenv_reply_error(t->reply, "UNKNOWN_TYPE", "Unknown message type: %.*s",
		                    STR_ARG(json_inner(type)));
		return;
	}
	t->kind = m->kind;
	bool judged = t->kind == MESSAGE_STEP && !t->session->played;

	if (validate_envelope(t, m->data) && (!judged || validate_action(t)))
		execute_message(t, m);
}

void openenv_handle_message(struct openenv_session *s, struct str message, bool binary, bool waited,
                            struct openenv_reply *r)
{
	struct openenv_message t = {
		.session = s, .message = text_trim(message), .waited = waited, .reply = r};
	struct json_fault fault;

	if (binary) {
		openenv_reply_error(r, "SESSION_ERROR", "A message must be text");
		r->close = CLOSE_NORMAL;
	} else if (json_validate(message, &fault) != 0) {
		openenv_reply_error(r, "INVALID_JSON", "Invalid JSON: %s at byte %zu", fault.why,
		                    fault.at);
	} else if (json_type(t.message) != JSON_OBJECT) {
		openenv_reply_error(r, "SESSION_ERROR", "A message must be an object");
		r->close = CLOSE_NORMAL;
	} else {
		t.data = JSON_GET(t.message, "data");
		answer_message(&t);
	}
}

/* ---- slots ---- */

static void refuse(struct openenv *o, struct openenv_reply *r)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	buf_printf(&why,
	           "Server at capacity: %" PRIu64 "/%" PRIu64
	           " sessions active. Cannot accept new connections.",
	           o->slots_used, o->conf.max_envs);
	json_pack(&r->text,
	          "{type:'error',data:{message:%s,code:'CAPACITY_REACHED',active_sessions:%i,"
	          "max_sessions:%i}}",
	          buf_view(&why), (int64_t)o->slots_used, (int64_t)o->conf.max_envs);
	r->close = CLOSE_NORMAL;
}

static void take_slot(struct openenv_session *s)
{
	struct openenv *o = s->server;

	s->counted = o->slots_used < o->conf.max_envs;
	s->refused = !s->counted;
	o->slots_used += s->counted;
	s->episode = o->traits & FAULT_SHARES_ENV ? &o->shared : &s->own;
	if (!s->episode->instance)
		episode_begin(s->episode, &o->conf, openenv_next_seed(o), STR_NONE);
}

void openenv_open(struct openenv *o, struct openenv_session *s, struct str id,
                  struct openenv_reply *r)
{
	*s = (struct openenv_session){.server = o, .held = BUF(ERRORS_MAX)};
	if (id.n > 0) {
		openenv_reply_error(r, "SESSION_ERROR", "Unknown session_id: %.*s", STR_ARG(id));
		r->close = CLOSE_NORMAL;
	} else if (o->slots_used >= o->conf.max_envs && !(o->traits & FAULT_OPENS_ALL)) {
		refuse(o, r);
	} else {
		take_slot(s);
		if (o->conf.playback)
			openenv_play_open(s, r);
	}
}

void openenv_free_slot(struct openenv_session *s)
{
	if (s->counted && !(s->server->traits & FAULT_KEEPS_SLOTS))
		s->server->slots_used--;
	s->counted = false;
}

void openenv_session_close(struct openenv_session *s)
{
	openenv_free_slot(s);
	playback_end(s->played);
	s->played = NULL;
	s->episode = NULL;
	episode_release(&s->own);
	buf_release(&s->held);
}
