/* What the messages of MCP clients and servers mean: see mcp_client.h. */
#include "tap/mcp_client.h"

#include "env/failure.h"
#include "env/mcp/mcp_session.h"
#include "env/reading.h"
#include "protocol/tool_list.h"

#include <stdlib.h>

#define META(name) "io.modelcontextprotocol/" name

/* ---- events and steps ---- */

static void put_events(struct mcp_client *c)
{
	struct event e;

	while (events_take(&c->events, &e))
		tap_event(c->session, e.kind, e.detail);
}

static void end_step(struct mcp_client *c, struct tap_step *step, struct env_reply *out)
{
	bool ok = out->outcome == OUTCOME_OK;

	mcp_known_conclude(&c->known, out);
	ok &= out->outcome == OUTCOME_OK;
	tap_step_end(step, out);
	if (c->state_kind == STATE_OBSERVATION)
		tap_state(c->session, ok ? out->observation : STR_NONE);
	put_events(c);
}

void mcp_client_flush(struct mcp_client *c)
{
	struct mcp_held *h = &c->held;
	struct tap_step *step = h->step;

	if (!step)
		return;
	h->step = NULL;
	if (h->status.read) {
		struct str status = buf_given(&h->status.text);

		mcp_known_status(&c->known, status, buf_cstr(&h->status.why), &h->reply);
	}
	if (h->reward.read && !c->known.state_lost) {
		struct str reward = buf_given(&h->reward.text);

		mcp_known_reward(&c->known, reward, buf_cstr(&h->reward.why), &h->reply);
	}
	h->status.read = h->reward.read = false;
	end_step(c, step, &h->reply);
	mcp_answer_use(c);
}

/* ---- the client's messages ---- */

static struct mcp_pending *await(struct mcp_client *c, struct str id, enum mcp_asked asked,
                                 uint64_t exchange)
{
	struct mcp_pending *p = mem_new(sizeof(*p));

	*p = (struct mcp_pending){.id = mem_text(id),
	                          .id_n = id.n,
	                          .asked = asked,
	                          .exchange = exchange,
	                          .next = c->pending};
	c->pending = p;
	return p;
}

void mcp_client_asked(struct mcp_client *c, uint64_t exchange)
{
	await(c, buf_view(&c->ask_id), MCP_ASKED_STATE, exchange);
}

/* eval-protocol's client is the only one that names itself like this. It reads the control plane's
   state once, before the first step, and takes the observations for states from then on. */
static bool takes_observations(struct str client_info)
{
	return json_is(JSON_GET(client_info, "name"), STR("reward-kit"));
}

static void read_initialize(struct mcp_client *c, struct str params)
{
	struct str info = JSON_GET(params, "clientInfo"), extra = JSON_GET(info, "_extra");
	struct str config = JSON_GET(extra, "config");

	c->observes = takes_observations(info);
	c->task = json_text(&c->texts, JSON_GET(extra, "dataset_row_id"));
	c->env_id = json_text(&c->texts, JSON_GET(extra, "session_id"));
	c->has_seed = json_i64(JSON_GET(extra, "seed"), &c->seed);
	buf_set(&c->config, json_type(config) == JSON_OBJECT ? config : STR_NONE);
	tap_session_name(c->session, STR_NONE, c->env_id.n ? c->env_id : STR_NONE);
}

static void call_tool(struct mcp_client *c, const struct jsonrpc_message *m, uint64_t exchange)
{
	struct mcp_pending *p = await(c, m->id, MCP_ASKED_CALL, exchange);
	struct str arguments = JSON_GET(m->params, "arguments");
	AUTO_ARENA texts = {0};
	struct str name = json_text(&texts, JSON_GET(m->params, "name"));

	mcp_client_flush(c);
	c->stale = c->asking;
	if (!tap_episode_is_open(c->session))
		mcp_control_begin_episode(c);
	p->reads_only = tool_is_read_only(buf_view(&c->decoder->tools), name);
	p->step = tap_step_begin(c->session, name, json_is_null(arguments) ? STR_NONE : arguments);
	tap_state(c->session, STR_NONE); /* until it is read again */
}

