/* Decoder of ORS. A session is the id in X-Session-ID, whatever connection carries it; its episode
   begins when the client has the prompt, or else with its first call, and ends when it is deleted.
   What replies mean is decided where `run` decides it, in env/ors/. */
#include "env/ors/ors.h"
#include "base/map.h"
#include "tap/episode.h"

#include <stdlib.h>

struct ors_session {
	struct map_item item; /* must be first */
	struct tap_session *tap;
	struct buf create; /* the body of create; empty: not seen */
	struct buf name;
	bool created; /* and its episode has not begun */
	bool deleted; /* ends with the last of its calls */
};

struct ors_decoder {
	struct tap_recording *r;
	struct map sessions;
	struct reply_reading reading;
	struct sse sse;
	struct buf reply, task_id, tools;
};

static void *start(struct tap_recording *r)
{
	struct ors_decoder *d = mem_new(sizeof(*d));

	d->r = r;
	d->reply = d->tools = BUF(BUF_MAX_MESSAGE);
	d->task_id = BUF(BUF_MAX_SMALL);
	reading_init(&d->reading);
	sse_init(&d->sse, BUF_MAX_MESSAGE);
	return d;
}

static void end_session(struct ors_decoder *d, struct ors_session *s, const struct tap_ending *e)
{
	map_remove(&d->sessions, &s->item);
	tap_session_end(s->tap, e, NULL);
	BUFS_RELEASE(&s->create, &s->name);
	free(s);
}

static void stop(void *ctx)
{
	struct ors_decoder *d = ctx;
	struct ors_session **all = map_list(&d->sessions);

	for (size_t n = d->sessions.count, i = 0; i < n; i++)
		end_session(d, all[i], &(struct tap_ending){.stopped = true});
	free(all);
	reading_release(&d->reading);
	sse_release(&d->sse);
	BUFS_RELEASE(&d->reply, &d->task_id, &d->tools);
	free(d);
}

/* ---- whose requests ---- */

static bool is_at(const struct tap_exchange *x, const char *what)
{
	return str_ends(tap_path(&x->request), str_from(what));
}

static bool owns(void *ctx, const struct tap_head *request)
{
	(void)ctx;
	return tap_header(request, "x-session-id").n ||
	       str_ends(tap_path(request), STR("/create_session"));
}

static struct ors_session *find(struct ors_decoder *d, const struct tap_exchange *x)
{
	struct str id = tap_header(&x->request, "x-session-id");
	uint64_t hash = map_hash(id);
	struct ors_session *s = id.n ? map_find(&d->sessions, hash, id) : NULL;

	if (s || !id.n || is_at(x, "/ping") || is_at(x, "/delete") || is_at(x, "/delete_session"))
		return s;
	s = mem_new(sizeof(*s));
	s->create = BUF(BUF_MAX_MESSAGE);
	s->name = BUF(BUF_MAX_SMALL);
	s->tap = tap_session_begin(d->r, PROTOCOL_ORS, x->connection, id);
	map_add(&d->sessions, &s->item, hash);
	return s;
}

/* ---- replies ---- */

static void read_answer(struct ors_decoder *d, const struct tap_exchange *x, struct ors_answer *out)
{
	struct str body = x->reply_body.bytes;
	bool stream = str_starts(tap_header(&x->reply, "content-type"), STR("text/event-stream"));

	*out = (struct ors_answer){.http = {.status = x->reply.status}};
	buf_clear(&d->reply);
	if (stream && x->reply.status == 200) {
		sse_restart(&d->sse);
		out->stream = ors_read_events(&d->sse, body, &d->reply, &d->task_id);
	} else {
		buf_str(&d->reply, body);
		out->is_starting = x->reply.status == 503 &&
		                   str_is(tap_header(&x->reply, "x-backend-state"), "starting");
	}
	out->http.text = buf_view(&d->reply);
	if (json_validate(out->http.text, &out->http.fault) == 0)
		out->http.data = out->http.text;
}

/* The data of `create`: what tells tasks apart. A task by its number has a name. */
static void begin_episode(struct ors_decoder *d, struct ors_session *s,
                          const struct env_reply *reset)
{
	struct str data = buf_given(&s->create);
	struct str split = JSON_GET(data, "split"), name = JSON_GET(data, "env_name");
	AUTO_BUF task = BUF(BUF_MAX_SMALL);
	int64_t index;

	if (json_type(name) == JSON_STRING && !s->name.n)
		json_decode(name, &s->name);
	struct tap_env_facts env = {.name = s->name.n ? buf_view(&s->name) : STR("ors"),
	                            .tools = buf_given(&d->tools)};
	if (json_i64(JSON_GET(data, "index"), &index) && json_type(split) == JSON_STRING) {
		json_decode(split, &task);
		buf_printf(&task, ".%lld", (long long)index);
	}
	tap_episode_begin(s->tap, &(struct tap_episode_start){.env = &env,
	                                                      .task = buf_given(&task),
	                                                      .reset_args = data,
	                                                      .data = data,
	                                                      .reset = reset});
	s->created = false;
}

