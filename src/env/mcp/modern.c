/* MCP without sessions: see mcp_session.h. */
#include "env/mcp/mcp_session.h"

#include "base/log.h"
#include "env/mcp/headers.h"
#include "env/mcp/input.h"
#include "json/write.h"
#include "protocol/tool_list.h"

#define HEADER_MISMATCH     (-32020)
#define UNSUPPORTED_VERSION (-32022)

#define META(name) "io.modelcontextprotocol/" name

/* For all headers of one request; each value has its own limit. */
#define HEADERS_MAX ((size_t)1 << 20)

/* Timeout for a program that may not know the request. */
#define SILENCE_MS 10000u

static bool error_code(const struct mcp_reply *r, int64_t *code)
{
	return r->got == MCP_GOT_ERROR && json_i64(r->message.error_code, code);
}

bool mcp_is_modern_error(const struct mcp_reply *r)
{
	int64_t code;

	return error_code(r, &code) && code <= HEADER_MISMATCH && code >= UNSUPPORTED_VERSION;
}

/* ---- one request ---- */

/* A request and its exchanges. */
struct mcp_exchange {
	struct mcp_session *session;
	struct mcp_outgoing q; /* the same in each exchange */
	struct str params;     /* without client information */
	/* our answers to the server's last input requests, raw JSON; may be empty */
	struct buf responses, state;
	unsigned rounds;
	bool revised;
	uint64_t deadline_ns;
};

static void write_meta(const struct mcp_exchange *t, struct json_writer *w)
{
	const struct mcp_session *s = t->session;

	/* servers of this revision read nothing more of clientInfo */
	jw_pack(w,
	        "_meta:{" META("protocolVersion") ":%t," META(
			"clientInfo") ":{name:'rolldbg',version:"
	                              "%t}," META("clientCapabilities") ":%r",
	        s->revision, s->conf.client_version, STR(MCP_INPUT_CAPABILITIES));
	if (!t->q.may_repeat) /* a call that may have effects */
		jw_put_i64(w, "progressToken", s->next_id);
	jw_end(w);
}

/* Adds the members of a raw JSON object, preceded by a comma. */
static void add_members(struct buf *out, struct str object)
{
	if (json_count(object)) {
		buf_char(out, ',');
		buf_add(out, object.p + 1, object.n - 2);
	}
}

static void write_params(const struct mcp_exchange *t, struct buf *out)
{
	struct json_writer w = jw_begin(out);

	write_meta(t, &w);
	add_members(out, t->params);
	if (t->responses.n)
		jw_put_raw(&w, "inputResponses", buf_view(&t->responses));
	if (t->state.n)
		jw_put_raw(&w, "requestState", buf_view(&t->state));
	jw_end(&w);
}

/* The parameter that names the subject of the request. */
static struct str named_by(const struct mcp_exchange *t)
{
	static const char *const methods[][2] = {
		{"tools/call", "name"}, {"resources/read", "uri"}, {"prompts/get", "name"}};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (!strcmp(t->q.method, methods[i][0]))
			return json_get(t->params, str_from(methods[i][1]));
	return STR_NONE;
}

static void write_headers(const struct mcp_exchange *t, struct buf *lines)
{
	struct str name = named_by(t);
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	mcp_header_add(lines, "MCP-Protocol-Version", str_from(t->session->revision));
	mcp_header_add(lines, "Mcp-Method", str_from(t->q.method));
	if (json_type(name) == JSON_STRING) {
		json_decode(name, &text);
		mcp_header_add(lines, "Mcp-Name", buf_view(&text));
		mcp_header_add_params(lines,
		                      tool_find(buf_view(&t->session->marked), buf_view(&text)),
		                      JSON_GET(t->params, "arguments"));
	}
}

static int send_once(struct mcp_exchange *t, struct mcp_reply *r, struct error *err)
{
	struct mcp_session *s = t->session;
	struct mcp_outgoing q = t->q;
	AUTO_BUF params = BUF(2 * BUF_MAX_MESSAGE), headers = BUF(HEADERS_MAX);

	if (t->deadline_ns != UINT64_MAX) {
		q.timeout_ms = io_left_ms(s->conf.io, t->deadline_ns);
		if (!q.timeout_ms) {
			*r = (struct mcp_reply){.asked = r->asked};
			mcp_set_failure(s, r, MCP_GOT_TIMEOUT,
			                "the timeout expired before the server had asked "
			                "for all its input");
			return 0;
		}
	}
	write_params(t, &params);
	write_headers(t, &headers);
	q.params = buf_view(&params);
	q.headers = buf_view(&headers);
	return mcp_ask(s, q, r, err);
}