static void client_request(struct mcp_client *c, const struct jsonrpc_message *m, uint64_t exchange)
{
	buf_set(&c->meta, JSON_GET(m->params, "_meta"));
	if (str_is(m->method, "tools/call")) {
		call_tool(c, m, exchange);
	} else if (str_is(m->method, "initialize")) {
		await(c, m->id, MCP_ASKED_INITIALIZE, exchange);
		read_initialize(c, m->params);
	} else if (str_is(m->method, "server/discover")) {
		await(c, m->id, MCP_ASKED_DISCOVER, exchange);
	} else if (str_is(m->method, "tools/list")) {
		await(c, m->id, MCP_ASKED_TOOLS, exchange)->first_page =
			json_is_null(JSON_GET(m->params, "cursor"));
	}
}

static void note_message(struct mcp_client *c, enum event_kind kind,
                         const struct jsonrpc_message *m, struct str raw)
{
	mcp_note_message(&c->events, kind, m, raw);
	put_events(c);
}

static void settle(struct mcp_client *c, struct mcp_pending *p, struct mcp_reply *r);

static struct mcp_pending *find_pending(const struct mcp_client *c, struct str id)
{
	struct mcp_pending *p = c->pending;

	while (p && !json_equal((struct str){p->id, p->id_n}, id))
		p = p->next;
	return p;
}

/* The client no longer waits for a reply. */
static void cancelled(struct mcp_client *c, struct str params)
{
	struct str id = JSON_GET(params, "requestId"), reason = JSON_GET(params, "reason");
	struct mcp_pending *p = json_is_null(id) ? NULL : find_pending(c, id);
	AUTO_BUF why = BUF(BUF_MAX_MESSAGE);

	if (p && p->asked == MCP_ASKED_CALL) {
		buf_text(&why, "the client cancelled the call");
		if (json_type(reason) == JSON_STRING) {
			buf_text(&why, ": ");
			json_decode(reason, &why);
		}
		settle(c, p, &(struct mcp_reply){.got = MCP_GOT_TIMEOUT, .text = buf_view(&why)});
	}
}

static void client_notification(struct mcp_client *c, const struct jsonrpc_message *m)
{
	if (str_is(m->method, "notifications/cancelled"))
		cancelled(c, m->params);
	else if (str_is(m->method, "notifications/initialized"))
		mcp_ask_later(c);
}

/* ---- replies ---- */

static void set_facts(struct mcp_client *c, struct str revision, struct str info)
{
	const char *known = mcp_revision_named(revision, !c->modern);

	c->facts = (struct tap_env_facts){
		.name = json_text(&c->texts, JSON_GET(info, "name")),
		.version = json_text(&c->texts, JSON_GET(info, "version")),
		.revision = known ? known : json_text(&c->texts, revision).p,
		.era = c->modern ? "modern" : "legacy",
		.transport = c->decoder->transport,
	};
}

/* The client will try another revision, another transport, or log in. */
static bool asks_for_another(const struct mcp_reply *r)
{
	return r->http_status == 401 ||
	       json_type(JSON_GET(r->message.error_data, "supported")) == JSON_ARRAY;
}

/* Without an id the connection is all that tells sessions apart. */
static void take_offered_id(struct mcp_client *c)
{
	c->id = c->offered_id;
	tap_session_name(c->session, c->id, STR_NONE);
	c->connection_id = c->id.n ? 0 : c->connection;
	if (c->lost) {
		c->lost = false;
		tap_event(c->session, EVENT_SESSION_REPLACED,
		          STR("{\"why\":\"HTTP 404: the server no longer has the session\","
		              "\"opened\":true}"));
	}
}

static void settle_initialize(struct mcp_client *c, struct mcp_reply *r)
{
	struct env_reply refusal = {REPLY_UNKNOWN};
	struct tap_ending e = {.first = TAP_SERVER, .why = STR("the server refused the session")};

	if (r->got == MCP_GOT_RESULT) {
		set_facts(c, JSON_GET(r->message.result, "protocolVersion"),
		          JSON_GET(r->message.result, "serverInfo"));
		take_offered_id(c);
		return;
	}
	if (!asks_for_another(r)) {
		mcp_read_other(r, &c->known.reading, &refusal);
		tap_session_refused(c->session, NULL, &refusal);
	}
	if (c->decoder->stdio)
		return; /* the process is the session */
	mcp_client_end(c, &e);
}

