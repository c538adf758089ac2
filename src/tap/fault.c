/* Chooses faults, and does them to requests and replies: see fault.h. A client that has sent a step waits for
   its reply, so that what the server sends next is that. */
#include "tap/fault.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"
#include "protocol/http_stream.h"
#include "protocol/websocket_copy.h"

#include <stdlib.h>

#define SESSIONS_MAX 256                /* whose replies are kept */
#define HELD_MAX     ((size_t)16 << 20) /* longer messages pass as they are */

const struct tap_fault tap_faults[TAP_FAULTS] = {
#define TAP_FAULT(id, name, when, passes, help) {name, when, passes, help},
#include "tap/faults.def"
#undef TAP_FAULT
};

/* What is done about a request that was decoded. */
struct strike {
	bool any;                /* there was such a request */
	enum tap_fault_id fault; /* TAP_FAULT_NONE: its reply is only kept */
	uint64_t session;        /* 0: its reply is not one to repeat */
};

/* The last reply to a session; empty: too long to be kept. */
struct kept {
	uint64_t session;
	struct buf reply;
};

struct tap_engine {
	struct tap_fault_conf conf;
	struct strike strike;           /* that resulted and was not taken */
	struct kept kept[SESSIONS_MAX]; /* the newest first */
	size_t kept_count;
};

/* ---- choosing ---- */

struct tap_engine *tap_engine_new(const struct tap_fault_conf *conf)
{
	struct tap_engine *e = mem_new(sizeof(*e));

	e->conf = *conf;
	return e;
}

void tap_engine_free(struct tap_engine *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->kept_count; i++)
		buf_release(&e->kept[i].reply);
	for (size_t i = 0; i < e->conf.count; i++)
		e->conf.release(e->conf.rules[i].condition);
	free(e->conf.rules);
	free(e);
}

/* Absent: none. */
static struct str last_reply(const struct tap_engine *e, uint64_t session, bool of_another)
{
	for (size_t i = 0; i < e->kept_count; i++)
		if ((e->kept[i].session != session) == of_another && e->kept[i].reply.n)
			return buf_view(&e->kept[i].reply);
	return STR_NONE;
}

static void keep_reply(struct tap_engine *e, uint64_t session, struct str reply)
{
	size_t i = 0;

	while (i < e->kept_count && e->kept[i].session != session)
		i++;
	if (i == e->kept_count && i < SESSIONS_MAX)
		e->kept[e->kept_count++].reply = BUF(BUF_MAX_SMALL);
	i -= i == SESSIONS_MAX; /* the oldest is forgotten */
	struct kept k = e->kept[i];
	memmove(e->kept + 1, e->kept, i * sizeof(k));
	k.session = session;
	buf_set(&k.reply, reply);
	if (k.reply.full)
		buf_clear(&k.reply);
	e->kept[0] = k;
}

static bool applies(const struct tap_engine *e, const struct tap_fault_rule *rule,
                    const struct tap_request *q)
{
	if (!(tap_faults[rule->fault].when & q->when))
		return false;
	if (q->when == FAULT_AT_SESSION)
		return q->open > e->conf.max_sessions;
	return !rule->condition || e->conf.holds(rule->condition, q);
}

static bool repeats(enum tap_fault_id f)
{
	return f == TAP_FAULT_STALE_REPLY || f == TAP_FAULT_LOST_RESET ||
	       f == TAP_FAULT_OTHER_REPLY;
}

enum tap_fault_id tap_engine_asked(struct tap_engine *e, const struct tap_request *q)
{
	enum tap_fault_id found = TAP_FAULT_NONE;
	bool kept = q->when & (FAULT_AT_STEP | FAULT_AT_RESET);

	for (size_t i = 0; i < e->conf.count && found == TAP_FAULT_NONE; i++)
		found = applies(e, &e->conf.rules[i], q) ? e->conf.rules[i].fault : TAP_FAULT_NONE;
	if (repeats(found) && !last_reply(e, q->session, found == TAP_FAULT_OTHER_REPLY).p)
		found = TAP_FAULT_NONE;
	if (found != TAP_FAULT_NONE || kept)
		e->strike = (struct strike){true, found, kept ? q->session : 0};
	return found;
}

static struct strike take_strike(struct tap_engine *e)
{
	struct strike s = e->strike;

	e->strike = (struct strike){.fault = TAP_FAULT_NONE};
	return s;
}

