/* Envelopes of OpenEnv, over /ws and over plain HTTP: see wire.h. */
#include "env/openenv/wire.h"

#include "base/html.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/write.h"

#include <stdlib.h>

#define CLOSE_TIMEOUT_MS 2000
#define UNASKED_MAX      64 /* consecutive unsolicited messages */

static const struct question {
	const char *type, *answer; /* of the frames */
	const char *method, *path; /* over HTTP */
} questions[] = {
	[OPENENV_RESET] = {"reset", "observation", "POST", "/reset"},
	[OPENENV_STEP] = {"step", "observation", "POST", "/step"},
	[OPENENV_STATE] = {"state", "state", "GET", "/state"},
	[OPENENV_MCP] = {"mcp", "mcp", "POST", "/mcp"},
};

static const struct openenv_frame_error frame_errors[] = {
	{"CAPACITY_REACHED", OUTCOME_CAPACITY, CLASS_CAPACITY, true},
	{"SESSION_ERROR", OUTCOME_SESSION_LOST, CLASS_SESSION, true},
	{"FACTORY_ERROR", OUTCOME_TOOL_ERROR, CLASS_ENVIRONMENT, true},
	{"EXECUTION_ERROR", OUTCOME_TOOL_ERROR, CLASS_ENVIRONMENT, false},
	{"VALIDATION_ERROR", OUTCOME_TOOL_ERROR, CLASS_ARGUMENTS, false},
	{"INVALID_JSON", OUTCOME_PROTOCOL_ERROR, CLASS_PROTOCOL, false},
	{"UNKNOWN_TYPE", OUTCOME_PROTOCOL_ERROR, CLASS_PROTOCOL, false},
};

const struct openenv_frame_error *openenv_frame_error(struct str data)
{
	struct str code = JSON_GET(data, "code");

	for (size_t i = 0; json_type(code) == JSON_STRING && i < ARRAY_LEN(frame_errors); i++) {
		if (json_is(code, str_from(frame_errors[i].code))) {
			return &frame_errors[i];
		}
	}
	return NULL;
}

/* ---- URLs ---- */

/* ws://host/prefix/ws and http://host/prefix/ are the same server. The query string is only used
   for the WebSocket. */
static void set_urls(struct openenv_wire *w, const char *url)
{
	struct str s = str_from(url), query = {"", 0};
	const char *mark = strpbrk(url, "?#");
	bool tls = str_starts(s, STR("wss:")) || str_starts(s, STR("https:"));
	const char *place = strstr(url, "://");

	if (mark) {
		query = *mark == '?' ? str_from(mark) : query;
		query.n = strcspn(query.p, "#");
		s.n = (size_t)(mark - url);
	}
	s = str_skip(s, place ? (size_t)(place - url) + 3 : 0);
	while (str_ends(s, STR("/"))) {
		s.n--;
	}
	if (str_ends(s, STR("/ws"))) {
		s.n -= 3;
	}
	buf_text(&w->base, tls ? "https://" : "http://");
	buf_str(&w->base, s);
	buf_text(&w->url, tls ? "wss://" : "ws://");
	buf_str(&w->url, s);
	buf_text(&w->url, "/ws");
	buf_str(&w->url, query);
}

void openenv_wire_init(struct openenv_wire *w, const struct env_conf *conf, struct io *io,
                       struct event_queue *events)
{
	*w = (struct openenv_wire){
		.io = io,
		.conf = conf,
		.events = events,
		.base = BUF(BUF_MAX_SMALL),
		.url = BUF(BUF_MAX_SMALL),
		.path = BUF(BUF_MAX_SMALL),
		.why = BUF(BUF_MAX_SMALL),
		.request = BUF(BUF_MAX_MESSAGE + BUF_MAX_SMALL),
		.reply = BUF(BUF_MAX_MESSAGE),
		.headers = mem_array(conf->header_count + 1, sizeof(*w->headers)),
	};
	for (size_t i = 0; i < conf->header_count; i++) {
		w->headers[i] = conf->headers[i];
	}
	w->headers[conf->header_count] = "Content-Type: application/json";
	set_urls(w, conf->url);
}

