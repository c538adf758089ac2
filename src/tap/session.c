/* Sessions and the calls in them: see episode.h. */
#include "base/text.h"
#include "tap/episode_internal.h"

#include <stdlib.h>

/* ---- requests, and their faults ---- */

bool tap_asks(const struct tap_recording *r)
{
	return r->conf.asks;
}

struct state_source *tap_state_source(const struct tap_recording *r)
{
	return r->conf.state;
}

void tap_ask(struct tap_recording *r, struct str request, void *asker)
{
	r->asked = true;
	r->asker = asker;
	buf_set(&r->question, request);
}

struct tap_question tap_recording_question(struct tap_recording *r)
{
	struct tap_question q = {r->asked && !r->question.full, r->asker, buf_view(&r->question)};

	r->asked = false;
	return q;
}

static void note_fault(struct tap_session *s, enum tap_fault_id f)
{
	if (f != TAP_FAULT_NONE)
		tap_note(s, EVENT_FAULT_INJECTED, tap_faults[f].name, str_from(tap_faults[f].help));
}

void tap_asked(struct tap_session *s, enum tap_fault_time what)
{
	bool has_all = what == FAULT_AT_STEP && s->protocol != PROTOCOL_MCP &&
	               s->protocol != PROTOCOL_MCP_GYM;
	const struct tap_step *step = what & FAULTS_OF_STEP && tap_in_flight(s) ? s->last : NULL;
	struct tap_request q = {.when = has_all ? FAULTS_OF_STEP : what,
	                        .session = s->number,
	                        .open = s->r->counts.open,
	                        .tool = STR("reset")};

	if (!s->r->conf.faults || (what & FAULTS_OF_STEP && !step))
		return;
	q.step = s->episode ? s->episode->steps : 0;
	for (const struct tap_step *t = s->first; step && t != step; t = t->next)
		q.step += !t->over;
	if (step) {
		q.tool = step->call.name;
		q.arguments = step->call.arguments;
		q.state = step->state;
	}
	note_fault(s, tap_engine_asked(s->r->conf.faults, &q));
}

/* ---- steps ---- */

struct tap_step *tap_step_begin(struct tap_session *s, struct str tool, struct str arguments)
{
	struct tap_step *step = mem_new(sizeof(*step));
	const struct clock *clock = &s->r->conf.clock;

	if (!s->episode)
		tap_episode_begin(s, &(struct tap_episode_start){0});
	step->session = s;
	step->call.name = arena_str(&step->arena, tool.p ? tool : STR(""));
	step->call.arguments = arena_str(&step->arena, arguments.n ? arguments : STR("{}"));
	step->state = s->state_known ? arena_str(&step->arena, buf_view(&s->state)) : STR_NONE;
	tap_join_call(s, step);
	step->at_ms = clock->unix_ms(clock->ctx);
	step->began_ns = tap_now_ns(s->r);
	*(s->last ? &s->last->next : &s->first) = step;
	s->last = step;
	tap_asked(s, FAULT_AT_STEP);
	return step;
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
	if (s->last == step)
		s->last = before;
	arena_release(&step->arena);
	free(step);
}

static void count_reply(struct tap_episode *e, const struct env_reply *r)
{
	double reward;

	e->steps++;
	if (r->outcome == OUTCOME_OK && json_double(r->reward, &reward)) {
		e->reward += reward;
		e->rewarded = true;
	}
	if (r->terminated > 0)
		e->over = END_TERMINATED;
	else if (r->truncated > 0 && e->over == END_UNKNOWN)
		e->over = END_TRUNCATED;
}

void tap_step_replied(struct tap_step *step)
{
	step->replied_ns = tap_now_ns(step->session->r);
	if (step->session->episode)
		step->session->episode->talk.answered_ns = step->replied_ns;
}

static void put_step(struct tap_step *step, const struct env_reply *reply)
{
	struct tap_session *s = step->session;
	struct tap_episode *e = s->episode;
	uint64_t now = tap_now_ns(s->r);
	struct step_fields f = {
		.turn = step->turn < 0 ? e->steps : step->turn,
		.step = e->steps,
		.state = step->state,
		.ignore = e->ignored.paths,
		.call = &step->call,
		.messages = step->messages,
		.llm = step->llm,
		.joined = step->joined,
		.reply = reply,
		.at_ms = step->at_ms,
		.latency_us =
			((step->replied_ns ? step->replied_ns : now) - step->began_ns) / 1000};

	if (!tap_is_broken(s->r) && line_writer_step(&e->lines.writer, &f, &s->r->failure))
		tap_stop_recording(s->r);
	count_reply(e, reply);
	if (reply->outcome == OUTCOME_OK)
		buf_set(&s->seen, reply->observation);
	e->last_ns = now;
	s->r->counts.steps++;
}

