/* Decoder of NeMo Gym's resources servers. A session is the id in the signed cookie, whatever
   connection carries it. An episode begins with seed_session or reset; it ends with verify, or when
   a step reports its end. What replies mean is decided where `run` decides it, in env/nemo_gym/. */
#include "env/nemo_gym/nemo_gym.h"
#include "base/map.h"
#include "tap/episode.h"

#include <stdlib.h>

struct gym_session {
	struct map_item item; /* must be first */
	struct tap_session *tap;
	struct buf id;   /* empty: that of the first reply */
	struct buf also; /* the session that answered in its place; empty: none */
	bool over;       /* ends with the last of its calls */
};

struct gym_decoder {
	struct tap_recording *r;
	struct map sessions;
	struct reply_reading reading;
	bool seen; /* a client of this protocol */
};

struct gym_call {
	struct gym_session *session;
	struct tap_step *step;
	bool is_step; /* of a gymnasium-style server */
};

static void *start(struct tap_recording *r)
{
	struct gym_decoder *d = mem_new(sizeof(*d));

	d->r = r;
	reading_init(&d->reading);
	return d;
}

static void end_session(struct gym_decoder *d, struct gym_session *s, const struct tap_ending *e)
{
	map_remove(&d->sessions, &s->item);
	tap_session_end(s->tap, e, NULL);
	BUFS_RELEASE(&s->id, &s->also);
	free(s);
}

static void stop(void *ctx)
{
	struct gym_decoder *d = ctx;
	struct gym_session **all = map_list(&d->sessions);

	for (size_t n = d->sessions.count, i = 0; i < n; i++)
		end_session(d, all[i], &(struct tap_ending){.stopped = true});
	free(all);
	reading_release(&d->reading);
	free(d);
}

/* ---- whose requests ---- */

/* What a request is for: the end of its path, which may begin with that of a proxy. */
static struct str wanted(const struct tap_head *request)
{
	struct str path = tap_path(request), name = STR_NONE;

	while (path.n)
		name = str_cut(&path, '/');
	return name;
}

static bool is_at(const struct tap_head *request, const char *name)
{
	return str_is(wanted(request), name);
}

/* The session in a header of the form "NAME=VALUE[; ..]"; false if it names none. */
static bool session_in(struct str cookies, struct buf *out)
{
	bool found = false;

	while (cookies.n && !found)
		found = nemo_gym_session_id(str_cut(&cookies, ';'), out);
	return found;
}

static bool begins_episode(const struct tap_head *request)
{
	return is_at(request, "seed_session") || is_at(request, "reset");
}

/* A call that lacks the cookie is known by its method alone, once there was a session. */
static bool owns(void *ctx, const struct tap_head *request)
{
	struct gym_decoder *d = ctx;
	AUTO_BUF id = BUF(BUF_MAX_SMALL);
	bool ours =
		str_is(request->method, "POST") && (begins_episode(request) || d->seen ||
	                                            session_in(tap_header(request, "cookie"), &id));

	d->seen |= ours;
	return ours && !is_at(request, "aggregate_metrics");
}

static struct gym_session *find(struct gym_decoder *d, struct str id)
{
	struct gym_session *s = map_find(&d->sessions, map_hash(id), id);
	struct gym_session **all = s ? NULL : map_list(&d->sessions);

	for (size_t i = 0; !s && i < d->sessions.count; i++)
		if (str_eq(buf_view(&all[i]->also), id))
			s = all[i];
	free(all);
	return s;
}

static struct gym_session *new_session(struct gym_decoder *d, const struct tap_exchange *x,
                                       struct str id)
{
	struct gym_session *s = mem_new(sizeof(*s));

	s->id = s->also = BUF(BUF_MAX_SMALL);
	buf_str(&s->id, id);
	s->tap = tap_session_begin(d->r, PROTOCOL_NEMO_GYM, x->connection, buf_view(&s->id));
	map_add(&d->sessions, &s->item, map_hash(id));
	return s;
}

/* The session of a request; without a cookie the only one that is open, if there is one. */
static struct gym_session *session_of(struct gym_decoder *d, const struct tap_exchange *x)
{
	AUTO_BUF id = BUF(BUF_MAX_SMALL);

	if (session_in(tap_header(&x->request, "cookie"), &id))
		return find(d, buf_view(&id));
	return d->sessions.count == 1 ? (struct gym_session *)d->sessions.root : NULL;
}

