/* Envelopes of OpenEnv, over /ws and over plain HTTP: see openenv.h. */
#include "env/openenv/openenv.h"

#include "base/text.h"
#include "json/write.h"

#define CLOSE_TIMEOUT_MS 2000
#define UNASKED_MAX      64 /* consecutive unsolicited messages */

static const struct question {
	const char *type, *answer; /* of the frames */
	const char *path;          /* over HTTP */
	bool get;
} questions[] = {
	[OPENENV_RESET] = {"reset", "observation", "/reset", false},
	[OPENENV_STEP] = {"step", "observation", "/step", false},
	[OPENENV_STATE] = {"state", "state", "/state", true},
	[OPENENV_MCP] = {"mcp", "mcp", "/mcp", false},
};

bool openenv_ask_of(struct str type, enum openenv_ask *out)
{
	for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
		if (json_is(type, str_from(questions[i].type))) {
			*out = (enum openenv_ask)i;
			return true;
		}
	}
	return false;
}

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

	for (size_t i = 0; json_type(code) == JSON_STRING && i < ARRAY_LEN(frame_errors); i++)
		if (json_is(code, str_from(frame_errors[i].code)))
			return &frame_errors[i];
	return NULL;
}

/* ---- URLs ---- */

/* ws://host/prefix/ws and http://host/prefix/ are the same server. The query string is only used
   for the WebSocket. So is http://host/prefix/mcp, whose tools are called there. */
void openenv_wire_init(struct openenv_wire *w, struct http_json *http)
{
	const char *mark = strpbrk(http->conf->url, "?#");

	*w = (struct openenv_wire){.http = http,
	                           .url = BUF(BUF_MAX_SMALL),
	                           .session = BUF(BUF_MAX_SMALL),
	                           .posts = str_ends(buf_view(&http->base), STR("/mcp")),
	                           .request = BUF(BUF_MAX_MESSAGE + BUF_MAX_SMALL)};
	buf_cut(&http->base, http->base.n - (w->posts ? 4 : 0));
	buf_printf(&w->url, "ws%s/ws", buf_cstr(&http->base) + strlen("http"));
	if (mark && *mark == '?')
		buf_add(&w->url, mark, strcspn(mark, "#"));
}

/* ---- plain HTTP ---- */

static int ask_http(struct openenv_wire *w, enum openenv_ask what, struct str data,
                    struct openenv_answer *out, struct error *err)
{
	const struct question *q = &questions[what];
	struct http_json_answer a;

	buf_clear(&w->request);
	buf_text(&w->request, what == OPENENV_STEP ? "{\"action\":" : "");
	buf_str(&w->request, data.p ? data : STR("{}"));
	buf_text(&w->request, what == OPENENV_STEP ? "}" : "");
	if (http_json_ask(w->http, q->path, q->get ? STR_NONE : buf_view(&w->request), &a, err))
		return -1;
	*out = (struct openenv_answer){.got = OPENENV_STATUS,
	                               .code = a.status,
	                               .page = a.page,
	                               .data = a.data,
	                               .text = a.text,
	                               .fault = a.fault};
	if (!a.status)
		out->got = a.late ? OPENENV_LATE : OPENENV_UNREACHABLE;
	else if (a.status == 200)
		out->got = a.data.p ? OPENENV_ANSWER : OPENENV_NOT_JSON;
	return 0;
}

/* ---- a session of /mcp ---- */

/* *out has the result of a JSON-RPC request, or its error. */
static int post(struct openenv_wire *w, const char *method, struct str params,
                struct openenv_answer *out, struct error *err)
{
	AUTO_BUF request = BUF(BUF_MAX_MESSAGE + BUF_MAX_SMALL);

	json_pack(&request, "{jsonrpc:'2.0',id:1,method:%t,params:%r}", method, params);
	int failed = ask_http(w, OPENENV_MCP, buf_view(&request), out, err);
	if (failed || out->got != OPENENV_ANSWER)
		return failed;
	struct str error = JSON_GET(out->data, "error");
	bool refused = json_type(error) == JSON_OBJECT;
	out->got = refused ? OPENENV_ERROR : OPENENV_ANSWER;
	out->data = refused ? error : JSON_GET(out->data, "result");
	return 0;
}

/* False: it is none. */
static bool take_session(struct openenv_wire *w, struct str id)
{
	if (json_type(id) != JSON_STRING || !json_decode(id, &w->session) || !w->session.n)
		return false;
	buf_text(&w->url, strchr(buf_cstr(&w->url), '?') ? "&session_id=" : "?session_id=");
	text_put_uri(&w->url, buf_view(&w->session), "");
	return !w->session.full && !w->url.full;
}

static int create_posted(struct openenv_wire *w, struct openenv_answer *out, struct error *err)
{
	if (post(w, "openenv/session/create", STR("{}"), out, err))
		return -1;
	if (out->got == OPENENV_ANSWER && !take_session(w, JSON_GET(out->data, "session_id"))) {
		out->got = OPENENV_NOT_JSON;
		buf_clear(&w->session);
	}
	return 0;
}

static void close_posted(struct openenv_wire *w)
{
	AUTO_BUF params = BUF(BUF_MAX_SMALL);
	struct openenv_answer a;

	json_pack(&params, "{session_id:%s}", buf_view(&w->session));
	(void)!post(w, "openenv/session/close", buf_view(&params), &a, ERROR_IGNORED);
}

/* The action call_tool, as a call of /mcp; its result becomes the observation that the action has. */
static int call_posted(struct openenv_wire *w, struct str action, struct openenv_answer *out,
                       struct error *err)
{
	AUTO_BUF params = BUF(BUF_MAX_MESSAGE);
	struct str tool = JSON_GET(action, "tool_name");