void tap_step_end(struct tap_step *step, const struct env_reply *reply)
{
	struct tap_session *s = step->session;
	struct tap_episode *e = step->over ? NULL : s->episode;
	uint64_t replied_ns = step->replied_ns;

	if (e)
		put_step(step, reply);
	remove_step(step);
	if (e) {
		e->talk.answered_ns = replied_ns ? replied_ns : e->last_ns;
		tap_join_answered(s, reply);
	}
}

bool tap_session_awaits(const struct tap_session *s)
{
	return s->first != NULL;
}

static struct env_reply no_reply(struct str why)
{
	return (struct env_reply){
		.outcome = OUTCOME_TRANSPORT_ERROR,
		.error = {.class = CLASS_TRANSPORT, .layer = LAYER_TRANSPORT, .message = why},
		REPLY_UNKNOWN};
}

void tap_steps_over(struct tap_session *s, const char *reason)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);

	buf_printf(&why, "no reply: %s", reason);
	struct env_reply none = no_reply(buf_view(&why));
	for (struct tap_step *step = s->first; step; step = step->next) {
		if (!step->over)
			put_step(step, &none);
		step->over = true;
	}
}

/* ---- sessions ---- */

void tap_session_name(struct tap_session *s, struct str session, struct str env_session)
{
	if (session.p)
		buf_set(&s->session, session);
	if (env_session.p)
		buf_set(&s->env_session, env_session);
}

struct tap_session *tap_session_begin(struct tap_recording *r, enum protocol protocol,
                                      const struct tap_connection *connection, struct str session)
{
	struct tap_session *s = mem_new(sizeof(*s));
	struct tap_counts *c = &r->counts;

	*s = (struct tap_session){.r = r,
	                          .number = ++c->sessions,
	                          .connection = *connection,
	                          .session = BUF(BUF_MAX_SMALL),
	                          .env_session = BUF(BUF_MAX_SMALL),
	                          .state = BUF(BUF_MAX_MESSAGE),
	                          .start = BUF(BUF_MAX_MESSAGE),
	                          .seen = BUF(BUF_MAX_MESSAGE),
	                          .protocol = protocol,
	                          .next = r->sessions};
	if (r->sessions)
		r->sessions->previous = s;
	r->sessions = s;
	tap_session_name(s, session, STR_NONE);
	c->open++;
	c->most_open = c->open > c->most_open ? c->open : c->most_open;
	return s;
}

void tap_put_ending(const struct tap_ending *e, struct buf *out)
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
	if (e->code)
		buf_printf(out, " (close code %d)", e->code);
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
	struct env_reply none = no_reply(why);

	for (struct tap_step *step = s->first, *next; step; step = next) {
		next = step->next;
		tap_step_end(step, reply ? reply : &none);
	}
}

void tap_session_end(struct tap_session *s, const struct tap_ending *e,
                     const struct env_reply *reply)
{
	struct tap_counts *c = &s->r->counts;
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	AUTO_BUF message = BUF(BUF_MAX_SMALL);
	bool in_flight = tap_in_flight(s);

	tap_put_ending(e, &why);
	buf_printf(&message, "no reply: %s", buf_cstr(&why));
	end_in_flight(s, reply, buf_view(&message));
	if (in_flight) {
		buf_text(&why, ", with a call in flight");
		s->state_known = false;
	}
	tap_episode_end(s, ending_status(e), buf_cstr(&why));
	c->open--;
	c->without_episode += !s->counted;
	*(s->previous ? &s->previous->next : &s->r->sessions) = s->next;
	if (s->next)
		s->next->previous = s->previous;
	events_release(&s->waiting);
	BUFS_RELEASE(&s->session, &s->env_session, &s->state, &s->start, &s->seen);
	free(s);
}

/* ---- idle time ---- */

uint64_t tap_recording_tick(struct tap_recording *r)
{
	uint64_t now = tap_now_ns(r), next = UINT64_MAX;

	tap_joiner_tick(r->joiner, false);
	for (struct tap_session *s = r->sessions; s && r->conf.idle_ns; s = s->next) {
		if (!s->episode || tap_in_flight(s))
			continue;
		uint64_t due = s->episode->last_ns + r->conf.idle_ns;
		if (due <= now)
			tap_episode_end(s, END_STOPPED, "no message for too long");
		else
			next = due < next ? due : next;
	}
	return next;
}
