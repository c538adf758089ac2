/* The life of an MCP session over Streamable HTTP: see mcp_session.h. */
#include "env/mcp_wire.h"

#include "base/log.h"
#include "base/mem.h"
#include "json/write.h"

#include <stdlib.h>

#define GOODBYE_MS 2000
#define ANSWER_MAX ((size_t)4096) /* of what came instead of a session */

/* Newest first; all of them start with `initialize`. */
static const char *const revisions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                        "2024-11-05"};

struct mcp_session *mcp_session_new(const struct mcp_conf *conf)
{
	struct mcp_session *s = mem_new(sizeof(*s));

	s->conf = *conf;
	s->url = s->id = s->id_header = s->version_header = s->name = s->version =
		s->location = s->other_id = BUF(BUF_MAX_SMALL);
	s->request = s->body = s->text = s->scratch = BUF(BUF_MAX_MESSAGE);
	sse_init(&s->sse, BUF_MAX_MESSAGE);
	buf_text(&s->url, conf->url);
	s->revision = revisions[0];
	s->headers = mem_array(conf->header_count + 4, sizeof(*s->headers));
	return s;
}

void mcp_session_free(struct mcp_session *s)
{
	if (!s) {
		return;
	}
	struct buf *all[] = {&s->url,  &s->id,      &s->id_header, &s->version_header,
	                     &s->name, &s->version, &s->request,   &s->body,
	                     &s->text, &s->scratch, &s->location,  &s->other_id};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		buf_release(all[i]);
	}
	sse_release(&s->sse);
	free(s->headers);
	free(s);
}

struct str mcp_session_id(const struct mcp_session *s)
{
	return buf_view(&s->id);
}

const char *mcp_session_url(const struct mcp_session *s)
{
	return buf_cstr(&s->url);
}

static struct str unless_empty(const struct buf *b)
{
	return b->n ? buf_view(b) : (struct str){NULL, 0};
}

struct str mcp_server_name(const struct mcp_session *s)
{
	return unless_empty(&s->name);
}

struct str mcp_server_version(const struct mcp_session *s)
{
	return unless_empty(&s->version);
}

bool mcp_tools_changed(struct mcp_session *s)
{
	bool changed = s->tools_changed;

	s->tools_changed = false;
	return changed;
}

/* ---- the life of a session ---- */

static void write_initialize(struct mcp_session *s, int64_t id)
{
	struct buf params = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	jw_init(&w, &params);
	jw_object(&w);
	jw_key(&w, "protocolVersion");
	jw_text(&w, s->revision);
	jw_key(&w, "capabilities");
	jw_raw(&w, STR("{}"));
	jw_key(&w, "clientInfo");
	jw_object(&w);
	jw_key(&w, "name");
	jw_text(&w, "rolldbg");
	jw_key(&w, "version");
	jw_text(&w, s->conf.client_version);
	if (s->conf.extra.n) {
		jw_key(&w, "_extra");
		jw_raw(&w, s->conf.extra);
	}
	jw_end(&w);
	jw_end(&w);
	buf_clear(&s->request);
	jsonrpc_write_request(&s->request, id, "initialize", buf_view(&params));
	buf_release(&params);
}

static const char *known_revision(struct str string)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++) {
		if (json_is(string, str_from(revisions[i]))) {
			return revisions[i];
		}
	}
	return NULL;
}

static void keep_server_info(struct mcp_session *s, struct str result)
{
	struct str info = JSON_GET(result, "serverInfo");
	struct str name = JSON_GET(info, "name"), version = JSON_GET(info, "version");

	buf_clear(&s->name);
	buf_clear(&s->version);
	if (json_type(name) == JSON_STRING) {
		json_decode(name, &s->name);
	}
	if (json_type(version) == JSON_STRING) {
		json_decode(version, &s->version);
	}
}

static int initialize_once(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	int64_t id = s->next_id++;

	buf_clear(&s->id);
	buf_clear(&s->version_header);
	mcp_wire_headers(s);
	write_initialize(s, id);
	struct http_request q = mcp_wire_post(s, &s->request, true);
	q.follow = true;
	return mcp_wire_exchange(s, &q, id, r, err);
}

/* Some servers refuse an unknown revision instead of offering theirs: -32602 with
 * data.supported. */
static const char *offered_instead(const struct mcp_reply *r)
{
	struct str supported = JSON_GET(r->message.error_data, "supported"), each;
	size_t cursor = 0;

	for (size_t i = 0; i < ARRAY_LEN(revisions); i++) {
		for (cursor = 0; json_next(supported, &cursor, &each);) {
			if (json_is(each, str_from(revisions[i]))) {
				return revisions[i];
			}
		}
	}
	return NULL;
}

static int say_initialized(struct mcp_session *s, struct error *err)
{
	buf_clear(&s->version_header);
	if (strcmp(s->revision, "2025-06-18") >= 0) {
		buf_printf(&s->version_header, "MCP-Protocol-Version: %s", s->revision);
	}
	mcp_wire_headers(s);
	struct buf note = BUF(BUF_MAX_SMALL);
	jsonrpc_write_notification(&note, "notifications/initialized",
	                           (struct str){NULL, 0});
	int failed = mcp_wire_send(s, &note, s->conf.timeout_ms, err);
	buf_release(&note);
	return failed;
}