	json_pack(&params, "{name:%r,arguments:%r,session_id:%s}", tool,
	          JSON_GET(action, "arguments"), buf_view(&w->session));
	int failed = post(w, "tools/call", buf_view(&params), out, err);
	if (!failed && out->got == OPENENV_ANSWER) {
		buf_clear(&w->request);
		json_pack(&w->request, "{observation:{tool_name:%r,result:%r}}", tool, out->data);
		out->data = buf_view(&w->request);
	}
	return failed;
}

/* ---- opening and closing ---- */

void openenv_wire_release(struct openenv_wire *w)
{
	if (w->ws) {
		websocket_send(w->ws, STR("{\"type\":\"close\"}"));
		websocket_close(w->ws, w->gone ? 0 : CLOSE_TIMEOUT_MS);
		websocket_free(w->ws);
	}
	if (w->session.n)
		close_posted(w);
	BUFS_RELEASE(&w->url, &w->session, &w->request);
	*w = (struct openenv_wire){.gone = true};
}

int openenv_connect(struct openenv_wire *w, struct openenv_answer *out, struct error *err)
{
	struct websocket_conf conf = {.headers = w->http->conf->headers,
	                              .header_count = w->http->conf->header_count,
	                              .timeout_ms = w->http->conf->timeout_ms};

	*out = (struct openenv_answer){.got = OPENENV_ANSWER};
	if (w->posts && create_posted(w, out, err))
		return -1;
	if (out->got != OPENENV_ANSWER)
		return 0;
	conf.url = buf_cstr(&w->url);
	io_rest(w->http->io); /* the pages have been read: frees the connection */
	buf_release(&w->http->reply);
	if (websocket_open(w->http->io, &conf, &w->ws, err))
		return -1;
	io_rest(w->http->io);
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
	buf_set(&w->http->why, why);
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
void openenv_read_frame(struct str text, bool binary, const enum openenv_ask *asked,
                        struct openenv_answer *out)
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
	if (json_type(type) != JSON_STRING)
		return;
	out->data = values[1];
	if (json_is(type, STR("error")))
		out->got = OPENENV_ERROR;
	else
		out->got = asked && json_is(type, str_from(questions[*asked].answer))
		                   ? OPENENV_ANSWER
		                   : OPENENV_STRAY;
}

static void note_unsolicited(struct openenv_wire *w, const struct websocket_message *m)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	text_escape_cut(&text, m->bytes, 400);
	events_pack(w->http->events, EVENT_LATE_REPLY,
	            "{what:'a message that is not a reply to a request',message:%s}",
	            buf_view(&text));
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
		if (websocket_receive(w->ws, &m, 0, err) <= 0)
			break;
		openenv_read_frame(m.bytes, m.binary, NULL, out);
		if (out->got == OPENENV_ERROR && openenv_error_closes(out->data)) {
			close_session(w, STR("the server closed the session"));
			return true;
		}
		note_unsolicited(w, &m);
	}
	if (websocket_end(w->ws) == WEBSOCKET_OPEN)
		return false;
	ended(w, out);
	return true;
}

static int no_answer(struct openenv_wire *w, struct openenv_answer *out, struct error *err)
{
	if (err->kind != FAIL_TIMEOUT)
		return -1;
	buf_set(&w->http->reply, str_from(err->text));
	*out = (struct openenv_answer){.got = OPENENV_LATE, .text = buf_view(&w->http->reply)};
	close_session(w, STR("no reply in time; session closed"));
	return 0;
}

/* False: the server has ended the session; *out has the reason. */
static bool send_question(struct openenv_wire *w, const char *type, struct str data, bool and_state,
                          struct openenv_answer *out, struct error *err)
{
	if (read_unsolicited(w, out, err))
		return false;
	buf_clear(&w->request);
	json_pack(&w->request, "{type:%t,data:%?r}", type, data);
	if (and_state)
		websocket_send_both(w->ws, buf_view(&w->request), STR("{\"type\":\"state\"}"));
	else
		websocket_send(w->ws, buf_view(&w->request));
	w->state_asked = and_state;
	return true;
}

static int receive_answer(struct openenv_wire *w, enum openenv_ask what, struct openenv_answer *out,
                          struct error *err)
{
	struct websocket_message m;
	int got = websocket_receive(w->ws, &m, w->http->conf->timeout_ms, err);

	if (got <= 0)
		return got ? no_answer(w, out, err) : ended(w, out);
	openenv_read_frame(m.bytes, m.binary, &what, out);
	if (out->got == OPENENV_ERROR && openenv_error_closes(out->data))
		close_session(w, STR("the server closed the session"));
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
	bool asked = w->state_asked && what == OPENENV_STATE;

	w->state_asked = false;
	if (!asked && !send_question(w, questions[what].type, data, and_state, out, err))
		return 0;
	return receive_answer(w, what, out, err);
}

int openenv_ask(struct openenv_wire *w, enum openenv_ask what, struct str data, bool and_state,
                struct openenv_answer *out, struct error *err)
{
	if (w->gone) {
		*out = (struct openenv_answer){.got = OPENENV_ENDED,
		                               .end = WEBSOCKET_LOST,
		                               .text = buf_view(&w->http->why)};
		return 0;
	}
	if (w->session.n && what == OPENENV_STEP)
		return call_posted(w, data, out, err);
	return w->ws ? ask_ws(w, what, data, and_state, out, err)
	             : ask_http(w, what, data, out, err);
}