/* ---- episodes ---- */

static void read_answer(const struct tap_exchange *x, struct http_json_answer *out)
{
	struct str body = x->reply_body.bytes.p ? x->reply_body.bytes : STR("");

	*out = (struct http_json_answer){.status = x->reply.status, .text = body};
	if (json_validate(body, &out->fault) == 0)
		out->data = body;
}

static const struct tap_env_facts env = {.name = STR_INIT("nemo-gym")};

/* The task's own members: without the prompt and tools, which are long and the model's. */
static void begin_episode(struct gym_session *s, const struct tap_exchange *x, bool steps,
                          const struct env_reply *reset)
{
	struct str body = x->request_body.bytes;
	struct str data = json_is_valid(body) ? body : STR_NONE;

	tap_episode_begin(s->tap, &(struct tap_episode_start){
					  .env = &env,
					  .reset_args = data,
					  .data = data,
					  .state_kind = steps ? STATE_OBSERVATION : STATE_UNKNOWN,
					  .first_state = steps ? reset->observation : STR_NONE,
					  .reset = reset});
	if (steps && reset->outcome == OUTCOME_OK)
		tap_state(s->tap, reset->observation);
}

static void take_begin(struct gym_decoder *d, struct tap_exchange *x)
{
	bool steps = is_at(&x->request, "reset");
	struct http_json_answer a;
	struct env_reply reply;
	AUTO_BUF id = BUF(BUF_MAX_SMALL);

	read_answer(x, &a);
	nemo_gym_read_begin(&a, steps, &d->reading, &reply);
	bool named = session_in(tap_header(&x->reply, "set-cookie"), &id) ||
	             session_in(tap_header(&x->request, "cookie"), &id);
	struct gym_session *s = named ? find(d, buf_view(&id)) : NULL;
	s = s ? s : new_session(d, x, buf_view(&id));
	begin_episode(s, x, steps, &reply);
	s->over = reply.outcome != OUTCOME_OK;
	if (s->over && !tap_session_awaits(s->tap))
		end_session(d, s, &(struct tap_ending){.first = TAP_NOBODY});
}

/* ---- calls ---- */

/* That of a call whose cookie is of no session that began here, or that has none while several are
   open: the server answers for a new one, which the reply names. */
static struct gym_session *stray_session(struct gym_decoder *d, const struct tap_exchange *x)
{
	AUTO_BUF id = BUF(BUF_MAX_SMALL);

	session_in(tap_header(&x->request, "cookie"), &id);
	return new_session(d, x, buf_view(&id));
}

/* The model's first call in the request of /step, or what it says as the tool `step`. */
static void read_action(struct str body, struct buf *tool, struct buf *arguments)
{
	struct str output = JSON_GET(JSON_GET(body, "response"), "output"), item;

	for (size_t cursor = 0; json_next(output, &cursor, &item);) {
		struct str text = JSON_GET(json_first(JSON_GET(item, "content")), "text");

		if (json_is(JSON_GET(item, "type"), STR("function_call"))) {
			buf_clear(tool);
			buf_clear(arguments);
			json_text_or_json(JSON_GET(item, "name"), tool);
			json_text_or_json(JSON_GET(item, "arguments"), arguments);
			if (json_is_valid(buf_view(arguments)))
				return;
		} else if (json_type(text) == JSON_STRING && !tool->n) {
			buf_text(tool, "step");
			buf_printf(arguments, "{\"text\":%.*s}", STR_ARG(text));
		}
	}
}

static void request(void *ctx, struct tap_exchange *x)
{
	struct gym_session *s;
	struct str body = x->request_body.bytes;
	AUTO_BUF tool = BUF(BUF_MAX_SMALL), arguments = BUF(BUF_MAX_MESSAGE);
	bool is_step = is_at(&x->request, "step");
	bool valid = json_is_valid(body);

	if (begins_episode(&x->request) || is_at(&x->request, "verify") ||
	    is_at(&x->request, "close_session")) {
		return;
	}
	s = session_of(ctx, x);
	s = s ? s : stray_session(ctx, x);
	if (is_step && valid) {
		read_action(body, &tool, &arguments);
	} else {
		buf_str(&tool, wanted(&x->request));
		buf_str(&arguments, valid ? body : STR_NONE);
	}
	struct gym_call *c = mem_new(sizeof(*c));
	c->session = s;
	c->is_step = is_step;
	if (!tap_episode_is_open(s->tap))
		tap_episode_begin(s->tap, &(struct tap_episode_start){.env = &env});
	c->step = tap_step_begin(s->tap, buf_view(&tool), buf_view(&arguments));
	x->own = c;
}

