/* From what decoders report to the lines of a recording: see episode.h. */
#include "tap/episode.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/write.h"
#include "tap/naming.h"

#include <stdio.h>
#include <stdlib.h>

struct episode {
	struct arena arena;
	struct buf id;
	struct line_writer writer;
	void *own; /* its recording, of conf.open */
	const struct json_paths *ignore;
	int64_t steps;
	double reward;
	bool rewarded;
	struct buf total;     /* as the environment has it; empty: the sum */
	enum end_status over; /* what the environment reported; END_UNKNOWN: nothing */
	uint64_t began_ns, last_ns;
};

struct tap_step {
	struct tap_step *next; /* sent later in the same session */
	struct tap_session *session;
	struct arena arena;
	struct call_fields call;
	struct str state;
	uint64_t at_ms, began_ns, replied_ns; /* replied_ns 0: not yet */
};

struct tap_session {
	struct tap_session *next, *previous;
	struct tap_recording *r;
	uint64_t number;
	int64_t episodes;
	struct tap_connection connection;
	struct buf session, env_session, state;
	bool state_known, counted; /* counted: it was refused, or began an episode */
	struct arena facts_arena;
	struct tap_env_facts facts;
	struct naming_group *group; /* of its last episode */
	struct episode *episode;    /* NULL: none is open */
	struct tap_step *first, *last;
	struct event_queue waiting; /* events without an episode */
};

struct tap_recording {
	struct tap_recording_conf conf;
	struct scratch_pool *pool;
	struct naming naming;
	struct tap_counts counts;
	struct tap_session *sessions;
	struct error failure;
};

/* ---- the recording ---- */

struct tap_recording *tap_recording_new(const struct tap_recording_conf *conf)
{
	struct tap_recording *r = mem_new(sizeof(*r));

	r->conf = *conf;
	r->pool = scratch_pool_new();
	return r;
}

void tap_recording_free(struct tap_recording *r)
{
	if (r) {
		naming_release(&r->naming);
		scratch_pool_free(r->pool);
		free(r);
	}
}

const struct tap_counts *tap_recording_counts(const struct tap_recording *r)
{
	return &r->counts;
}

const struct error *tap_recording_failure(const struct tap_recording *r)
{
	return &r->failure;
}

static uint64_t now_ns(const struct tap_recording *r)
{
	return r->conf.clock.monotonic_ns(r->conf.clock.ctx);
}

static bool is_broken(const struct tap_recording *r)
{
	return r->failure.kind != FAIL_NONE;
}

/* Nothing is written after the first failure: a recording has no gaps. */
static void stop_recording(struct tap_recording *r, const struct error *why)
{
	if (!is_broken(r)) {
		r->failure = *why;
		log_error("%s; nothing more is recorded, but everything is still relayed",
		          why->text);
	}
}

/* ---- lines ---- */

static void put_event(struct tap_session *s, const struct event *e)
{
	struct error err = {0};

	log_info("event: %s %.*s", event_kind_name(e->kind), STR_ARG(e->detail));
	if (!is_broken(s->r) &&
	    line_writer_event(&s->episode->writer, s->episode->steps, e, &err)) {
		stop_recording(s->r, &err);
	}
}

static void put_waiting(struct tap_session *s)
{
	struct event e;

	while (events_take(&s->waiting, &e)) {
		put_event(s, &e);
	}
}

static void put_header(struct tap_session *s, const struct tap_episode_start *f, const char *task,
                       int64_t sample, struct error *err)
{
	const struct tap_env_facts *e = &s->facts;
	struct header_fields h = {.task = task,
	                          .reset_args = f->reset_args,
	                          .sample = sample,
	                          .has_seed = f->has_seed,
	                          .seed = f->seed,
	                          .protocol = e->protocol,
	                          .env_name = e->name,
	                          .env_version = e->version,
	                          .state_kind = f->state_kind,
	                          .state_target = f->state_target,
	                          .state_ignore = f->state_ignore,
	                          .tools = e->tools,
	                          .max_turns = -1,
	                          .version = s->r->conf.version,
	                          .url = str_from(s->r->conf.url),
	                          .session = buf_view(&s->session),
	                          .env_session = buf_view(&s->env_session),
	                          .client_port = s->connection.client_port,
	                          .revision = e->revision,
	                          .era = e->era,
	                          .transport = e->transport};

	if (line_writer_header(&s->episode->writer, &h, err)) {
		stop_recording(s->r, err);
	}
}