void openenv_wire_release(struct openenv_wire *w)
{
	struct buf *all[] = {&w->base, &w->url, &w->request, &w->reply, &w->path, &w->why};

	if (w->ws) {
		websocket_send(w->ws, STR("{\"type\":\"close\"}"));
		websocket_close(w->ws, w->gone ? 0 : CLOSE_TIMEOUT_MS);
		websocket_free(w->ws);
	}
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		buf_release(all[i]);
	}
	free(w->headers);
	*w = (struct openenv_wire){.gone = true};
}

int openenv_connect(struct openenv_wire *w, struct openenv_answer *out, struct error *err)
{
	struct websocket_conf conf = {.url = buf_cstr(&w->url),
	                              .headers = w->conf->headers,
	                              .header_count = w->conf->header_count,
	                              .timeout_ms = w->conf->timeout_ms};

	*out = (struct openenv_answer){.got = OPENENV_ANSWER};
	io_rest(w->io); /* the pages have been read: frees the connection */
	buf_release(&w->reply);
	if (websocket_open(w->io, &conf, &w->ws, err)) {
		return -1;
	}
	io_rest(w->io);
	if (websocket_end(w->ws) == WEBSOCKET_DECLINED) {
		*out = (struct openenv_answer){.got = OPENENV_STATUS,
		                               .end = WEBSOCKET_DECLINED,
		                               .code = websocket_code(w->ws),
		                               .page = websocket_got_page(w->ws),
		                               .text = str_from(websocket_why(w->ws))};
		w->gone = true;
	}
	return 0;
}

/* ---- the WebSocket ---- */

static void close_session(struct openenv_wire *w, struct str why)
{
	buf_clear(&w->why);
	buf_str(&w->why, why);
	w->gone = true;
}

static int ended(struct openenv_wire *w, struct openenv_answer *out)
{
	*out = (struct openenv_answer){.got = OPENENV_ENDED,
	                               .end = websocket_end(w->ws),
	                               .code = websocket_code(w->ws),
	                               .text = str_from(websocket_why(w->ws))};
	close_session(w, out->text);
	return 0;
}

bool openenv_error_closes(struct str error)
{
	const struct openenv_frame_error *known = openenv_frame_error(error);

	return known && known->closes;
}

/* Frames have no request ids, so the type must match. */
static void read_frame(struct str text, bool binary, const char *wanted, struct openenv_answer *out)
{
	static const struct str keys[] = {STR_INIT("type"), STR_INIT("data")};
	struct str values[2] = {{NULL, 0}};

	*out = (struct openenv_answer){.got = OPENENV_NOT_JSON, .text = text};
	if (binary) {
		out->fault.why = "the frame is binary";
	} else if (json_validate(text, &out->fault) == 0) {
		out->fault.why = NULL;
		json_pick(text, keys, ARRAY_LEN(keys), values);
	}
	struct str type = values[0];
	if (json_type(type) != JSON_STRING) {
		return;
	}
	out->data = values[1];
	if (json_is(type, STR("error"))) {
		out->got = OPENENV_ERROR;
	} else {
		out->got = json_is(type, str_from(wanted)) ? OPENENV_ANSWER : OPENENV_STRAY;
	}
}

void openenv_read_frame(struct str text, bool binary, const enum openenv_ask *asked,
                        struct openenv_answer *out)
{
	read_frame(text, binary, asked ? questions[*asked].answer : "", out);
}

static void note_unsolicited(struct openenv_wire *w, const struct websocket_message *m)
{
	struct buf detail = BUF(BUF_MAX_SMALL), text = BUF(BUF_MAX_SMALL);
	struct json_writer j;

	text_escape_cut(&text, m->bytes, 400);
	jw_init(&j, &detail);
	jw_object(&j);
	jw_key(&j, "what");
	jw_text(&j, "a message that is not a reply to a request");
	jw_key(&j, "message");
	jw_str(&j, buf_view(&text));
	jw_end(&j);
	events_push(w->events, EVENT_LATE_REPLY, buf_view(&detail));
	buf_release(&detail);
	buf_release(&text);
}