/* ---- handling the response ---- */

static void retry_in_revision(struct mcp_exchange *t, const struct mcp_reply *r, bool *again)
{
	const char *other = mcp_revision_in(JSON_GET(r->message.error_data, "supported"), false);

	if (!other || t->revised)
		return;
	t->revised = *again = true;
	t->session->revision = other;
	log_info("the server refused the MCP revision for %s; sending it again with revision %s",
	         t->q.method, other);
	mcp_note_retry(t->session, r,
	               "the server refused the revision before executing the call: sent again "
	               "with a revision it listed");
}

/* An HTTP server that refuses a call before executing it returns 400; other channels have no
   status. After any other reply the call may have been executed. */
static bool refused_before(const struct mcp_reply *r)
{
	return r->http_status == 400 || r->http_status == 0;
}

/* Without requestState, which only the server understands and which differs each time. */
static void note_input_requests(const struct mcp_exchange *t, struct str result)
{
	events_pack(t->session->conf.events, EVENT_NOTIFICATION,
	            "{what:'input_required',asked:%r,answered:%r}",
	            JSON_GET(result, "inputRequests"), buf_given(&t->responses));
}

/* Gives up, with a reason that is valid until the next request. */
static void fail_exchange(struct mcp_exchange *t, struct mcp_reply *r, const char *why)
{
	struct mcp_session *s = t->session;

	if (strcmp(t->q.method, "tools/call") != 0) {
		mcp_set_failure(s, r, MCP_GOT_UNUSABLE, why);
		return;
	}
	buf_set(&s->kept.text, str_from(why));
	r->given_up = buf_view(&s->kept.text);
}

static void answer_questions(struct mcp_exchange *t, struct mcp_reply *r, bool *again)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	if (t->rounds == MCP_ROUNDS_MAX) {
		buf_printf(&why, "the server asked for more input after %d replies",
		           MCP_ROUNDS_MAX);
	} else if (!named_by(t).p) {
		buf_printf(&why, "the server asks for input in reply to %s, which never needs any",
		           t->q.method);
	} else if (mcp_input_answer(r->message.result, &t->responses, &t->state, &why)) {
		t->rounds++;
		*again = true;
		note_input_requests(t, r->message.result);
	}
	if (!*again)
		fail_exchange(t, r, buf_cstr(&why));
}

static void read_result_kind(struct mcp_exchange *t, struct mcp_reply *r, bool *again)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	switch (mcp_result_kind(r->message.result)) {
	case MCP_RESULT_COMPLETE:
		break;
	case MCP_RESULT_INPUT_REQUIRED:
		answer_questions(t, r, again);
		break;
	case MCP_RESULT_UNKNOWN:
		if (strcmp(t->q.method, "tools/call") != 0 &&
		    mcp_result_is_unusable(r->message.result, r->given_up, &why))
			mcp_set_failure(t->session, r, MCP_GOT_UNUSABLE, buf_cstr(&why));
		break;
	}
}

/* True if the call should be sent again, with the changes made here. */
static bool continue_exchange(struct mcp_exchange *t, struct mcp_reply *r)
{
	bool again = false;
	int64_t code;

	if (r->got == MCP_GOT_RESULT) {
		read_result_kind(t, r, &again);
	} else if (error_code(r, &code) && refused_before(r)) {
		if (code == UNSUPPORTED_VERSION)
			retry_in_revision(t, r, &again);
		r->headers_refused =
			code == HEADER_MISMATCH && strcmp(t->q.method, "tools/call") == 0;
	}
	return again;
}

static int converse(struct mcp_exchange *t, struct mcp_reply *r, struct error *err)
{
	uint64_t timeout_ms = t->q.timeout_ms;

	t->deadline_ns = timeout_ms ? io_deadline_ns(t->session->conf.io, timeout_ms) : UINT64_MAX;
	t->responses = t->state = BUF(BUF_MAX_MESSAGE);
	int failed;
	do {
		failed = send_once(t, r, err);
	} while (!failed && continue_exchange(t, r));
	BUFS_RELEASE(&t->responses, &t->state);
	return failed;
}

int mcp_modern_request(struct mcp_session *s, const char *method, struct str params,
                       bool may_repeat, struct mcp_reply *r, struct error *err)
{
	struct mcp_exchange t = {.session = s,
	                         .params = params,
	                         .q = {.method = method,
	                               .timeout_ms = s->conf.timeout_ms,
	                               .may_repeat = may_repeat}};

	return converse(&t, r, err);
}

/* ---- tools ---- */

