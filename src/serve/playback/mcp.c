/* Recorded replies over MCP: see mcp.h. Each kind of failure that env/mcp/reply.c distinguishes
   is reproduced at the layer that reported it. */
#include "serve/playback/playback.h"

#include "base/html.h"
#include "json/write.h"

static bool is_block(struct str value)
{
	static const char *const types[] = {"text", "image", "audio", "resource", "resource_link"};
	struct str type = JSON_GET(value, "type");

	for (size_t i = 0; json_type(type) == JSON_STRING && i < ARRAY_LEN(types); i++)
		if (json_is(type, str_from(types[i])))
			return true;
	return false;
}

/* Several blocks, or a block other than text, were recorded unchanged. */
static bool is_content(struct str observation)
{
	struct str each;
	size_t cursor = 0;

	if (json_type(observation) != JSON_ARRAY)
		return false;
	while (json_next(observation, &cursor, &each))
		if (!is_block(each))
			return false;
	return true;
}

/* A string that is not JSON text was plain text; any other value was JSON inside a text block. */
static void put_text(struct str value, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	bool plain = json_type(value) == JSON_STRING &&
	             (!json_decode(value, &text) || !json_is_valid(buf_view(&text)));

	if (plain)
		buf_str(out, value);
	else
		json_quote(out, value.p ? value : STR("null"));
	buf_release(&text);
}

static void put_content(const struct recorded_reply *r, struct buf *out)
{
	struct str observation = r->observation;

	if (is_content(observation)) {
		buf_str(out, observation);
		return;
	}
	buf_text(out, "[{\"type\":\"text\",\"text\":");
	if (r->text.p)
		buf_str(out, r->text);
	else
		put_text(observation, out);
	buf_text(out, "}]");
}

static struct str output_schema(const struct playback_session *s, struct str name)
{
	struct str tool;

	for (size_t cursor = 0; json_next(s->rollout->tools, &cursor, &tool);)
		if (json_is(JSON_GET(tool, "name"), name))
			return JSON_GET(tool, "outputSchema");
	return STR_NONE;
}

/* Structured content equal to the text is not recorded. Clients reject a result without it if
   the tool has an output schema, so it is restored. */
static void put_structured(const struct playback_session *s, const struct recorded_call *c,
                           struct buf *out)
{
	const struct recorded_reply *r = &c->reply;
	struct str schema = output_schema(s, c->name), observation = r->observation;
	bool wrapped = JSON_GET(JSON_GET(schema, "properties"), "result").p &&
	               !JSON_GET(observation, "result").p;

	if (r->structured.p)
		buf_printf(out, ",\"structuredContent\":%.*s", STR_ARG(r->structured));
	else if (schema.p && observation.p && r->outcome == OUTCOME_OK && wrapped)
		buf_printf(out, ",\"structuredContent\":{\"result\":%.*s}", STR_ARG(observation));
	else if (schema.p && r->outcome == OUTCOME_OK && json_type(observation) == JSON_OBJECT)
		buf_printf(out, ",\"structuredContent\":%.*s", STR_ARG(observation));
}

static void write_result(const struct playback_session *s, const struct recorded_call *c,
                         struct buf *out)
{
	const struct recorded_reply *r = &c->reply;
	bool by_mcp = r->outcome != OUTCOME_OK && r->layer == LAYER_MCP;
	bool denied = r->outcome == OUTCOME_OK || r->disagrees == LAYER_MCP;

	buf_char(out, '{');
	if (r->observation.p || !r->structured.p) {
		buf_text(out, "\"content\":");
		put_content(r, out);
	} else {
		buf_text(out, "\"content\":null");
	}
	put_structured(s, c, out);
	if (by_mcp || denied)
		buf_printf(out, ",\"isError\":%s", by_mcp ? "true" : "false");
	if (r->layer == LAYER_FRAMEWORK) /* recorded from a server that misspelled isError */
		buf_text(out, ",\"is_error\":true");
	buf_char(out, '}');
}