/* Does the reply name another session than was asked, `from`? Then it was given for that one, `to`,
   in which the client may go on. */
static bool name_answerer(struct gym_decoder *d, struct gym_session *s,
                          const struct tap_exchange *x, struct buf *from, struct buf *to)
{
	if (!session_in(tap_header(&x->request, "cookie"), from))
		buf_set(from, buf_view(&s->id));
	if (!session_in(tap_header(&x->reply, "set-cookie"), to) ||
	    str_eq(buf_view(to), buf_view(from))) {
		return false;
	}
	if (s->id.n) {
		buf_set(&s->also, buf_view(to));
		return true;
	}
	map_remove(&d->sessions, &s->item);
	buf_set(&s->id, buf_view(to));
	map_add(&d->sessions, &s->item, map_hash(buf_view(to)));
	return false;
}

static void end_call(struct gym_decoder *d, struct gym_call *c, struct tap_exchange *x,
                     struct str why)
{
	static const struct env_conf conf = {.url = NULL};
	struct gym_session *s = c->session;
	struct http_json_answer a;
	struct env_reply reply;
	AUTO_BUF from = BUF(BUF_MAX_SMALL), to = BUF(BUF_MAX_SMALL);

	read_answer(x, &a);
	a.text = a.status ? a.text : why;
	if (c->is_step) {
		nemo_gym_read_step(&a, &d->reading, &reply);
	} else {
		nemo_gym_read_tool(&a, false, tap_episode_before(s->tap), &conf, &d->reading,
		                   &reply);
	}
	bool other = name_answerer(d, s, x, &from, &to);
	if (other) {
		reply.env_session = buf_view(&from);
		reply.reply_session = buf_view(&to);
	}
	tap_step_end(c->step, &reply);
	if (other && tap_header(&x->request, "cookie").n) { /* which was not accepted */
		tap_note(s->tap, EVENT_SESSION_REPLACED, "cookie",
		         STR("the server answered for a new session"));
	}
	if (c->is_step)
		tap_state(s->tap, reply.outcome == OUTCOME_OK ? reply.observation : STR_NONE);
	s->over |= reply.terminated > 0 || reply.truncated > 0;
	free(c);
	x->own = NULL;
}

/* ---- the end ---- */

static void take_verify(struct gym_decoder *d, struct gym_session *s, const struct tap_exchange *x)
{
	AUTO_BUF detail = BUF(BUF_MAX_MESSAGE);
	struct nemo_gym_verified v;
	struct http_json_answer a;

	read_answer(x, &a);
	nemo_gym_read_verify(&a, x->request_body.bytes, &d->reading, &v, &detail);
	if (v.reward.p) {
		tap_event(s->tap, EVENT_NOTIFICATION, buf_view(&detail));
		tap_total(s->tap, v.reward, v.components);
	} else {
		tap_note(s->tap, EVENT_CONTROL_PLANE_FAILED, "verify", v.why);
	}
	tap_episode_end(s->tap, END_FINISHED, "the client had it verified");
	s->over = true;
}

static void reply(void *ctx, struct tap_exchange *x)
{
	struct gym_session *s = session_of(ctx, x);

	if (begins_episode(&x->request))
		take_begin(ctx, x);
	else if (x->own)
		end_call(ctx, x->own, x, STR(""));
	else if (s && is_at(&x->request, "verify"))
		take_verify(ctx, s, x);
}

static void closed(void *ctx, struct tap_exchange *x, const struct tap_ending *e)
{
	struct gym_call *c = x->own;
	struct gym_session *s = c ? c->session : session_of(ctx, x);

	if (c) /* the connection ended before the reply */
		end_call(ctx, c, x, e->why);
	if (s && s->over && !tap_session_awaits(s->tap))
		end_session(ctx, s, e);
}

const struct tap_decoder tap_nemo_gym = {
	.owns = owns,
	.start = start,
	.stop = stop,
	.request = request,
	.reply = reply,
	.closed = closed,
};