/* ---- one connection ---- */

struct fault_bytes {
	struct tap_engine *engine;
	struct buf request;   /* of the client, until it is complete */
	bool passed;          /* request was passed on */
	struct strike strike; /* what the reply is waited for */
	struct buf raw, text; /* the reply: as sent, and its message or body */
	struct buf head;      /* of HTTP */
	struct buf out;
	struct http_stream http;
	struct ws_copy frames;
};

struct fault_bytes *fault_bytes_new(struct tap_engine *e)
{
	struct fault_bytes *f = mem_new(sizeof(*f));

	*f = (struct fault_bytes){.engine = e};
	f->request = f->raw = f->text = BUF(HELD_MAX);
	f->head = BUF(2 * BUF_MAX_SMALL);
	f->out = BUF(4 * HELD_MAX);
	return f;
}

void fault_bytes_free(struct fault_bytes *f)
{
	if (f) {
		BUFS_RELEASE(&f->request, &f->raw, &f->text, &f->head, &f->out);
		http_stream_release(&f->http);
		ws_copy_release(&f->frames);
		free(f);
	}
}

/* ---- changed replies: all bytes but the member in question are the server's ---- */

#define MESSAGE "injected by rolldbg tap"

/* Where the protocols have the reward, and the end of the episode: OpenEnv, ORS, NeMo Gym and MCP-Gym. */
static const char *const rewards[] = {"/data/reward", "/output/reward", "/reward"};
static const char *const ends[] = {"/data/done", "/output/finished", "/terminated"};

static struct str find_member(struct str reply, const char *const places[], size_t count)
{
	AUTO_BUF scratch = BUF(BUF_MAX_SMALL);
	struct str found = STR_NONE;

	for (size_t i = 0; i < count && !found.p; i++)
		found = json_point(reply, str_from(places[i]), &scratch);
	bool inside = found.p && (uintptr_t)found.p - (uintptr_t)reply.p < reply.n;
	return inside ? found : STR_NONE; /* else it is JSON within a string */
}

/* The text between two places of the reply is replaced. */
static bool replace(struct str reply, struct str part, struct str with, struct buf *out)
{
	if (!part.p)
		return false;
	size_t at = (size_t)(part.p - reply.p);

	buf_add(out, reply.p, at);
	buf_str(out, with);
	buf_str(out, str_skip(reply, at + part.n));
	return true;
}

/* The member of a value, with its name, and one of the commas beside it. */
static struct str member_of(struct str reply, struct str value)
{
	int quotes = 0;

	if (!value.p)
		return STR_NONE;
	const char *from = value.p, *to = value.p + value.n;
	while (quotes < 2)
		quotes += *--from == '"';
	while (from[-1] == ' ')
		from--;
	if (from[-1] == ',')
		from--;
	else
		while (to < reply.p + reply.n && (*to == ' ' || *to == ','))
			to++;
	return (struct str){from, (size_t)(to - from)};
}

static bool put_error(struct str reply, struct buf *out, int *status)
{
	struct str type = JSON_GET(reply, "type"), ok = JSON_GET(reply, "ok");

	if (JSON_GET(reply, "jsonrpc").p) {
		return replace(reply, JSON_GET(reply, "result"),
		               STR("{\"content\":[{\"type\":\"text\",\"text\":\"" MESSAGE
		                   "\"}],\"isError\":true}"),
		               out);
	}
	if (type.p && JSON_GET(reply, "data").p) {
		buf_text(out, "{\"type\":\"error\",\"data\":{\"message\":\"" MESSAGE
		              "\",\"code\":\"EXECUTION_ERROR\"}}");
	} else if (ok.p) {
		buf_text(out, "{\"ok\":false,\"error\":\"" MESSAGE "\"}");
	} else {
		buf_text(out, "{\"detail\":\"" MESSAGE "\"}");
		*status = 500;
	}
	return true;
}

/* A reply of JSON-RPC keeps the id of its request. */
static bool put_other(struct str reply, struct str other, struct buf *out)
{
	struct str id = JSON_GET(reply, "id");

	if (id.p && JSON_GET(other, "jsonrpc").p)
		return replace(other, JSON_GET(other, "id"), id, out);
	buf_str(out, other);
	return other.p != NULL;
}