static void put_reset(struct tap_session *s, const struct env_reply *reply)
{
	struct error err = {0};

	if (!is_broken(s->r) && line_writer_reset(&s->episode->writer, reply, STR_NONE, &err)) {
		stop_recording(s->r, &err);
	}
}

static struct str total_reward(const struct episode *e, struct buf *out)
{
	struct json_writer w;

	if (e->total.n) {
		return buf_view(&e->total);
	}
	if (!e->rewarded) {
		return STR_NONE;
	}
	jw_init(&w, out);
	jw_double(&w, e->reward);
	return buf_view(out);
}

/* Writes the end line and frees the episode. */
static void finish(struct tap_session *s, enum end_status status, const char *reason)
{
	struct tap_recording *r = s->r;
	struct episode *e = s->episode;
	struct error err = {0};
	struct buf reward = BUF(BUF_MAX_SMALL);
	struct end_fields f = {.status = status,
	                       .reason = reason,
	                       .turns = e->steps,
	                       .steps = e->steps,
	                       .total_reward = total_reward(e, &reward),
	                       .state = s->state_known ? buf_view(&s->state) : STR_NONE,
	                       .ignore = e->ignore,
	                       .took_ms = (now_ns(r) - e->began_ns) / 1000000};

	if (!is_broken(r) && line_writer_end(&e->writer, &f, &err)) {
		stop_recording(r, &err);
	}
	if (e->own && r->conf.close(r->conf.ctx, e->own, &err)) {
		stop_recording(r, &err);
	}
	buf_release(&reward);
	buf_release(&e->id);
	buf_release(&e->total);
	arena_release(&e->arena);
	free(e);
	s->episode = NULL;
	s->state_known = false;
}

static void end_over(struct tap_session *s)
{
	bool terminated = s->episode->over == END_TERMINATED;

	finish(s, s->episode->over,
	       terminated ? "the environment reported terminated"
	                  : "the environment reported truncated");
}

void tap_episode_end(struct tap_session *s, enum end_status status, const char *reason)
{
	if (!s->episode) {
		return;
	}
	if (s->episode->over != END_UNKNOWN) {
		end_over(s);
	} else {
		finish(s, status, reason);
	}
}

/* ---- names ---- */

/* False: it belongs to no task. */
static bool name_task(struct tap_session *s, const struct tap_episode_start *f, struct buf *task,
                      int64_t *sample)
{
	struct naming_group *g = NULL;
	struct buf data = BUF(BUF_MAX_SMALL);

	if (s->group) { /* it goes on to its next episode */
		s->group->closed = true;
	}
	naming_clean(f->task.n         ? f->task
	             : s->facts.name.n ? s->facts.name
	                               : str_from(s->facts.protocol),
	             task);
	json_canon(f->data.n ? f->data : STR("null"), NULL, JSON_EDIT_DROP, &data);
	if (f->data.n && !data.full) {
		g = naming_join(&s->r->naming, buf_view(&data), now_ns(s->r));
		*sample = g->members - 1;
		if (f->has_seed) {
			buf_printf(task, "-seed%lld", (long long)f->seed);
		} else if (!f->task.n) {
			naming_put_digest(buf_view(&data), task);
		}
		if (g->bursts > 1) {
			buf_printf(task, "-%llu", (unsigned long long)g->bursts);
		}
	}
	s->group = g;
	buf_release(&data);
	return g || f->task.n;
}

static void name_rollout(struct tap_session *s, struct str wire, struct str task, int64_t sample,
                         struct buf *id)
{
	if (wire.n && !naming_is_random(wire)) {
		naming_clean(wire, id);
	} else {
		buf_str(id, task);
		if (sample >= 0) {
			buf_printf(id, ".%lld", (long long)sample);
		} else {
			buf_printf(id, ".s%llu.%lld", (unsigned long long)s->number,
			           (long long)s->episodes);
		}
	}
	naming_claim(&s->r->naming, id);
}

/* ---- episodes ---- */

