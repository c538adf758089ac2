/* Playing a recording over OpenEnv, so that a client that records the replies gets the same
   recording: see openenv.h. */
#include "serve/openenv/openenv.h"

#include "json/canon.h"
#include "json/write.h"
#include "serve/playback/playback.h"

#define CODE_GONE 1011

static void write_observation(const struct recorded_reply *r, struct buf *out)
{
	json_pack(out, "{type:'observation',data:{observation:%r,reward:%r,done:%r,metadata:%?r}}",
	          r->observation, r->reward, json_flag(r->terminated),
	          JSON_GET(r->structured, "metadata"));
}

static void write_data(const char *type, struct str data, struct buf *out)
{
	json_pack(out, "{type:%t,data:%r}", type, data);
}

/* Error frames were recorded whole; an error inside an observation has no code. */
static bool is_error_frame(const struct recorded_reply *r)
{
	struct str code = JSON_GET(r->observation, "code");

	return r->layer == LAYER_FRAMEWORK && r->code.p && !r->reward.p && code.p &&
	       json_equal(code, r->code) && JSON_GET(r->observation, "message").p;
}

static void close_as_recorded(const struct recorded_reply *r, struct openenv_reply *out)
{
	int64_t code;

	const char *reason = r->message.p ? strstr(r->message.p, "WebSocket: ") : NULL;

	if (reason) { /* after the code */
		reason = strchr(reason + strlen("WebSocket: "), ' ');
		out->reason = reason ? reason + 1 : NULL;
	}
	out->close = json_i64(r->code, &code) && code >= 1000 && code < 5000 && code != 1005 &&
	                             code != 1006
	                     ? (int)code
	                     : CODE_GONE;
}

static void write_reply(const struct recorded_reply *r, struct openenv_reply *out)
{
	if (r->bytes.p)
		buf_str(&out->text, r->bytes);
	else if (r->outcome == OUTCOME_TIMEOUT && r->layer == LAYER_TRANSPORT)
		return; /* no reply: the client times out */
	else if (r->layer == LAYER_TRANSPORT || r->layer == LAYER_HTTP)
		out->disconnect = true;
	else if (r->layer == LAYER_WEBSOCKET)
		close_as_recorded(r, out);
	else if (is_error_frame(r))
		write_data("error", r->observation, &out->text);
	else if (r->layer == LAYER_BODY && r->outcome == OUTCOME_PROTOCOL_ERROR)
		write_data("observation", r->observation, &out->text);
	else
		write_observation(r, &out->text);
}

/* The episode gets the client's id, as when it was recorded. */
static void set_episode_id(struct openenv_session *s, struct str id)
{
	buf_clear(&s->own.id);
	if (json_type(id) == JSON_STRING)
		buf_str(&s->own.id, id);
}

/* An id that appears later belongs to another episode and is not replaced. */
static void write_state(const struct openenv_session *s, struct str state, struct buf *out)
{
	struct str first = JSON_GET(s->played->rollout->first_state, "episode_id");
	struct str own = buf_view(&s->own.id);
	struct json_member m;
	AUTO_ARENA keys = {0};

	if (json_type(state) != JSON_OBJECT || own.n == 0 || json_is_null(first)) {
		write_data("state", state, out);
		return;
	}
	struct json_writer w = jw_form(out, "{type:'state',data:{");
	for (size_t cursor = 0; json_next_member(state, &cursor, &m);) {
		bool ours = str_is(m.key, "episode_id") && json_equal(m.value, first);

		jw_key_str(&w, json_key_text(&keys, m.key));
		jw_raw(&w, ours ? own : m.value);
	}
	jw_pack(&w, "}}");
}

void openenv_play_reset(struct openenv_message *t)
{
	struct playback_session *s = t->session->played;
	struct playback_request wanted = {.reset_args = t->data};
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	wanted.has_seed = json_i64(JSON_GET(t->data, "seed"), &wanted.seed);
	if (playback_reset(s, &wanted, &why)) {
		set_episode_id(t->session, JSON_GET(t->data, "episode_id"));
		write_reply(&s->rollout->reset, t->reply);
	} else {
		openenv_reply_error(t->reply, "EXECUTION_ERROR", "%s", buf_cstr(&why));
	}
}

void openenv_play_step(struct openenv_message *t)
{
	struct playback_session *s = t->session->played;
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);
	bool by_tool = openenv_playback_tools(s->all).p != NULL;
	struct str arguments = by_tool ? JSON_GET(t->data, "arguments") : t->data;
	struct str tool = JSON_GET(t->data, "tool_name");

	if (by_tool && episode_lists_tools(t->data)) {
		json_pack(
			&t->reply->text,
			"{type:'observation',data:{observation:{tools:%r},reward:null,done:false}}",
			openenv_playback_tools(s->all));
		return;
	}
	if (!by_tool)
		buf_text(&name, "step");
	else if (json_type(tool) == JSON_STRING)
		json_decode(tool, &name);
	const struct recorded_call *c = playback_call(s, buf_view(&name), arguments, &why);

	if (c)
		write_reply(&c->reply, t->reply);
	else
		openenv_reply_error(t->reply, "EXECUTION_ERROR", "%s", buf_cstr(&why));
	atomic_fetch_add(&t->session->server->steps, c != NULL);
}

/* If states were recorded from another source, the environment had a state but it was not
   recorded, or contained only the step count. */
void openenv_play_state(struct openenv_message *t)
{
	const struct playback_session *s = t->session->played;
	struct str now = playback_state(s);
	struct buf *out = &t->reply->text;

	if (s->rollout->state_kind != STATE_OPENENV) {
		int64_t steps = playback_steps(s);

		json_pack(out, "{type:'state',data:{episode_id:null,step_count:%i}}",
		          steps < 0 ? 0 : steps);
	} else if (now.p) {
		write_state(t->session, now, out);
	} else {
		openenv_reply_error(t->reply, "EXECUTION_ERROR", "no state was recorded here");
	}
}

void openenv_play_open(struct openenv_session *s, struct openenv_reply *r)
{
	const struct playback_request anything = {.has_seed = false};
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	s->played = playback_begin(s->server->conf.playback, &anything, &why);
	if (!s->played) {
		openenv_reply_error(r, "CAPACITY_REACHED", "%s", buf_cstr(&why));
		r->close = CLOSE_NORMAL;
	} else if (!s->played->rollout->tools.p &&
	           s->played->rollout->reset.outcome != OUTCOME_OK) {
		write_reply(&s->played->rollout->reset, r);
		r->close = r->close ? r->close : CLOSE_NORMAL;
	}
}

static struct str only_step(struct str tools)
{
	struct str tool = json_first(tools);

	return json_is(JSON_GET(tool, "name"), STR("step")) ? tool : STR_NONE;
}

struct str openenv_playback_tools(const struct playback_source *p)
{
	struct str tools = playback_sample(p)->tools;

	return only_step(tools).p ? STR_NONE : tools;
}

void openenv_playback_schema(const struct playback_source *p, struct buf *out)
{
	struct str step_tool = only_step(playback_sample(p)->tools);

	episode_schema_of(JSON_GET(step_tool, "inputSchema"), out);
}