/* Reads unsolicited messages before a request. True: the server has closed the session. */
static bool read_unsolicited(struct openenv_wire *w, struct openenv_answer *out, struct error *err)
{
	struct websocket_message m;

	for (int n = 0; websocket_has_message(w->ws); n++) {
		if (n == UNASKED_MAX) {
			*out = (struct openenv_answer){
				.got = OPENENV_ENDED,
				.end = WEBSOCKET_BROKEN,
				.text = STR("the server keeps sending unsolicited messages: "
			                    "the session was closed")};
			close_session(w, out->text);
			return true;
		}
		if (websocket_receive(w->ws, &m, 0, err) <= 0) {
			break;
		}
		read_frame(m.bytes, m.binary, "", out);
		if (out->got == OPENENV_ERROR && openenv_error_closes(out->data)) {
			close_session(w, STR("the server closed the session"));
			return true;
		}
		note_unsolicited(w, &m);
	}
	if (websocket_end(w->ws) == WEBSOCKET_OPEN) {
		return false;
	}
	ended(w, out);
	return true;
}

static void write_frame(struct openenv_wire *w, const char *type, struct str data)
{
	struct json_writer j;

	buf_clear(&w->request);
	jw_init(&j, &w->request);
	jw_object(&j);
	jw_key(&j, "type");
	jw_text(&j, type);
	if (data.p) {
		jw_key(&j, "data");
		jw_raw(&j, data);
	}
	jw_end(&j);
}

static int no_answer(struct openenv_wire *w, struct openenv_answer *out, struct error *err)
{
	if (err->kind != FAIL_TIMEOUT) {
		return -1;
	}
	buf_clear(&w->reply);
	buf_text(&w->reply, err->text);
	*out = (struct openenv_answer){.got = OPENENV_LATE, .text = buf_view(&w->reply)};
	close_session(w, STR("no reply in time; session closed"));
	return 0;
}

/* False: the server has ended the session; *out has the reason. */
static bool send_question(struct openenv_wire *w, const struct question *q, struct str data,
                          bool and_state, struct openenv_answer *out, struct error *err)
{
	if (read_unsolicited(w, out, err)) {
		return false;
	}
	write_frame(w, q->type, data);
	if (and_state) {
		websocket_send_both(w->ws, buf_view(&w->request), STR("{\"type\":\"state\"}"));
	} else {
		websocket_send(w->ws, buf_view(&w->request));
	}
	w->state_asked = and_state;
	return true;
}

static int receive_answer(struct openenv_wire *w, const struct question *q,
                          struct openenv_answer *out, struct error *err)
{
	struct websocket_message m;
	int got = websocket_receive(w->ws, &m, w->conf->timeout_ms, err);

	if (got <= 0) {
		return got ? no_answer(w, out, err) : ended(w, out);
	}
	read_frame(m.bytes, m.binary, q->answer, out);
	if (out->got == OPENENV_ERROR && openenv_error_closes(out->data)) {
		close_session(w, STR("the server closed the session"));
	}
	if (out->got == OPENENV_STRAY) {
		close_session(w, STR("the server's replies no longer match the requests: the "
		                     "session was closed"));
	}
	if (out->got == OPENENV_NOT_JSON) {
		close_session(
			w, STR("a reply was not an OpenEnv message, and the session was closed"));
	}
	return 0;
}

static int ask_ws(struct openenv_wire *w, enum openenv_ask what, struct str data, bool and_state,
                  struct openenv_answer *out, struct error *err)
{
	const struct question *q = &questions[what];
	bool asked = w->state_asked && what == OPENENV_STATE;

	w->state_asked = false;
	if (!asked && !send_question(w, q, data, and_state, out, err)) {
		return 0;
	}
	return receive_answer(w, q, out, err);
}

/* ---- plain HTTP ---- */

