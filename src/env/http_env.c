/* Common to adapters over HTTP: see http_env.h. */
#include "env/http_env.h"

#include "env/failure.h"
#include "json/write.h"

void http_env_init(struct http_env *e, const struct env_ops *ops, const struct env_conf *conf,
                   struct io *io)
{
	e->base.ops = ops;
	e->conf = conf;
	e->tools = e->request = e->start = e->seen = BUF(BUF_MAX_MESSAGE);
	e->name = BUF(BUF_MAX_SMALL);
	http_json_init(&e->http, conf, io, &e->base.events);
	reading_init(&e->reading);
}

void http_env_release(struct http_env *e)
{
	BUFS_RELEASE(&e->name, &e->tools, &e->request, &e->start, &e->seen);
	http_json_release(&e->http);
	reading_release(&e->reading);
	state_source_release(&e->source);
	events_release(&e->base.events);
	ignore_paths_release(&e->ignored);
	arena_release(&e->kept);
}

int http_env_claims(const char *url)
{
	return !strncmp(url, "http://", 7) || !strncmp(url, "https://", 8);
}

/* ---- the state ---- */

int http_env_set_source(struct http_env *e, enum state_kind otherwise, struct error *err)
{
	enum state_kind kind = e->source.kind == STATE_AUTO ? otherwise : e->source.kind;

	e->source.kind = kind;
	if (kind != STATE_TOOL && kind != STATE_OBSERVATION && kind != STATE_NONE) {
		return error_set(err, FAIL_USAGE,
		                 "\1state\2 %s: not available with \1protocol\2 %s: use tool:NAME, "
		                 "observation or none",
		                 state_kind_name(kind), e->base.ops->name);
	}
	e->base.facts.protocol = e->base.ops->name;
	e->base.facts.state_kind = kind;
	e->base.facts.state_target = e->source.target;
	e->base.facts.state_arguments = e->source.arguments;
	e->base.facts.name = buf_view(&e->name);
	e->base.facts.tools = buf_view(&e->tools);
	e->base.facts.url = buf_view(&e->http.base);
	return 0;
}

/* ---- replies ---- */

void http_env_keep_reset(struct http_env *e, struct env_reply *out, bool observed)
{
	struct str first = reading_keep(out, &e->kept);

	e->last = observed ? first : STR_NONE;
	buf_set(&e->start, first);
	buf_set(&e->seen, first);
}

void http_env_keep_step(struct http_env *e, struct env_reply *out)
{
	e->last = reading_keep(out, &e->kept);
	if (out->outcome == OUTCOME_OK)
		buf_set(&e->seen, e->last);
	out->env_session = e->base.facts.env_session;
}

int http_env_begin_episode(struct http_env *e, struct env_reply *out, bool observed,
                           struct error *err)
{
	http_env_keep_reset(e, out, observed);
	out->env_session = e->base.facts.env_session;
	return ignore_paths_of_session(&e->ignored, &e->base, e->conf, e->last, err);
}

struct hidden_error_context http_env_before(const struct http_env *e)
{
	return reading_before(&e->start, &e->seen);
}

void http_env_find_error(struct hidden_error_context before, const struct env_conf *conf,
                         struct reply_reading *r, struct env_reply *out)
{
	struct hidden_error found = hidden_error_in_body(out->observation, before);

	found = hidden_error_stronger(found, hidden_error_in_text(out->observation));
	found = hidden_error_stronger(found,
	                              hidden_error_by_pattern(out->observation, conf->error_texts,
	                                                      conf->error_text_count));
	if (found.strength < HIDDEN_ERROR_LIKELY)
		return;
	reading_message(r, reading_as_text(r, found.message), out);
	out->error.class = error_text_class(out->error.message, found.layer, CLASS_TOOL);
	out->outcome = error_class_outcome(out->error.class, OUTCOME_TOOL_ERROR);
	out->error.layer = found.layer;
	out->error.disagrees = LAYER_FRAMEWORK;
	out->error.code = found.code;
}

struct str http_env_reward(struct str value)
{
	bool truth;

	if (json_bool(value, &truth))
		return truth ? STR("1") : STR("0");
	return json_type(value) == JSON_NUMBER ? value : STR_NONE;
}

void http_env_put_tool(struct json_writer *w, struct str name, struct str description,
                       struct str schema)
{
	jw_pack(w, "{name:%r,description:%r,inputSchema:%r}", name, description,
	        json_type(schema) == JSON_OBJECT ? schema : STR("{\"type\":\"object\"}"));
}

void http_env_note_state(struct http_env *e, struct str why)
{
	if (!e->state_failed)
		reading_note(&e->base.events, EVENT_CONTROL_PLANE_FAILED, "state", why);
	e->state_failed = true;
}

int http_env_state(struct http_env *e, http_env_call *call, struct str *out, struct error *err)
{
	struct state_source *s = &e->source;
	struct env_reply reply;

	*out = STR_NONE;
	if (s->kind == STATE_OBSERVATION)
		*out = state_source_observed(s, e->last);
	if (s->kind != STATE_TOOL)
		return 0;
	if (call(&e->base, s->target, s->arguments, &reply, err))
		return -1;
	if (reply.outcome != OUTCOME_OK) {
		http_env_note_state(e, reply.error.message);
		return 0;
	}
	buf_set(&s->value, reply.observation);
	*out = buf_view(&s->value);
	return 0;
}