static void open_recording(struct tap_session *s)
{
	struct tap_recording *r = s->r;
	struct episode *e = s->episode;
	struct recorder *recorder = NULL;
	struct error err = {0};

	if (!is_broken(r) &&
	    r->conf.open(r->conf.ctx, buf_cstr(&e->id), &recorder, &e->own, &err)) {
		stop_recording(r, &err);
	}
	line_writer_init(&e->writer, recorder, r->conf.sinks, r->conf.sink_count, r->conf.clock,
	                 r->pool);
	e->writer.rollout = buf_cstr(&e->id);
}

static void begin(struct tap_session *s, const struct tap_episode_start *f)
{
	struct buf task = BUF(BUF_MAX_SMALL);
	struct episode *e = s->episode = mem_new(sizeof(*e));
	struct error err = {0};
	int64_t sample = -1;

	e->id = BUF(BUF_MAX_SMALL);
	e->ignore = f->ignore;
	e->began_ns = e->last_ns = now_ns(s->r);
	bool has_task = name_task(s, f, &task, &sample);
	name_rollout(s, f->id, buf_view(&task), sample, &e->id);
	open_recording(s);
	if (!is_broken(s->r)) {
		put_header(s, f, has_task ? buf_cstr(&task) : NULL, sample, &err);
	}
	buf_release(&task);
	s->episodes++;
	s->counted = true;
}

static bool has_resets(const struct tap_session *s)
{
	enum protocol p = protocol_parse(str_from(s->facts.protocol));

	return p == PROTOCOL_OPENENV || p == PROTOCOL_MCP_GYM;
}

static bool is_refusal(const struct env_reply *reply)
{
	return reply->outcome != OUTCOME_OK;
}

static void end_refused(struct tap_session *s, const char *what, const struct env_reply *reply)
{
	struct buf reason = BUF(BUF_MAX_MESSAGE);

	buf_text(&reason, what);
	buf_str(&reason, reply->error.message);
	finish(s,
	       reply->outcome == OUTCOME_TRANSPORT_ERROR || reply->outcome == OUTCOME_TIMEOUT
	               ? END_UNREACHABLE
	               : END_REFUSED,
	       buf_cstr(&reason));
	s->r->counts.refused++;
	buf_release(&reason);
}

void tap_episode_begin(struct tap_session *s, const struct tap_episode_start *f)
{
	tap_episode_end(s, END_STOPPED, "the client reset the session");
	begin(s, f);
	if (f->reset) {
		put_reset(s, f->reset);
	} else if (has_resets(s)) {
		s->r->counts.replaced++;
		tap_note(s, EVENT_SESSION_REPLACED, "session",
		         STR("the first message of this session is a step, not a reset: the "
		             "client has reconnected, or forgot the reset"));
	}
	put_waiting(s);
	if (f->reset && is_refusal(f->reset)) {
		end_refused(s, "the reset failed: ", f->reset);
		return;
	}
	s->r->counts.episodes++;
	if (f->reset && f->reset->terminated > 0) {
		s->episode->over = END_TERMINATED;
	}
}

bool tap_episode_is_open(const struct tap_session *s)
{
	return s->episode != NULL;
}

void tap_session_refused(struct tap_session *s, const struct env_reply *refusal)
{
	struct tap_episode_start f = {0};

	tap_episode_end(s, END_STOPPED, "the server refused to go on");
	begin(s, &f);
	put_reset(s, refusal);
	put_waiting(s);
	end_refused(s, "the server refused the session: ", refusal);
}

void tap_state(struct tap_session *s, struct str state)
{
	buf_clear(&s->state);
	buf_str(&s->state, state);
	s->state_known = state.p && !s->state.full;
}

void tap_event(struct tap_session *s, enum event_kind kind, struct str detail)
{
	struct event e = {kind, detail};

	if (s->episode) {
		put_event(s, &e);
	} else {
		events_push(&s->waiting, kind, detail);
	}
}

void tap_note(struct tap_session *s, enum event_kind kind, const char *what, struct str why)
{
	struct buf detail = BUF(BUF_MAX_SMALL);
	struct json_writer w;

	jw_init(&w, &detail);
	jw_object(&w);
	jw_key(&w, "what");
	jw_text(&w, what);
	jw_key(&w, "why");
	jw_str(&w, text_utf8_cut(why, 4096));
	jw_end(&w);
	tap_event(s, kind, buf_view(&detail));
	buf_release(&detail);
}

