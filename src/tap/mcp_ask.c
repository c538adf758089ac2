/* Questions of the tap to an MCP server, for the state before each call: in plain MCP by the tool or the resource that the user names, in
   MCP-Gym of the control plane. They have the headers of the client's own requests, so that they reach its session. */
#include "env/mcp/headers.h"
#include "env/state_source.h"
#include "json/write.h"
#include "protocol/tool_list.h"
#include "tap/mcp_client.h"

/* ---- whether to ask ---- */

void mcp_ask_later(struct mcp_client *c)
{
	const struct tap_recording *r = c->decoder->recording;

	c->asks = tap_asks(r) && (tap_state_source(r) || (c->has_control && c->env_id.n));
}

static bool awaits_reply(const struct mcp_client *c)
{
	const struct mcp_pending *p = c->pending;

	while (p && p->asked != MCP_ASKED_CALL)
		p = p->next;
	return p || c->asking;
}

/* ---- requests ---- */

static void put_modern_fields(const struct mcp_client *c, const struct state_source *s,
                              const char *method, struct buf *out)
{
	AUTO_BUF lines = BUF(BUF_MAX_SMALL);
	struct str tools = buf_view(&c->decoder->tools);

	mcp_header_add(&lines, "Mcp-Method", str_from(method));
	mcp_header_add(&lines, "Mcp-Name", s->target);
	if (s->kind == STATE_TOOL)
		mcp_header_add_params(&lines, tool_find(tools, s->target), s->arguments);
	for (struct str rest = buf_view(&lines); rest.n;) {
		struct str line = str_cut(&rest, '\0');

		buf_printf(out, "%.*s\r\n", STR_ARG(line));
	}
}

/* The path of the request without its end, which begins with `end`; the whole one without it. */
static struct str path_before(struct str path, const char *end)
{
	struct str last = str_from(end);

	for (size_t n = path.n; n-- > 0;)
		if (str_starts(str_skip(path, n), last))
			return (struct str){path.p, n};
	return path;
}

static void put_control(const struct mcp_client *c, const struct tap_head *h, struct buf *out)
{
	struct str path = tap_path(h);

	buf_printf(out, "GET %.*s/control/initial_state HTTP/1.1\r\n",
	           STR_ARG(path_before(path, mcp_is_control(path) ? "/control/" : "/mcp")));
	tap_put_fields(h, "mcp-session-id", out);
	buf_printf(out, "mcp-session-id: %.*s\r\nAccept: application/json\r\n\r\n",
	           STR_ARG(c->env_id));
}

/* What every request without a session has, from the client's last one. */
static void put_meta(struct str meta, struct buf *out)
{
	struct json_writer w = jw_begin(out);
	struct json_member m;

	for (size_t cursor = 0; json_next_member(meta, &cursor, &m);)
		if (!json_key_is(m.key, STR("progressToken"))) {
			jw_key_spelled(&w, m.key);
			jw_raw(&w, m.value);
		}
	jw_end(&w);
}

static void put_post(struct mcp_client *c, const struct state_source *s, const struct tap_head *h,
                     struct buf *out)
{
	bool tool = s->kind == STATE_TOOL;
	const char *method = tool ? "tools/call" : "resources/read";
	AUTO_BUF body = BUF(BUF_MAX_MESSAGE), meta = BUF(BUF_MAX_MESSAGE);
	bool modern = tap_header(h, "mcp-method").n;

	if (modern)
		put_meta(buf_view(&c->meta), &meta);
	json_pack(
		&body,
		"{jsonrpc:'2.0',id:%r,method:%t,params:{name:%?s,arguments:%?r,uri:%?s,_meta:%?r}}",
		buf_view(&c->ask_id), method, tool ? s->target : STR_NONE,
		tool ? s->arguments : STR_NONE, tool ? STR_NONE : s->target,
		modern ? buf_view(&meta) : STR_NONE);
	buf_printf(out, "POST %.*s HTTP/1.1\r\n", STR_ARG(h->target));
	tap_put_fields(h, NULL, out);
	if (modern)
		put_modern_fields(c, s, method, out);
	buf_printf(
		out,
		"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n\r\n",
		body.n);
	buf_str(out, buf_view(&body));
}

void mcp_ask_state(struct mcp_client *c, const struct tap_exchange *x)
{
	struct mcp_decoder *d = c->decoder;
	AUTO_BUF request = BUF(BUF_MAX_MESSAGE);
	const struct state_source *named = tap_state_source(d->recording);

	if (!c->asks || c->over || x->connection->asker || awaits_reply(c))
		return;
	c->asks = false;
	c->asking = true;
	if (named) { /* an id that neither a client has nor a tap in front of this one */
		buf_clear(&c->ask_id);
		buf_printf(&c->ask_id, "\"rolldbg-tap-%llx-%llu\"", (unsigned long long)x->asked_ns,
		           (unsigned long long)++d->questions);
		put_post(c, named, &x->request, &request);
	} else {
		put_control(c, &x->request, &request);
	}
	tap_ask(d->recording, buf_view(&request), c);
}

struct mcp_client *mcp_asker(const struct mcp_decoder *d, const struct tap_exchange *x)
{
	struct mcp_client *c = d->first;

	while (c && c != x->connection->asker)
		c = c->next;
	return c;
}

/* ---- answers ---- */

static void take_state(struct mcp_client *c, struct str state)
{
	if (c->state_kind == STATE_CONTROL_PLANE)
		mcp_known_state(&c->known, state);
	tap_state(c->session, state);
}

static void take_answer(struct mcp_client *c, struct str state, const char *why)
{
	bool stale = c->stale;

	c->asking = c->stale = false;
	if (stale)
		return; /* it may be the state before the call or after it */
	if (!state.p)
		tap_note(c->session, EVENT_CONTROL_PLANE_FAILED, "state", str_from(why));
	if (tap_episode_is_open(c->session) && !c->held.step) {
		take_state(c, state);
		return;
	}
	buf_set(&c->answer, state);
	c->answered = tap_episode_is_open(c->session);
}

void mcp_answer_use(struct mcp_client *c)
{
	if (c->answered)
		take_state(c, buf_given(&c->answer));
	c->answered = false;
	buf_clear(&c->answer);
}

void mcp_answered_by(struct mcp_client *c, struct mcp_reply *r)
{
	struct state_source *named = tap_state_source(c->decoder->recording);
	struct str state = mcp_take_state(named, r, &c->decoder->answers);

	take_answer(c, state, buf_cstr(&named->why));
}

void mcp_answered_in(struct mcp_client *c, const struct tap_exchange *x)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	struct str body = x->reply_body.bytes;

	if (c->over)
		return;
	if (!x->reply.status)
		buf_text(&why, "no reply in time");
	bool holds =
		x->reply.status && control_reply_holds(CONTROL_STATE, x->reply.status, body, &why);
	take_answer(c, holds ? body : STR_NONE, buf_cstr(&why));
}