/* One exchange; the body is in w->reply. *status 0: no response, w->why has the reason. */
static int exchange(struct openenv_wire *w, const char *method, const char *path, struct str body,
                    uint64_t timeout_ms, int *status, struct error *err)
{
	struct http_exchange *x = NULL;
	bool get = !strcmp(method, "GET");

	buf_clear(&w->path);
	buf_printf(&w->path, "%s%s", buf_cstr(&w->base), path);
	buf_clear(&w->reply);
	buf_clear(&w->why);
	struct http_request q = {.method = method,
	                         .url = buf_cstr(&w->path),
	                         .headers = w->headers,
	                         .header_count = w->conf->header_count + !get,
	                         .body = get ? STR_NONE : body,
	                         .timeout_ms = timeout_ms,
	                         .may_repeat = get,
	                         .follow = get};
	*status = 0;
	if (http_begin(w->io, &q, &x, err)) {
		return -1;
	}
	int failed = http_wait_headers(x, err);
	if (!failed && !http_media_is(x, "text/event-stream")) {
		/* an event stream is not a valid response here, and may never end */
		failed = http_read_all(x, &w->reply, err);
	}
	*status = failed ? 0 : http_status(x);
	if (http_repeats(x)) {
		events_push(w->events, EVENT_RETRY, STR(EVENTS_RETRY));
	}
	http_end(x);
	if (failed && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM ||
	               err->kind == FAIL_INPUT)) {
		return -1;
	}
	buf_text(&w->why, failed ? err->text : "");
	return 0;
}

static int fetch(struct openenv_wire *w, const char *path, int *status, struct str *body,
                 struct error *err)
{
	struct json_fault fault;

	*body = STR_NONE;
	if (exchange(w, "GET", path, *body, w->conf->timeout_ms, status, err)) {
		return -1;
	}
	if (*status == 200 && json_validate(buf_view(&w->reply), &fault) == 0) {
		*body = buf_view(&w->reply);
	}
	return 0;
}

int openenv_get(struct openenv_wire *w, const char *path, int *status, struct str *body,
                struct error *err)
{
	struct page *ours;

	if (page_cache_find(w->conf->pages, path, status, body, &ours)) {
		return 0;
	}
	int failed = fetch(w, path, status, body, err);
	page_cache_store(w->conf->pages, ours, failed ? 0 : *status, *body);
	return failed;
}

static int ask_http(struct openenv_wire *w, enum openenv_ask what, struct str data,
                    struct openenv_answer *out, struct error *err)
{
	const struct question *q = &questions[what];
	struct json_fault fault;
	int status;

	buf_clear(&w->request);
	buf_text(&w->request, what == OPENENV_STEP ? "{\"action\":" : "");
	buf_str(&w->request, data.p ? data : STR("{}"));
	buf_text(&w->request, what == OPENENV_STEP ? "}" : "");
	if (exchange(w, q->method, q->path, buf_view(&w->request), w->conf->timeout_ms, &status,
	             err)) {
		return -1;
	}
	struct str body = buf_view(&w->reply);
	*out = (struct openenv_answer){
		.got = OPENENV_STATUS, .code = status, .page = html_is_page(body), .text = body};
	if (!status) {
		out->got = err->kind == FAIL_TIMEOUT ? OPENENV_LATE : OPENENV_UNREACHABLE;
		out->text = buf_view(&w->why);
	} else if (json_validate(body, &fault)) {
		out->got = status == 200 ? OPENENV_NOT_JSON : OPENENV_STATUS;
		out->fault = fault;
	} else {
		out->got = status == 200 ? OPENENV_ANSWER : OPENENV_STATUS;
		out->data = body;
	}
	return 0;
}

static int ask(struct openenv_wire *w, enum openenv_ask what, struct str data, bool and_state,
               struct openenv_answer *out, struct error *err)
{
	if (w->gone) {
		*out = (struct openenv_answer){
			.got = OPENENV_ENDED, .end = WEBSOCKET_LOST, .text = buf_view(&w->why)};
		return 0;
	}
	return w->ws ? ask_ws(w, what, data, and_state, out, err)
	             : ask_http(w, what, data, out, err);
}

int openenv_ask(struct openenv_wire *w, enum openenv_ask what, struct str data,
                struct openenv_answer *out, struct error *err)
{
	return ask(w, what, data, false, out, err);
}

int openenv_ask_and_state(struct openenv_wire *w, enum openenv_ask what, struct str data,
                          struct openenv_answer *out, struct error *err)
{
	return ask(w, what, data, true, out, err);
}