static void settle_discover(struct mcp_client *c, const struct mcp_reply *r)
{
	struct str revision = json_first(JSON_GET(r->message.result, "supportedVersions"));

	if (r->got == MCP_GOT_RESULT && revision.p) {
		c->modern = true;
		struct str info =
			JSON_GET(JSON_GET(r->message.result, "_meta"), META("serverInfo"));
		set_facts(c, revision, info.p ? info : JSON_GET(r->message.result, "serverInfo"));
		mcp_ask_later(c);
	}
}

static void settle_tools(struct mcp_client *c, const struct mcp_pending *p,
                         const struct mcp_reply *r)
{
	struct str tools = JSON_GET(r->message.result, "tools");
	struct str next = JSON_GET(r->message.result, "nextCursor");

	if (r->got != MCP_GOT_RESULT || json_type(tools) != JSON_ARRAY)
		return;
	if (p->first_page)
		buf_clear(&c->tools);
	if (!c->tools.n) {
		buf_str(&c->tools, tools);
	} else if (json_count(tools)) {
		bool any = json_count(buf_view(&c->tools)) > 0;

		buf_cut(&c->tools, c->tools.n - 1);
		buf_text(&c->tools, any ? "," : "");
		buf_add(&c->tools, tools.p + 1, tools.n - 1);
	}
	if ((json_is_null(next) || json_is(next, STR(""))) && !c->tools.full)
		buf_set(&c->decoder->tools, buf_view(&c->tools));
	if (!tap_episode_is_open(c->session) && !c->answer.n)
		mcp_ask_later(c);
}

static void settle_call(struct mcp_client *c, const struct mcp_pending *p, struct mcp_reply *r)
{
	struct env_reply out = {REPLY_UNKNOWN};
	struct mcp_call_context context = {.env_session = c->env_id,
	                                   .before = mcp_known_before(&c->known)};

	mcp_client_flush(c);
	mcp_ask_later(c);
	c->known.reads_only = p->reads_only;
	mcp_read_tool_reply(r, &context, &c->known.reading, &out);
	mcp_known_cut_raw(&c->known, &out);
	out.session = c->id;
	out.env_session = c->env_id;
	if (c->has_control && env_reply_received(&out)) {
		c->held.reply = out;
		reading_keep(&c->held.reply, &c->held.kept);
		tap_step_replied(p->step);
		c->held.step = p->step;
	} else {
		end_step(c, p->step, &out);
	}
}

/* The session is gone; one that has an environment may be continued by another. */
static void lose(struct mcp_client *c)
{
	struct tap_ending e = {.first = TAP_SERVER,
	                       .why = STR("HTTP 404: the server no longer has the session")};

	mcp_client_flush(c);
	c->lost = true;
	if (!c->env_id.n)
		mcp_client_end(c, &e);
}

static void no_longer_pending(struct mcp_client *c, const struct mcp_pending *p)
{
	struct mcp_pending **at = &c->pending;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
}

static void settle(struct mcp_client *c, struct mcp_pending *p, struct mcp_reply *r)
{
	no_longer_pending(c, p);
	json_i64((struct str){p->id, p->id_n}, &r->asked);
	switch (p->asked) {
	case MCP_ASKED_INITIALIZE:
		settle_initialize(c, r);
		break;
	case MCP_ASKED_DISCOVER:
		settle_discover(c, r);
		break;
	case MCP_ASKED_TOOLS:
		settle_tools(c, p, r);
		break;
	case MCP_ASKED_CALL:
		settle_call(c, p, r);
		break;
	case MCP_ASKED_STATE:
		mcp_answered_by(c, r);
		break;
	}
	free(p->id);
	free(p);
	if (r->session_lost && !c->over)
		lose(c);
}

/* ---- messages ---- */

static struct mcp_pending *of_exchange(const struct mcp_client *c, uint64_t exchange, bool *single)
{
	struct mcp_pending *found = NULL;

	*single = true;
	for (struct mcp_pending *p = c->pending; p; p = p->next) {
		if (p->exchange == exchange) {
			*single = !found;
			found = p;
		}
	}
	return found;
}