static void write_error(const struct recorded_reply *r, struct buf *out)
{
	int64_t code;

	if (json_type(r->observation) == JSON_OBJECT) {
		buf_str(out, r->observation);
		return;
	}
	json_pack(out, "{code:%i,message:%s}", json_i64(r->code, &code) ? code : -32603,
	          r->message);
}

static void write_http(const struct recorded_reply *r, struct playback_reply *out)
{
	int64_t status;

	out->status = json_i64(r->code, &status) && status >= 200 && status <= 599
	                      ? (unsigned)status
	                      : 500;
	if (r->observation.p) {
		out->kind = PLAYBACK_REFUSAL;
		write_error(r, &out->body);
		return;
	}
	out->kind = PLAYBACK_HTTP;
	if (r->bytes.p) {
		out->type = html_is_page(r->bytes) ? "text/html; charset=utf-8"
		                                   : "text/plain; charset=utf-8";
		buf_str(&out->body, r->bytes);
	}
}

/* Replies other than a tool's result; false: it is a tool's result. */
static bool write_failure(const struct recorded_reply *r, struct playback_reply *out)
{
	if (r->outcome == OUTCOME_TIMEOUT && r->layer == LAYER_TRANSPORT) {
		out->kind = PLAYBACK_NO_REPLY;
	} else if (r->layer == LAYER_TRANSPORT || r->layer == LAYER_WEBSOCKET) {
		out->kind = PLAYBACK_CLOSE;
	} else if (r->layer == LAYER_HTTP) {
		write_http(r, out);
	} else if (r->layer == LAYER_JSONRPC) {
		out->kind = PLAYBACK_ERROR;
		write_error(r, &out->body);
	} else {
		return false;
	}
	return true;
}

static void answer_recorded(const struct playback_session *s, const struct recorded_call *c,
                            struct playback_reply *out)
{
	const struct recorded_reply *r = &c->reply;

	out->changes_session = c->changes_session;
	if (write_failure(r, out))
		return;
	out->kind = PLAYBACK_RESULT;
	if (r->outcome == OUTCOME_PROTOCOL_ERROR && r->layer == LAYER_MCP &&
	    json_type(r->observation) == JSON_OBJECT) {
		buf_str(&out->body, r->observation); /* not a tool result: recorded whole */
	} else {
		write_result(s, c, &out->body);
	}
}

static void answer_text(struct str text, bool is_error, struct playback_reply *out)
{
	out->kind = PLAYBACK_RESULT;
	json_pack(&out->body, "{content:[{type:'text',text:%s}],isError:%b}", text, is_error);
}

static void answer_state(const struct playback_session *s, struct playback_reply *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	bool known = playback_state(s).p != NULL;

	if (known)
		playback_state_text(s, &text);
	answer_text(known ? buf_view(&text) : STR("no state was recorded here"), !known, out);
	buf_release(&text);
}

void playback_mcp_call(struct playback_session *s, struct str name, struct str arguments,
                       struct playback_reply *out)
{
	struct buf decoded = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);

	json_decode(name, &decoded);
	if (playback_reads_state(s, buf_view(&decoded), arguments)) {
		answer_state(s, out);
	} else {
		const struct recorded_call *c =
			playback_call(s, buf_view(&decoded), arguments, &why);

		if (c)
			answer_recorded(s, c, out);
		else
			answer_text(buf_view(&why), true, out);
	}
	BUFS_RELEASE(&decoded, &why);
}

bool playback_mcp_refusal(const struct playback_session *s, struct playback_reply *out)
{
	const struct recorded_reply *r = &s->rollout->reset;

	return !s->rollout->tools.p && r->outcome != OUTCOME_OK && write_failure(r, out);
}

struct str playback_control_state(struct playback_session *s)
{
	bool state_unread = s->state_unread;
	struct str start = s->rollout->reset.observation;

	s->state_unread = false;
	struct str now = playback_state(s);

	if (s->rollout->state_kind != STATE_CONTROL_PLANE || (state_unread && start.p))
		return start;
	return now.p || s->last ? now : start;
}

void playback_state_text(const struct playback_session *s, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	put_text(playback_state(s), &text);
	json_decode(buf_view(&text), out);
	buf_release(&text);
}