/* Appends the changed text. reply: a JSON object of any of the protocols; other: the reply that takes its
   place, for faults that repeat one. *status: set if the HTTP status has to change as well. False: there is
   nothing in it that the fault could change. */
static bool edit(enum tap_fault_id fault, struct str reply, struct str other, struct buf *out,
                 int *status)
{
	switch (fault) {
	case TAP_FAULT_ERROR_REPLY:
		return put_error(reply, out, status);
	case TAP_FAULT_STALE_REPLY:
	case TAP_FAULT_OTHER_REPLY:
		return put_other(reply, other, out);
	case TAP_FAULT_NULL_REWARD:
		return replace(reply, find_member(reply, rewards, ARRAY_LEN(rewards)), STR("null"),
		               out);
	case TAP_FAULT_NAN_REWARD:
		return replace(reply, find_member(reply, rewards, ARRAY_LEN(rewards)), STR("NaN"),
		               out);
	case TAP_FAULT_NO_DONE:
		return replace(reply, member_of(reply, find_member(reply, ends, ARRAY_LEN(ends))),
		               STR(""), out);
	case TAP_FAULT_CUT_JSON:
		buf_str(out, text_utf8_cut(reply, reply.n / 2));
		return true;
	default:
		return false;
	}
}

/* ---- replies ---- */

static void put_text(struct fault_bytes *f, struct str text, const char *status, bool socket)
{
	struct str head = buf_view(&f->head), name, value;

	if (socket) {
		ws_put_frame(&f->out, WS_TEXT, text, NULL);
		return;
	}
	const char *lf = memchr(head.p, '\n', head.n);
	size_t start = lf ? (size_t)(lf - head.p) + 1 : head.n;
	if (status)
		buf_printf(&f->out, "HTTP/1.1 %s\r\n", status);
	else
		buf_add(&f->out, head.p, start);
	head = str_skip(head, start);
	for (size_t cursor = 0; http_next_field(head, &cursor, &name, &value);)
		if (!http_is_word(name, "content-length") &&
		    !http_is_word(name, "transfer-encoding"))
			buf_printf(&f->out, "%.*s: %.*s\r\n", STR_ARG(name), STR_ARG(value));
	buf_printf(&f->out, "Content-Length: %zu\r\n\r\n", text.n);
	buf_str(&f->out, text);
}

/* The JSON of the reply: all of it, or the last data line of an event stream. */
static struct str json_of(struct str text)
{
	struct str found = STR_NONE;

	if (json_is_valid(text))
		return text;
	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (str_starts(line, STR("data:"))) {
			line = str_skip(line, line.n > 5 && line.p[5] == ' ' ? 6 : 5);
			line.n -= line.n && line.p[line.n - 1] == '\r';
			found = json_is_valid(line) ? line : found;
		}
	}
	return found;
}

static bool put_edited(struct fault_bytes *f, struct str json, bool socket)
{
	bool of_another = f->strike.fault == TAP_FAULT_OTHER_REPLY;
	struct str text = buf_view(&f->text);
	AUTO_BUF edited = BUF(HELD_MAX), body = BUF(HELD_MAX);
	int status = 0;
	bool done = json.p &&
	            edit(f->strike.fault, json,
	                 last_reply(f->engine, f->strike.session, of_another), &edited, &status);

	if (done) {
		size_t at = (size_t)(json.p - text.p);

		buf_add(&body, text.p, at);
		buf_str(&body, buf_view(&edited));
		buf_str(&body, str_skip(text, at + json.n));
		put_text(f, buf_view(&body), status ? "500 Internal Server Error" : NULL, socket);
	}
	return done;
}

/* The reply is complete. */
static void conclude(struct fault_bytes *f, bool socket, struct fault_out *out)
{
	struct str json = json_of(buf_view(&f->text));

	out->cut = f->strike.fault == TAP_FAULT_DISCONNECT;
	if (!out->cut && !put_edited(f, json, socket)) {
		if (f->strike.fault >= TAP_FAULT_ERROR_REPLY) {
			log_warn("fault %s: the reply has nothing that it could change",
			         tap_faults[f->strike.fault].name);
		}
		buf_str(&f->out, buf_view(&f->raw));
	}
	if (json.p && f->strike.session)
		keep_reply(f->engine, f->strike.session, json);
	f->strike.any = false;
	buf_clear(&f->raw);
	buf_clear(&f->text);
}