static void begin_step(struct ors_decoder *d, struct ors_session *s, struct tap_exchange *x)
{
	struct str body = x->request_body.bytes;
	AUTO_BUF tool = BUF(BUF_MAX_SMALL);

	if (!json_is_valid(body) || JSON_GET(body, "task_id").n > 2)
		return; /* asks for the rest of a stream */
	if (s->created) /* a client that needs no prompt */
		begin_episode(d, s, &(struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN});
	json_text_or_json(JSON_GET(body, "name"), &tool);
	x->own = tap_step_begin(s->tap, buf_view(&tool), JSON_GET(body, "input"));
}

static void end_step(struct ors_decoder *d, struct ors_session *s, struct tap_exchange *x,
                     struct str why)
{
	static const struct env_conf conf = {.url = NULL};
	struct ors_answer a;
	struct env_reply reply;

	read_answer(d, x, &a);
	a.http.text = a.http.status ? a.http.text : why;
	ors_read_call(&a, tap_episode_before(s->tap), &conf, &d->reading, &reply);
	tap_step_end(x->own, &reply);
	x->own = NULL;
	if (reply.outcome == OUTCOME_OK)
		tap_total(s->tap, reply.reward, STR_NONE);
}

/* ---- exchanges ---- */

/* A path without the environment's name is redirected: the call is the request that follows. */
static bool is_redirect(const struct tap_exchange *x)
{
	return x->reply.status / 100 == 3;
}

static bool may_be_redirected(const struct tap_exchange *x)
{
	return str_is(tap_path(&x->request), "/call");
}

static void request(void *ctx, struct tap_exchange *x)
{
	struct ors_session *s = find(ctx, x);

	if (s && is_at(x, "/call") && !may_be_redirected(x))
		begin_step(ctx, s, x);
}

static void head(void *ctx, struct tap_exchange *x)
{
	struct ors_session *s = find(ctx, x);

	if (s && may_be_redirected(x) && !is_redirect(x))
		begin_step(ctx, s, x);
}

static void take_create(struct ors_session *s, const struct tap_exchange *x,
                        const struct env_reply *reply, struct ors_decoder *d)
{
	if (json_is_valid(x->request_body.bytes))
		buf_set(&s->create, x->request_body.bytes);
	s->created = reply->outcome == OUTCOME_OK;
	if (!s->created)
		begin_episode(d, s, reply);
}

/* "/lake/prompt": "lake" */
static void learn_name(struct ors_session *s, struct str path)
{
	const char *last = path.n ? memchr(path.p + 1, '/', path.n - 1) : NULL;

	if (last && !s->name.n)
		buf_add(&s->name, path.p + 1, (size_t)(last - path.p) - 1);
}

static void take_reply(struct ors_decoder *d, struct ors_session *s, struct tap_exchange *x)
{
	struct ors_answer a;
	struct env_reply reply;

	read_answer(d, x, &a);
	if (is_at(x, "/prompt") && s->created && !a.is_starting) {
		learn_name(s, tap_path(&x->request));
		ors_read_prompt(&a, &d->reading, &reply);
		begin_episode(d, s, &reply);
		return;
	}
	ors_read_other(&a, &d->reading, &reply);
	if (is_at(x, "/create")) {
		take_create(s, x, &reply, d);
	} else if (is_at(x, "tools") && reply.outcome == OUTCOME_OK) {
		learn_name(s, tap_path(&x->request));
		ors_put_tools(a.http.data, &d->tools);
	}
}

static void refuse(struct ors_decoder *d, const struct tap_exchange *x)
{
	struct ors_answer a;
	struct env_reply reply;

	read_answer(d, x, &a);
	ors_read_other(&a, &d->reading, &reply);
	if (reply.outcome == OUTCOME_OK)
		return; /* the session is known by its first request */
	struct tap_session *refused =
		tap_session_begin(d->r, PROTOCOL_ORS, x->connection, STR_NONE);
	tap_session_refused(refused, NULL, &reply);
	tap_session_end(refused, &(struct tap_ending){.first = TAP_NOBODY}, NULL);
}

static void reply(void *ctx, struct tap_exchange *x)
{
	struct ors_session *s = find(ctx, x);

	if (!s)
		refuse(ctx, x);
	else if (x->own)
		end_step(ctx, s, x, STR(""));
	else if (!is_redirect(x) && !is_at(x, "/call"))
		take_reply(ctx, s, x);
}

/* The client may break the connection when it has the result. */
static void closed(void *ctx, struct tap_exchange *x, const struct tap_ending *e)
{
	struct ors_session *s = find(ctx, x);

	if (!s)
		return;
	if (x->own)
		end_step(ctx, s, x, e->why);
	if (is_at(x, "/delete"))
		tap_episode_end(s->tap, END_STOPPED, "the client deleted the session");
	s->deleted |= is_at(x, "/delete_session");
	if (s->deleted && !tap_session_awaits(s->tap))
		end_session(ctx, s, e);
}

const struct tap_decoder tap_ors = {
	.owns = owns,
	.start = start,
	.stop = stop,
	.request = request,
	.head = head,
	.reply = reply,
	.closed = closed,
};