int mcp_session_open(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	s->revision = revisions[0];
	if (initialize_once(s, r, err)) {
		return -1;
	}
	const char *instead = r->got == MCP_GOT_ERROR ? offered_instead(r) : NULL;
	if (instead) {
		log_info("the server refused revision %s, trying %s", s->revision,
		         instead);
		s->revision = instead;
		if (initialize_once(s, r, err)) {
			return -1;
		}
	}
	if (r->got != MCP_GOT_RESULT) {
		return 0;
	}
	struct str version = JSON_GET(r->message.result, "protocolVersion");
	s->revision = known_revision(version);
	if (!s->revision) {
		buf_clear(&s->text);
		buf_printf(&s->text,
		           "the server speaks MCP revision %.*s; rolldbg speaks %s to %s",
		           STR_ARG(version.p ? version : STR("null")),
		           revisions[ARRAY_LEN(revisions) - 1], revisions[0]);
		r->got = MCP_GOT_UNUSABLE;
		r->text = buf_view(&s->text);
		return 0;
	}
	keep_server_info(s, r->message.result);
	log_info("MCP session open, revision %s", s->revision);
	return say_initialized(s, err);
}

static int request_once(struct mcp_session *s, const char *method, struct str params,
                        bool may_repeat, struct mcp_reply *r, struct error *err)
{
	int64_t id = s->next_id++;

	buf_clear(&s->request);
	jsonrpc_write_request(&s->request, id, method, params);
	struct http_request q = mcp_wire_post(s, &s->request, may_repeat);
	return mcp_wire_exchange(s, &q, id, r, err);
}

static int replace_session(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	struct buf detail = BUF(BUF_MAX_SMALL);
	struct json_writer w;

	jw_init(&w, &detail);
	jw_object(&w);
	jw_key(&w, "why");
	jw_text(&w, "404: the server no longer knows the session");
	int failed = mcp_session_open(s, r, err);
	jw_key(&w, "opened");
	jw_bool(&w, !failed && r->got == MCP_GOT_RESULT);
	if (!failed && r->got != MCP_GOT_RESULT) {
		struct str why = r->got == MCP_GOT_ERROR ? r->message.error : r->text;

		jw_key(&w, "answer");
		jw_str(&w, (struct str){why.p, why.n < ANSWER_MAX ? why.n : ANSWER_MAX});
	}
	jw_end(&w);
	events_push_json(s->conf.events, "session-replaced", &detail);
	buf_release(&detail);
	return failed;
}

int mcp_request(struct mcp_session *s, const char *method, struct str params,
                struct mcp_reply *r, struct error *err)
{
	if (request_once(s, method, params, true, r, err)) {
		return -1;
	}
	if (!r->session_lost) {
		return 0;
	}
	if (replace_session(s, r, err)) {
		return -1;
	}
	return r->got == MCP_GOT_RESULT ? request_once(s, method, params, true, r, err)
	                                : 0;
}

int mcp_call_tool(struct mcp_session *s, struct str name, struct str arguments,
                  struct mcp_reply *r, struct error *err)
{
	struct buf params = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	jw_init(&w, &params);
	jw_object(&w);
	jw_key(&w, "name");
	jw_str(&w, name);
	jw_key(&w, "arguments");
	jw_raw(&w, arguments);
	jw_end(&w);
	int failed = request_once(s, "tools/call", buf_view(&params), false, r, err);
	buf_release(&params);
	if (failed || !r->session_lost) {
		return failed;
	}
	/* the reply's slices stand in these, and a handshake fills them anew */
	struct mcp_reply opened;
	struct buf body = s->body, text = s->text, scratch = s->scratch;
	struct buf location = s->location;
	s->body = s->text = s->scratch = BUF(BUF_MAX_MESSAGE);
	s->location = BUF(BUF_MAX_SMALL);
	failed = replace_session(s, &opened, err);
	buf_release(&s->body);
	buf_release(&s->text);
	buf_release(&s->scratch);
	buf_release(&s->location);
	s->location = location;
	s->body = body;
	s->text = text;
	s->scratch = scratch;
	return failed;
}

void mcp_session_close(struct mcp_session *s)
{
	struct error ignored = {0};
	struct http_exchange *x = NULL;

	mcp_wire_headers(s); /* a session that was not opened to the end has an id, too */
	struct http_request q = {.method = "DELETE",
	                         .url = buf_cstr(&s->url),
	                         .headers = s->headers,
	                         .header_count = s->header_count,
	                         .timeout_ms = GOODBYE_MS,
	                         .may_repeat = true};

	if (!s->id.n || http_begin(s->conf.io, &q, &x, &ignored)) {
		return;
	}
	if (http_wait_headers(x, &ignored)) {
		log_info("the session could not be deleted: %s", ignored.text);
	}
	http_end(x);
	buf_clear(&s->id);
}
