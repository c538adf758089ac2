/* A control plane read as resources of an MCP server: each input line is the reply to the
   next request. A value that was read is JSON, otherwise there is a message with the
   reason; the id that hashing servers derive can be computed from any JSON. */
#include "env/mcp/control_plane.h"
#include "env/mcp/mcp_internal.h"
#include "env/mcp/mcp_session.h"
#include "replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The session of the server. */
struct lines {
	struct mcp_channel base;
	struct str rest;
};

static int answer(struct mcp_channel *c, const struct mcp_outgoing *q, struct mcp_reply *r,
                  struct error *err)
{
	struct lines *l = (struct lines *)c;

	(void)q, (void)err;
	*r = (struct mcp_reply){.got = MCP_GOT_HTTP, .http_status = 200, .asked = q->id};
	r->text = take_line(&l->rest);
	jsonrpc_read(r->text, &r->message);
	if (r->message.kind == JSONRPC_RESULT || r->message.kind == JSONRPC_ERROR)
		r->got = r->message.kind == JSONRPC_RESULT ? MCP_GOT_RESULT : MCP_GOT_ERROR;
	return 0;
}

static const struct mcp_channel_ops ops = {.name = "lines", .exchange = answer};

static void read_all(struct control_plane *c)
{
	struct error err;
	struct str out;

	require(control_detect(c, &err) == 0);
	require(c->kind == CONTROL_NONE || c->kind == CONTROL_RESOURCES);
	c->kind = CONTROL_RESOURCES;
	for (int fact = CONTROL_STATE; fact <= CONTROL_STATUS; fact++) {
		require(control_read(c, (enum control_fact)fact, &out, &err) == 0);
		require((out.p == NULL) == (c->why.n > 0));
		require_json(out);
	}
}

static void read_states(struct mcp_session *s, struct control_plane *c)
{
	static const enum state_kind kinds[] = {STATE_RESOURCE, STATE_TOOL, STATE_CONTROL_PLANE};
	struct reply_reading reading;
	struct error err;
	struct str out;

	reading_init(&reading);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct state_source source = {.kind = kinds[i],
		                              .target = STR("x://y"),
		                              .arguments = STR("{}"),
		                              .value = BUF(BUF_MAX_MESSAGE),
		                              .why = BUF(BUF_MAX_MESSAGE),
		                              .scratch = BUF(BUF_MAX_MESSAGE)};

		require(mcp_read_state(&source, s, c, &reading, STR_NONE, &out, &err) == 0);
		require_json(out);
		require(out.p || source.why.n || c->why.n || !source.value.n);
		buf_release(&source.value);
		buf_release(&source.why);
		buf_release(&source.scratch);
	}
	reading_release(&reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines l = {.rest = {(const char *)data, size}};
	struct event_queue events = {0};
	struct env_conf conf = {.url = STDIO_SCHEME "x", .env_session = "s1"};
	struct mcp_session s = {.ops = &ops,
	                        .channel = &l.base,
	                        .request = BUF(BUF_MAX_MESSAGE),
	                        .url = BUF(BUF_MAX_SMALL),
	                        .conf.events = &events};
	struct str config = json_or_none(take_line(&l.rest));
	struct control_plane c;

	buf_text(&s.url, STDIO_SCHEME "x");
	control_init(&c, NULL, &s, &events, &conf);
	read_all(&c);
	read_states(&s, &c);
	control_use_hash(&c, json_type(config) == JSON_OBJECT ? config : STR_NONE, "lake", "1",
	                 true, 42);
	require(c.id.n == 32);
	control_release(&c);
	buf_release(&s.request);
	buf_release(&s.url);
	events_release(&events);
	return 0;
}
