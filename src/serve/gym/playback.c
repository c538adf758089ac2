/* Playing a recording over MCP: see gym.h. Each kind of failure that env/mcp/reply.c distinguishes
   is reproduced at the layer that reported it. */
#include "serve/gym/gym.h"

#include "base/html.h"
#include "json/write.h"
#include "protocol/tool_list.h"
#include "serve/fault/fault.h"
#include "serve/playback/playback.h"

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
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	bool plain = json_type(value) == JSON_STRING &&
	             (!json_decode(value, &text) || !json_is_valid(buf_view(&text)));

	if (plain)
		buf_str(out, value);
	else
		json_quote(out, value.p ? value : STR("null"));
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

/* Structured content equal to the text is not recorded. Clients reject a result without it if
   the tool has an output schema, so it is restored. */
static void put_structured(const struct playback_session *s, const struct recorded_call *c,
                           struct buf *out)
{
	const struct recorded_reply *r = &c->reply;
	struct str schema = JSON_GET(tool_find(s->rollout->tools, c->name), "outputSchema"),
		   observation = r->observation;
	bool wrapped = JSON_GET(JSON_GET(schema, "properties"), "result").p &&
	               !JSON_GET(observation, "result").p;

	if (r->structured.p)
		buf_printf(out, ",\"structuredContent\":%.*s", STR_ARG(r->structured));
	else if (schema.p && observation.p && r->outcome == OUTCOME_OK && wrapped)
		buf_printf(out, ",\"structuredContent\":{\"result\":%.*s}", STR_ARG(observation));
	else if (schema.p && r->outcome == OUTCOME_OK && json_type(observation) == JSON_OBJECT)
		buf_printf(out, ",\"structuredContent\":%.*s", STR_ARG(observation));
}

void gym_write_recorded(const struct playback_session *s, const struct recorded_call *c,
                        struct buf *out)
{
	const struct recorded_reply *r = &c->reply;
	bool by_mcp = r->outcome != OUTCOME_OK && r->layer == LAYER_MCP;
	bool denied = r->outcome == OUTCOME_OK || r->disagrees == LAYER_MCP;

	if (r->outcome == OUTCOME_PROTOCOL_ERROR && r->layer == LAYER_MCP &&
	    json_type(r->observation) == JSON_OBJECT) {
		buf_str(out, r->observation); /* not a tool result: recorded whole */
		return;
	}
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

static void answer_error(struct exchange *x, const struct recorded_reply *r)
{
	int64_t code;

	if (json_type(r->observation) == JSON_OBJECT) {
		json_pack(&x->reply->body, "{jsonrpc:'2.0',id:%r,error:%r}", x->message.id,
		          r->observation);
	} else {
		json_pack(&x->reply->body, "{jsonrpc:'2.0',id:%r,error:{code:%i,message:%s}}",
		          x->message.id, json_i64(r->code, &code) ? code : -32603, r->message);
	}
}

static void answer_http(struct exchange *x, const struct recorded_reply *r)
{
	int64_t code;
	unsigned status =
		json_i64(r->code, &code) && code >= 200 && code <= 599 ? (unsigned)code : 500;

	if (r->observation.p) {
		reply_json(x->reply, status, "");
		answer_error(x, r);
		return;
	}
	x->reply->status = status;
	if (r->bytes.p) {
		x->reply->type = html_is_page(r->bytes) ? "text/html; charset=utf-8"
		                                        : "text/plain; charset=utf-8";
		buf_str(&x->reply->body, r->bytes);
	}
}

/* Replies other than a tool's result; false: it is a tool's result. */
static bool answer_failure(struct exchange *x, const struct recorded_reply *r)
{
	if (r->outcome == OUTCOME_TIMEOUT && r->layer == LAYER_TRANSPORT) {
		x->reply->action = REPLY_WAIT;
		x->reply->wait_ms = WAIT_FOREVER;
	} else if (r->layer == LAYER_TRANSPORT || r->layer == LAYER_WEBSOCKET) {
		x->reply->action = REPLY_CLOSE;
	} else if (r->layer == LAYER_HTTP) {
		answer_http(x, r);
	} else if (r->layer == LAYER_JSONRPC) {
		answer_error(x, r);
		mcp_make_stream(x->reply);
	} else {
		return false;
	}
	return true;
}

/* A string's text, else JSON. */
static void write_state_text(const struct playback_session *s, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	put_text(playback_state(s), &text);
	json_decode(buf_view(&text), out);
}

static void write_text(struct str text, bool is_error, struct buf *out)
{
	json_pack(out, "{content:[{type:'text',text:%s}],isError:%b}", text, is_error);
}

static void write_state(const struct playback_session *s, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	bool known = playback_state(s).p != NULL;

	if (known)
		write_state_text(s, &text);
	write_text(known ? buf_view(&text) : STR("no state was recorded here"), !known, out);
}

void gym_play_call(struct exchange *x, struct str name, struct str arguments)
{
	struct playback_session *s = x->transport->env->played;
	AUTO_BUF decoded = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);
	AUTO_BUF result = BUF(BUF_MAX_MESSAGE);
	const struct recorded_call *c = NULL;

	x->transport->calls++;
	atomic_fetch_add(&x->gym->steps, 1);
	json_decode(name, &decoded);
	if (playback_reads_state(s, buf_view(&decoded), arguments))
		write_state(s, &result);
	else if (!(c = playback_call(s, buf_view(&decoded), arguments, &why)))
		write_text(buf_view(&why), true, &result);
	if (c && c->changes_session)
		gym_transport_rename(x->transport);
	if (!c || !answer_failure(x, &c->reply)) {
		if (c)
			gym_write_recorded(s, c, &result);
		mcp_answer_result(x, buf_view(&result));
	}
}

bool gym_play_resource(struct exchange *x, struct str uri)
{
	const struct playback_session *s = x->transport->env->played;
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), result = BUF(BUF_MAX_MESSAGE);

	if (s->rollout->state_kind != STATE_RESOURCE || !playback_state(s).p)
		return false;
	write_state_text(s, &text);
	json_pack(&result, "{contents:[{uri:%r,text:%s}]}", uri, buf_view(&text));
	mcp_answer_result(x, buf_view(&result));
	return true;
}

static struct playback_request requested_rollout(struct str params)
{
	struct str extra = JSON_GET(JSON_GET(params, "clientInfo"), "_extra");
	struct str config = JSON_GET(extra, "config");
	struct playback_request wanted = {
		.reset_args = json_type(config) == JSON_OBJECT ? config : STR_NONE};

	wanted.has_seed = json_i64(JSON_GET(extra, "seed"), &wanted.seed);
	return wanted;
}

bool gym_play_begin(struct exchange *x)
{
	struct gym_env *e = x->transport->env;
	struct playback_request wanted = requested_rollout(x->message.params);
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	bool refused;

	if (!e->played)
		e->played = playback_begin(x->gym->conf.playback, &wanted, &why);
	if (e->played) {
		const struct recorded_rollout *r = e->played->rollout;

		refused = !r->tools.p && r->reset.outcome != OUTCOME_OK &&
		          answer_failure(x, &r->reset);
	} else {
		reply_refusal(x->reply, 503, -32603, buf_cstr(&why));
		refused = true;
	}
	if (refused) {
		gym_transport_close(x->gym, x->transport);
		x->transport = NULL;
	}
	return !refused;
}
