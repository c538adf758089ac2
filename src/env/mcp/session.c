/* Opening and closing an MCP session: see mcp_session.h. */
#include "env/mcp/mcp_session.h"

#include "base/log.h"
#include "base/mem.h"
#include "env/mcp/input.h"

#include <stdlib.h>
#include <string.h>

#define CANCEL_MS  1000
#define ANSWER_MAX ((size_t)4096) /* bytes of the response that refused the session */

void mcp_kept_init(struct mcp_kept *k)
{
	k->body = k->text = k->media = BUF(BUF_MAX_MESSAGE);
	k->location = BUF(BUF_MAX_SMALL);
}

void mcp_kept_release(struct mcp_kept *k)
{
	BUFS_RELEASE(&k->body, &k->text, &k->media, &k->location);
}

/* Switches to this channel, and discards the state of the previous one. */
static void use_channel(struct mcp_session *s, const struct mcp_channel_ops *ops)
{
	if (s->channel)
		s->ops->destroy(s->channel);
	s->ops = ops;
	s->channel = ops->create(s);
}

struct mcp_session *mcp_session_new(const struct mcp_conf *conf)
{
	struct mcp_session *s = mem_new(sizeof(*s));

	s->conf = *conf;
	s->url = s->id = s->name = s->version = BUF(BUF_MAX_SMALL);
	s->request = s->marked = BUF(BUF_MAX_MESSAGE);
	mcp_kept_init(&s->kept);
	buf_text(&s->url, conf->url);
	s->revision = mcp_newest_revision(true);
	use_channel(s, str_starts(str_from(conf->url), STR(STDIO_SCHEME)) ? &mcp_stdio : &mcp_http);
	io_set_idle(conf->io, mcp_listen_idle, s);
	return s;
}

void mcp_session_free(struct mcp_session *s)
{
	if (!s)
		return;
	io_unset_idle(s->conf.io, s);
	s->ops->destroy(s->channel);
	BUFS_RELEASE(&s->url, &s->id, &s->name, &s->version, &s->request);
	mcp_kept_release(&s->kept);
	buf_release(&s->marked);
	free(s);
}

/* ---- open, request, close ---- */

/* Writes the parameters of initialize. */
static void write_offer(struct mcp_session *s, struct buf *params)
{
	json_pack(params,
	          "{protocolVersion:%t,capabilities:%r,clientInfo:{name:'rolldbg',version:%t,"
	          "_extra:%?r}}",
	          s->revision, STR("{" ELICIT_CAPABILITY "}"), s->conf.client_version,
	          s->conf.extra.n ? s->conf.extra : STR_NONE);
}

void mcp_store_server_info(struct mcp_session *s, struct str info)
{
	struct str name = JSON_GET(info, "name"), version = JSON_GET(info, "version");

	buf_clear(&s->name);
	buf_clear(&s->version);
	if (json_type(name) == JSON_STRING)
		json_decode(name, &s->name);
	if (json_type(version) == JSON_STRING)
		json_decode(version, &s->version);
}

static int notify(struct mcp_session *s, const char *method, struct str params, uint64_t timeout_ms,
                  struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	jsonrpc_write_notification(&text, method, params);
	struct mcp_outgoing q = {.text = buf_view(&text),
	                         .method = method,
	                         .params = params,
	                         .timeout_ms = timeout_ms};
	return s->ops->send(s->channel, &q, err);
}

/* The response is no longer awaited. */
static int cancel(struct mcp_session *s, int64_t id, struct error *err)
{
	uint64_t timeout_ms = s->conf.timeout_ms;
	AUTO_BUF params = BUF(BUF_MAX_SMALL);

	s->late_responses++;
	json_pack(&params, "{requestId:%i,reason:'timeout'}", id);
	return notify(s, "notifications/cancelled", buf_view(&params),
	              timeout_ms < CANCEL_MS ? timeout_ms : CANCEL_MS, err);
}

int mcp_ask(struct mcp_session *s, struct mcp_outgoing q, struct mcp_reply *r, struct error *err)
{
	q.id = s->next_id++;
	q.timeout_ms = q.timeout_ms ? q.timeout_ms : s->conf.timeout_ms;
	buf_clear(&s->request);
	jsonrpc_write_request(&s->request, q.id, q.method, q.params);
	q.text = buf_view(&s->request);
	s->request_pending = true;
	int failed = s->ops->exchange(s->channel, &q, r, err);
	s->request_pending = false;
	if (failed)
		return -1;
	/* over HTTP without sessions, closing the connection is enough */
	bool needs_no_cancel = q.opens || (s->modern && s->ops == &mcp_http);
	return r->got == MCP_GOT_TIMEOUT && !needs_no_cancel ? cancel(s, q.id, err) : 0;
}

static int initialize_once(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	AUTO_BUF params = BUF(BUF_MAX_MESSAGE);

	buf_clear(&s->id);
	s->agreed = false;
	write_offer(s, &params);
	struct mcp_outgoing q = {.method = "initialize",
	                         .params = buf_view(&params),
	                         .may_repeat = true,
	                         .opens = true};
	return mcp_ask(s, q, r, err);
}

/* Some servers reject an unknown revision instead of offering one: -32602 with data.supported. */
const char *mcp_offered_instead(const struct mcp_reply *r)
{
	return mcp_revision_in(JSON_GET(r->message.error_data, "supported"), true);
}

static int initialize(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	s->revision = mcp_newest_revision(true);
	if (initialize_once(s, r, err))
		return -1;
	const char *instead = r->got == MCP_GOT_ERROR ? mcp_offered_instead(r) : NULL;
	if (instead) {
		log_info("the server refused revision %s, trying %s", s->revision, instead);
		s->revision = instead;
		return initialize_once(s, r, err);
	}
	return 0;
}