void tap_remark(struct tap_recording *r, const struct tap_connection *c, const char *what)
{
	r->counts.remarks++;
	log_info("connection %llu from port %u: %s", (unsigned long long)c->id, c->client_port,
	         what);
}

/* ---- steps ---- */

struct tap_step *tap_step_begin(struct tap_session *s, const struct tap_call *c)
{
	struct tap_step *step = mem_new(sizeof(*step));
	const struct clock *clock = &s->r->conf.clock;

	if (!s->episode) {
		tap_episode_begin(s, &(struct tap_episode_start){0});
	}
	step->session = s;
	step->call = (struct call_fields){.id = arena_str(&step->arena, c->id),
	                                  .name = arena_str(&step->arena, c->tool),
	                                  .arguments = arena_str(&step->arena, c->arguments)};
	step->state = s->state_known ? arena_str(&step->arena, buf_view(&s->state)) : STR_NONE;
	step->at_ms = clock->unix_ms(clock->ctx);
	step->began_ns = now_ns(s->r);
	if (s->last) {
		s->last->next = step;
	} else {
		s->first = step;
	}
	s->last = step;
	return step;
}

struct tap_session *tap_step_session(const struct tap_step *step)
{
	return step->session;
}

static void remove_step(struct tap_step *step)
{
	struct tap_session *s = step->session;
	struct tap_step **at = &s->first, *before = NULL;

	while (*at != step) {
		before = *at;
		at = &before->next;
	}
	*at = step->next;
	if (s->last == step) {
		s->last = before;
	}
	arena_release(&step->arena);
	free(step);
}

static void count_reply(struct episode *e, const struct env_reply *r)
{
	double reward;

	e->steps++;
	if (r->outcome == OUTCOME_OK && json_double(r->reward, &reward)) {
		e->reward += reward;
		e->rewarded = true;
	}
	if (r->terminated > 0) {
		e->over = END_TERMINATED;
	} else if (r->truncated > 0 && e->over == END_UNKNOWN) {
		e->over = END_TRUNCATED;
	}
}

void tap_step_replied(struct tap_step *step)
{
	step->replied_ns = now_ns(step->session->r);
}

static uint64_t latency_us(const struct tap_step *step, uint64_t now)
{
	return ((step->replied_ns ? step->replied_ns : now) - step->began_ns) / 1000;
}

void tap_step_end(struct tap_step *step, const struct env_reply *reply)
{
	struct tap_session *s = step->session;
	struct episode *e = s->episode;
	struct error err = {0};

	if (e) { /* else it ended while this was in flight, and an event says so */
		uint64_t now = now_ns(s->r);
		struct step_fields f = {.turn = e->steps,
		                        .step = e->steps,
		                        .state = step->state,
		                        .ignore = e->ignore,
		                        .call = &step->call,
		                        .reply = reply,
		                        .at_ms = step->at_ms,
		                        .latency_us = latency_us(step, now)};

		if (!is_broken(s->r) && line_writer_step(&e->writer, &f, &err)) {
			stop_recording(s->r, &err);
		}
		count_reply(e, reply);
		e->last_ns = now;
		s->r->counts.steps++;
	}
	remove_step(step);
}

void tap_total(struct tap_session *s, struct str reward)
{
	struct episode *e = s->episode;

	if (e && reward.p) {
		e->total.max = BUF_MAX_SMALL;
		buf_clear(&e->total);
		buf_str(&e->total, reward);
	}
}

/* ---- sessions ---- */

void tap_session_facts(struct tap_session *s, const struct tap_env_facts *f)
{
	const char *protocol = f->protocol ? f->protocol : s->facts.protocol;

	arena_reset(&s->facts_arena);
	s->facts = *f;
	s->facts.protocol = protocol;
	s->facts.name = arena_str(&s->facts_arena, f->name);
	s->facts.version = arena_str(&s->facts_arena, f->version);
	s->facts.tools = arena_str(&s->facts_arena, f->tools);
	s->facts.revision = arena_str(&s->facts_arena, str_from(f->revision)).p;
	s->facts.era = arena_str(&s->facts_arena, str_from(f->era)).p;
	s->facts.transport = arena_str(&s->facts_arena, str_from(f->transport)).p;
}