bool mcp_modern_accepts_tool(struct mcp_session *s, struct str tool)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	/* channels without headers need not follow their rules */
	int marks = s->ops == &mcp_http ? mcp_header_marks(tool, &why) : 0;

	if (marks < 0) {
		events_pack(s->conf.events, EVENT_NOISE,
		            "{what:'tools/list',why:'a tool that violates the header rules is not "
		            "offered',tool:%r,rule:%s}",
		            JSON_GET(tool, "name"), buf_view(&why));
		log_warn("a tool is not offered: %s", buf_cstr(&why));
	}
	if (marks > 0) {
		buf_cut(&s->marked, s->marked.n ? s->marked.n - 1 : 0);
		buf_char(&s->marked, s->marked.n ? ',' : '[');
		buf_str(&s->marked, tool);
		buf_char(&s->marked, ']');
	}
	return marks >= 0;
}

/* ---- detection of the era ---- */

static void log_era(const struct mcp_session *s, const char *why)
{
	log_info("%s: era %s: %s", buf_cstr(&s->url), s->modern ? "modern" : "legacy", why);
}

/* A modern server lists its revisions; no other server replies like this. */
static void read_discovery(struct mcp_session *s, struct mcp_reply *r, bool *final)
{
	struct str result = r->message.result;
	struct str list = JSON_GET(result, "supportedVersions");
	struct str info = JSON_GET(JSON_GET(result, "_meta"), META("serverInfo"));
	const char *listed = mcp_revision_in(list, false);
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	s->modern = listed != NULL;
	*final = s->modern;
	if (s->modern) {
		s->revision = listed;
		mcp_store_server_info(s, info.p ? info : JSON_GET(result, "serverInfo"));
		buf_printf(&text, "server/discover lists the revision %s", listed);
		log_era(s, buf_cstr(&text));
		return;
	}
	log_era(s, "the reply to server/discover lists no revision without sessions");
	log_warn("server/discover lists no revision without sessions: try \1era\2 legacy");
	buf_printf(&text,
	           "server/discover lists no revision without sessions (rolldbg supports %s)",
	           mcp_newest_revision(false));
	mcp_set_failure(s, r, MCP_GOT_UNUSABLE, buf_cstr(&text));
}

/* 401, 403 and 5xx say nothing about the revision: they are the final response. */
static bool is_inconclusive(const struct mcp_reply *r)
{
	int status = r->http_status;

	return r->got == MCP_GOT_TIMEOUT || status == 401 || status == 403 || status == 429 ||
	       status >= 500;
}

static void log_no_discovery(const struct mcp_session *s, const struct mcp_reply *r)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	buf_text(&why, "not the server/discover reply of a modern server: ");
	if (r->got == MCP_GOT_ERROR) {
		buf_text(&why, "error ");
		buf_str(&why, r->message.error_code);
	} else if (r->got == MCP_GOT_HTTP) {
		buf_printf(&why, "HTTP %d", r->http_status);
	} else {
		buf_str(&why, r->text);
	}
	log_era(s, buf_cstr(&why));
}

static void read_no_discovery(struct mcp_session *s, struct mcp_reply *r, bool *final)
{
	bool listed_other = mcp_is_modern_error(r) && mcp_offered_instead(r) != NULL;

	s->modern = mcp_is_modern_error(r) && !listed_other;
	*final = s->modern || (is_inconclusive(r) && s->ops == &mcp_http);
	if (s->modern) {
		log_era(s, "server/discover was refused with an error of the modern revision");
	} else if (*final) {
		log_info("%s: cannot detect the era: server/discover returned HTTP %d",
		         buf_cstr(&s->url), r->http_status);
	} else if (listed_other) {
		log_era(s, "the server lists only revisions with sessions");
	} else {
		log_no_discovery(s, r);
	}
}

int mcp_modern_open(struct mcp_session *s, bool *final, struct mcp_reply *r, struct error *err)
{
	uint64_t timeout_ms = s->conf.timeout_ms;
	struct mcp_exchange t = {
		.session = s,
		.q = {.method = "server/discover", .may_repeat = true, .opens = true}};

	if (s->ops != &mcp_http && (!timeout_ms || timeout_ms > SILENCE_MS))
		timeout_ms = SILENCE_MS;
	t.q.timeout_ms = timeout_ms;
	s->revision = mcp_newest_revision(false);
	s->agreed = false;
	if (converse(&t, r, err))
		return -1;
	buf_clear(&s->id); /* unrelated to sessions */
	if (r->got == MCP_GOT_RESULT)
		read_discovery(s, r, final);
	else
		read_no_discovery(s, r, final);
	return 0;
}