bool mcp_client_awaits(const struct mcp_client *c, uint64_t exchange)
{
	bool single;

	return of_exchange(c, exchange, &single) != NULL;
}

void mcp_client_redirected(struct mcp_client *c, uint64_t exchange)
{
	bool single;
	struct mcp_pending *p = of_exchange(c, exchange, &single);

	if (p && p->asked == MCP_ASKED_INITIALIZE) {
		no_longer_pending(c, p);
		c->redirected = true;
		free(p->id);
		free(p);
	}
}

/* An error whose id is no number belongs to the only request it can answer: servers send null, no
   id, or a string of their own. */
static struct mcp_pending *request_answered_by(const struct mcp_client *c,
                                               const struct jsonrpc_message *m, uint64_t exchange)
{
	struct mcp_pending *p = json_is_null(m->id) ? NULL : find_pending(c, m->id);
	bool single;

	if (p || m->kind != JSONRPC_ERROR || json_type(m->id) == JSON_NUMBER)
		return p;
	p = of_exchange(c, exchange, &single);
	return single ? p : NULL;
}

static void settle_message(struct mcp_client *c, struct mcp_pending *p, struct mcp_reply *r)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	if (r->message.kind == JSONRPC_INVALID) {
		buf_printf(&why, "the reply is not a JSON-RPC response: %s",
		           mcp_message_fault(&r->message));
		r->got = MCP_GOT_UNUSABLE;
		r->text = buf_view(&why);
	} else {
		r->got = r->message.kind == JSONRPC_RESULT ? MCP_GOT_RESULT : MCP_GOT_ERROR;
	}
	settle(c, p, r);
}

/* r: of the server; NULL: it is the client's. */
static void take_one(struct mcp_client *c, const struct jsonrpc_message *m, struct str raw,
                     uint64_t exchange, const struct mcp_reply *r)
{
	bool answers = m->kind == JSONRPC_RESULT || m->kind == JSONRPC_ERROR ||
	               (m->kind == JSONRPC_INVALID && !m->method.p);
	struct mcp_pending *p = r && answers ? request_answered_by(c, m, exchange) : NULL;

	if (p) {
		struct mcp_reply reply = *r;

		reply.message = *m;
		settle_message(c, p, &reply);
		return;
	}
	switch (m->kind) {
	case JSONRPC_REQUEST:
		if (!r)
			client_request(c, m, exchange);
		break;
	case JSONRPC_NOTIFICATION:
		if (r)
			note_message(c, EVENT_NOTIFICATION, m, raw);
		else
			client_notification(c, m);
		break;
	case JSONRPC_NOT_JSON:
	case JSONRPC_INVALID:
		note_message(c, EVENT_NOISE, m, raw);
		break;
	case JSONRPC_RESULT: /* of requests that do not matter here */
	case JSONRPC_ERROR:
	case JSONRPC_BATCH:
		break;
	}
}

static void take_text(struct mcp_client *c, struct str text, uint64_t exchange,
                      const struct mcp_reply *r)
{
	struct jsonrpc_message m;
	struct str each;

	jsonrpc_read(text, &m);
	if (m.kind != JSONRPC_BATCH) {
		take_one(c, &m, text, exchange, r);
		return;
	}
	for (size_t cursor = 0; !c->over && json_next(text, &cursor, &each);) {
		jsonrpc_read_valid(each, &m);
		take_one(c, &m, each, exchange, r);
	}
}

void mcp_client_sent(struct mcp_client *c, struct str text, uint64_t exchange)
{
	take_text(c, text, exchange, NULL);
}

void mcp_client_received(struct mcp_client *c, struct str text, uint64_t exchange, int http_status)
{
	struct mcp_reply r = {.http_status = http_status};

	take_text(c, text, exchange, &r);
}

void mcp_client_replied(struct mcp_client *c, uint64_t exchange, struct mcp_reply *r)
{
	struct mcp_pending *p;
	bool single;

	if (r->got == MCP_GOT_HTTP) {
		jsonrpc_read(r->text, &r->message);
		if (r->message.kind >= JSONRPC_RESULT) /* an error, or several replies */
			take_text(c, r->text, exchange, r);
	}
	while (!c->over && (p = of_exchange(c, exchange, &single)))
		settle(c, p, r);
}