void tap_session_name(struct tap_session *s, struct str session, struct str env_session)
{
	if (session.p) {
		buf_clear(&s->session);
		buf_str(&s->session, session);
	}
	if (env_session.p) {
		buf_clear(&s->env_session);
		buf_str(&s->env_session, env_session);
	}
}

struct tap_session *tap_session_begin(struct tap_recording *r, const struct tap_session_start *f)
{
	struct tap_session *s = mem_new(sizeof(*s));
	struct tap_counts *c = &r->counts;

	*s = (struct tap_session){.r = r,
	                          .number = ++c->sessions,
	                          .connection = *f->connection,
	                          .session = BUF(BUF_MAX_SMALL),
	                          .env_session = BUF(BUF_MAX_SMALL),
	                          .state = BUF(BUF_MAX_MESSAGE),
	                          .facts = {.protocol = f->protocol},
	                          .next = r->sessions};
	if (r->sessions) {
		r->sessions->previous = s;
	}
	r->sessions = s;
	tap_session_name(s, f->session, f->env_session);
	c->open++;
	c->most_open = c->open > c->most_open ? c->open : c->most_open;
	return s;
}

static void put_why(const struct tap_ending *e, struct buf *out)
{
	const char *who = e->first == TAP_CLIENT ? "client" : "server";

	if (e->stopped && e->first == TAP_NOBODY) {
		buf_text(out, "interrupted");
		return;
	}
	buf_printf(out,
	           e->unreachable ? "the %s accepts no connection"
	           : e->lost      ? "the %s dropped the connection"
	                          : "the %s closed the connection first",
	           who);
	if (e->code) {
		buf_printf(out, " (close code %d)", e->code);
	}
	if (e->why.n) {
		buf_text(out, ": ");
		text_escape_cut(out, e->why, 200);
	}
}

static enum end_status ending_status(const struct tap_ending *e)
{
	return e->first == TAP_SERVER   ? END_UNREACHABLE
	       : e->first == TAP_CLIENT ? END_STOPPED
	                                : END_INTERRUPTED;
}

static void end_in_flight(struct tap_session *s, const struct env_reply *reply, struct str why)
{
	struct env_reply none = {
		.outcome = OUTCOME_TRANSPORT_ERROR,
		.error = {.class = CLASS_TRANSPORT, .layer = LAYER_TRANSPORT, .message = why},
		REPLY_UNKNOWN};

	while (s->first) {
		tap_step_end(s->first, reply ? reply : &none);
	}
}

void tap_session_end(struct tap_session *s, const struct tap_ending *e,
                     const struct env_reply *reply)
{
	struct tap_counts *c = &s->r->counts;
	struct buf why = BUF(BUF_MAX_SMALL);
	bool in_flight = s->first != NULL;

	put_why(e, &why);
	if (in_flight) {
		struct buf message = BUF(BUF_MAX_SMALL);

		buf_printf(&message, "no reply: %s", buf_cstr(&why));
		end_in_flight(s, reply, buf_view(&message));
		buf_text(&why, ", with a call in flight");
		buf_release(&message);
		s->state_known = false;
	}
	tap_episode_end(s, ending_status(e), buf_cstr(&why));
	c->open--;
	c->without_episode += !s->counted;
	if (s->previous) {
		s->previous->next = s->next;
	} else {
		s->r->sessions = s->next;
	}
	if (s->next) {
		s->next->previous = s->previous;
	}
	events_release(&s->waiting);
	arena_release(&s->facts_arena);
	buf_release(&s->session);
	buf_release(&s->env_session);
	buf_release(&s->state);
	buf_release(&why);
	free(s);
}

/* ---- idle time ---- */

uint64_t tap_recording_tick(struct tap_recording *r)
{
	uint64_t now = now_ns(r), next = UINT64_MAX;

	for (struct tap_session *s = r->sessions; s && r->conf.idle_ns; s = s->next) {
		if (!s->episode || s->first) {
			continue;
		}
		uint64_t due = s->episode->last_ns + r->conf.idle_ns;
		if (due <= now) {
			tap_episode_end(s, END_STOPPED, "no message for too long");
		} else {
			next = due < next ? due : next;
		}
	}
	return next;
}