/* Statuses that identify a server of revision 2024-11-05, which accepts no POST at that URL.
   Others, such as 401 or 500, prove nothing. */
static bool may_be_older(const struct mcp_session *s, const struct mcp_reply *r)
{
	return s->ops == &mcp_http && r->got != MCP_GOT_RESULT &&
	       (r->http_status == 400 || r->http_status == 404 || r->http_status == 405);
}

/* Tries Streamable HTTP, then the older HTTP+SSE; if both fail, the reply of the first
   counts. */
static int initialize_any(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	if (initialize(s, r, err))
		return -1;
	if (!may_be_older(s, r))
		return 0;
	struct mcp_kept kept = s->kept;
	struct mcp_reply first = *r;
	mcp_kept_init(&s->kept);
	use_channel(s, &mcp_sse);
	int failed = initialize(s, r, err);
	if (failed || mcp_sse_found(s->channel)) {
		log_info("%s: the older HTTP+SSE", buf_cstr(&s->url));
		mcp_kept_release(&kept);
		return failed;
	}
	use_channel(s, &mcp_http);
	mcp_kept_release(&s->kept);
	s->kept = kept;
	*r = first;
	return 0;
}

static int open_legacy(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	if (initialize_any(s, r, err))
		return -1;
	if (r->got != MCP_GOT_RESULT) {
		if (mcp_is_modern_error(r))
			log_warn("the server has no sessions: use \1era\2 modern");
		return 0;
	}
	struct str version = JSON_GET(r->message.result, "protocolVersion");
	s->revision = mcp_revision_named(version, true);
	if (!s->revision) {
		AUTO_BUF why = BUF(BUF_MAX_SMALL);

		buf_printf(&why, "the server uses MCP revision %.*s; rolldbg supports %s to %s",
		           STR_ARG(version.p ? version : STR("null")), mcp_oldest_revision(true),
		           mcp_newest_revision(true));
		mcp_set_failure(s, r, MCP_GOT_UNUSABLE, buf_cstr(&why));
		return 0;
	}
	s->agreed = true;
	mcp_store_server_info(s, JSON_GET(r->message.result, "serverInfo"));
	log_info("MCP session open, revision %s", s->revision);
	return notify(s, "notifications/initialized", STR_NONE, s->conf.timeout_ms, err)
	               ? error_from_peer(err)
	               : 0;
}

int mcp_session_open(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	bool final = false;

	if (s->conf.era == MCP_ERA_LEGACY)
		return open_legacy(s, r, err);
	if (mcp_modern_open(s, &final, r, err))
		return -1;
	if (s->conf.era == MCP_ERA_MODERN && !s->modern && !final && r->got == MCP_GOT_ERROR) {
		log_warn("the server does not support the revision without sessions: try "
		         "\1era\2 legacy or auto");
	}
	if (final || s->conf.era == MCP_ERA_MODERN)
		return 0;
	if (s->ops != &mcp_http) {
		/* some programs exit on a request before initialize: restart */
		use_channel(s, s->ops);
	}
	return open_legacy(s, r, err);
}

static int replace_session(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	const char *why = s->ops == &mcp_sse ? "the event stream ended"
	                                     : "HTTP 404: the server no longer has the session";
	int failed = mcp_session_open(s, r, err);
	bool refused = !failed && r->got != MCP_GOT_RESULT;
	struct str answer = !refused                  ? STR_NONE
	                    : r->got == MCP_GOT_ERROR ? r->message.error
	                                              : r->text;

	answer.n = answer.n < ANSWER_MAX ? answer.n : ANSWER_MAX;
	events_pack(s->conf.events, EVENT_SESSION_REPLACED, "{why:%t,opened:%b,answer:%?s}", why,
	            !failed && !refused, answer);
	return failed;
}

int mcp_request(struct mcp_session *s, const char *method, struct str params, struct mcp_reply *r,
                struct error *err)
{
	struct mcp_outgoing q = {.method = method, .params = params, .may_repeat = true};

	if (s->modern)
		return mcp_modern_request(s, method, params, true, r, err);
	if (mcp_ask(s, q, r, err))
		return -1;
	if (!r->session_lost)
		return 0;
	if (replace_session(s, r, err))
		return -1;
	return r->got == MCP_GOT_RESULT ? mcp_ask(s, q, r, err) : 0;
}

int mcp_call_once(struct mcp_session *s, struct str name, struct str arguments, struct mcp_reply *r,
                  struct error *err)
{
	AUTO_BUF params = BUF(BUF_MAX_MESSAGE);

	/* Servers report progress only if there is a progress token: the id of the request, which mcp_ask
	   assigns. Without sessions mcp_modern_request adds _meta. */
	json_pack(&params,
	          s->modern ? "{name:%s,arguments:%r}"
	                    : "{name:%s,arguments:%r,_meta:{progressToken:%i}}",
	          name, arguments, s->next_id);
	struct mcp_outgoing q = {.method = "tools/call", .params = buf_view(&params)};
	int failed = s->modern ? mcp_modern_request(s, q.method, q.params, false, r, err)
	                       : mcp_ask(s, q, r, err);
	if (failed || !r->session_lost)
		return failed;
	/* the reply's slices point into it, and a handshake overwrites it */
	struct mcp_kept kept = s->kept;
	struct mcp_reply opened;
	mcp_kept_init(&s->kept);
	failed = replace_session(s, &opened, err);
	mcp_kept_release(&s->kept);
	s->kept = kept;
	return failed;
}