/* Control frames pass, but not those within the message, whose frames are in `raw`. */
static void take_frames(struct fault_bytes *f, struct str bytes, struct fault_out *out)
{
	struct ws_part p;

	buf_str(&f->raw, bytes);
	ws_copy_feed(&f->frames, bytes);
	while (f->strike.any && ws_copy_next(&f->frames, &p)) {
		size_t n = f->raw.n - f->frames.rest.n;

		if (p.kind == WS_MESSAGE) {
			buf_set(&f->text, p.bytes);
			buf_cut(&f->raw, n);
			conclude(f, true, out);
			buf_str(&f->out, out->cut ? STR_NONE : f->frames.rest);
		} else if (!f->frames.in_message) {
			buf_add(&f->out, f->raw.p, n);
			buf_drop(&f->raw, n);
		}
	}
}

static void take_http(struct fault_bytes *f, struct str bytes, struct fault_out *out)
{
	struct http_part p;

	http_stream_feed(&f->http, bytes);
	while (f->strike.any && http_stream_next(&f->http, &p)) {
		buf_str(&f->raw, p.raw);
		if (p.kind == HTTP_HEAD)
			buf_set(&f->head, p.raw);
		else if (p.kind == HTTP_BODY)
			buf_str(&f->text, p.bytes);
		else if (p.kind == HTTP_END)
			conclude(f, false, out);
	}
	if (!f->strike.any)
		buf_str(&f->out, f->http.rest);
}

void fault_bytes_server(struct fault_bytes *f, bool socket, struct str bytes, struct fault_out *out)
{
	*out = (struct fault_out){0};
	buf_clear(&f->out);
	if (!f->strike.any) {
		out->from_server = bytes;
		return;
	}
	if (bytes.n > HELD_MAX - f->raw.n - 2 * BUF_MAX_SMALL) {
		log_warn("a reply is too long for faults, and passes as it is");
		f->strike.any = false;
		buf_str(&f->out, buf_view(&f->raw));
		buf_str(&f->out, bytes);
		buf_clear(&f->raw);
	} else if (socket) {
		take_frames(f, bytes, out);
	} else {
		take_http(f, bytes, out);
	}
	out->from_server = buf_view(&f->out);
}

/* ---- requests ---- */

/* The reply to a request that the server does not get; of `hang` there is none. */
static void reply_instead(struct fault_bytes *f, struct fault_out *out)
{
	static const char full[] = "Server at capacity (injected by rolldbg tap)";

	if (f->strike.fault == TAP_FAULT_REFUSED) {
		buf_printf(&f->out,
		           "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n"
		           "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		           sizeof(full) - 1, full);
		out->end = true;
	} else if (f->strike.fault == TAP_FAULT_LOST_RESET) {
		ws_put_frame(&f->out, WS_TEXT, last_reply(f->engine, f->strike.session, false),
		             NULL);
	}
	f->strike.any = false;
}

static void expect(struct fault_bytes *f, struct strike s)
{
	f->strike = s;
	buf_clear(&f->raw);
	buf_clear(&f->text);
	http_stream_release(&f->http);
	http_stream_init(&f->http, true);
	ws_copy_release(&f->frames);
	ws_copy_init(&f->frames, HELD_MAX);
}

void fault_bytes_client(struct fault_bytes *f, struct str bytes, bool complete,
                        struct fault_out *out)
{
	struct strike s = take_strike(f->engine);

	*out = (struct fault_out){0};
	buf_clear(&f->out);
	if (f->passed)
		buf_clear(&f->request);
	buf_str(&f->request, bytes);
	f->passed = complete || f->request.n >= BUF_MAX_SMALL;
	if (s.any)
		expect(f, s);
	if (s.any && s.fault != TAP_FAULT_NONE && !tap_faults[s.fault].passes) {
		reply_instead(f, out);
		f->passed = true;
	} else if (f->passed) {
		out->to_server = buf_view(&f->request);
		out->wait_ns = s.fault == TAP_FAULT_SLOW ? f->engine->conf.delay_ns : 0;
	}
	out->from_server = buf_view(&f->out);
}

void fault_bytes_told(struct fault_bytes *f, bool socket)
{
	struct strike s = take_strike(f->engine);

	if (s.any && socket)
		expect(f, s);
}

struct str fault_bytes_ended(struct fault_bytes *f)
{
	f->strike.any = false;
	return buf_view(&f->raw);
}
