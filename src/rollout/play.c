/* The turns of one rollout: see rollout_internal.h. */
#include "rollout/rollout_internal.h"

#include "env/failure.h"
#include "json/write.h"

#define LOST_STEPS_MAX 2 /* consecutive calls without a reply after which the environment is lost */

static void record_reply(struct rollout *r, const struct env_reply *reply)
{
	double reward;

	r->last = reply->outcome;
	buf_clear(&r->last_error);
	buf_str(&r->last_error, reply->error.message);
	arena_reset(&r->kept);
	r->observation = arena_str(&r->kept, reply->observation);
	r->lost = env_reply_received(reply) ? 0 : r->lost + 1;
	if (reply->outcome == OUTCOME_OK && json_double(reply->reward, &reward)) {
		r->reward_sum += reward;
		r->reward_known = true;
	}
}

/* The messages that the policy adds to its conversation after a decision's result. */
static struct str observed(struct rollout *r, const struct policy_result *result)
{
	struct policy *p = r->policy;
	struct str messages = STR_NONE;

	if (p->ops->observe) {
		p->ops->observe(p, result, &messages);
	}
	return messages;
}

/* A turn of several calls is counted when its last line is written. */
static void count_turn(struct rollout *r, const struct decision *d)
{
	r->turns += !d->more;
}

/* The fields of a decision, but for the time. */
static struct step_fields step_fields(const struct rollout *r, const struct decision *d,
                                      struct str state)
{
	return (struct step_fields){.turn = r->turns,
	                            .step = r->steps,
	                            .state = state,
	                            .ignore = rollout_ignore(r),
	                            .messages = d->messages,
	                            .llm = d->llm};
}

/* ---- second reads of the state ---- */

/* Is a request needed to read the state? */
static bool is_requested(enum state_kind kind)
{
	return kind == STATE_CONTROL_PLANE || kind == STATE_OPENENV || kind == STATE_RESOURCE ||
	       kind == STATE_TOOL;
}

/* quiet: no other rollout acted since the state was read first. */
static int put_reread(struct rollout *r, struct str state, bool quiet, struct error *err)
{
	struct buf detail = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	jw_init(&w, &detail);
	jw_object(&w);
	jw_key(&w, "state");
	jw_raw(&w, state);
	if (quiet) {
		jw_key(&w, "quiet");
		jw_bool(&w, true);
	}
	jw_end(&w);
	int failed = detail.full ? 0
	                         : line_writer_event(&r->writer, r->turns,
	                                             &(struct event){.kind = EVENT_STATE_REREAD,
	                                                             .detail = buf_view(&detail)},
	                                             err);
	buf_release(&detail);
	return failed;
}

#define WAIT_MS     1
#define WAIT_CALLS  UINT64_C(3) /* how long it waits, in durations of the last call */
#define WAIT_MS_MAX 50          /* for others to act */
#define CONTROL_MS  30  /* for nobody to act; the control waits twice as long, if they let it */
#define FIRST_MS    150 /* how long the others wait before their first call */

static uint64_t wait_ms(const struct rollout *r, uint64_t calls, uint64_t most)
{
	uint64_t ms = calls * r->latency_us / 1000 + 3;

	return ms < most ? ms : most;
}

/* Did other rollouts act since this one read the state? Waits a little for them. */
static int await_others(struct rollout *r, bool *acted, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	int failed = 0;

	*acted = rereads_is_answered(shared, r->calls_before);
	if (*acted || !rereads_begin_wait(shared)) {
		return 0;
	}
	for (uint64_t ms = wait_ms(r, WAIT_CALLS, WAIT_MS_MAX); !failed && !*acted && ms > 0;
	     ms--) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
		*acted = rereads_is_answered(shared, r->calls_before);
	}
	rereads_end_wait(shared);
	return failed;
}

/* Before its first call: this rollout is the control, or waits a little for the one that is. */
static int await_control(struct rollout *r, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	int failed = 0;

	if (!shared || r->steps > 0) {
		return 0;
	}
	r->is_control = rereads_begin_control(shared);
	for (int ms = 0; !r->is_control && !failed && ms < FIRST_MS && rereads_control_runs(shared);
	     ms += WAIT_MS) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
	}
	return failed;
}

static int put_second_read(struct rollout *r, bool quiet, struct error *err)
{
	struct str again;

	if (env_state(r->env, &again, err)) {
		return -1;
	}
	quiet = quiet && rereads_is_quiet(r->conf->rereads, r->calls_before);
	return again.p ? put_reread(r, again, quiet, err) : 0;
}

static int reread_as_control(struct rollout *r, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	bool quiet = rereads_is_quiet(shared, r->calls_before);
	int failed = 0;

	for (uint64_t ms = wait_ms(r, 2 * WAIT_CALLS, CONTROL_MS); quiet && !failed && ms > 0;
	     ms--) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
		quiet = rereads_is_quiet(shared, r->calls_before);
	}
	if (quiet && !failed) {
		rereads_take(shared);
		r->rereads++;
		failed = put_second_read(r, true, err);
	}
	rereads_end_control(shared);
	return failed;
}

/* In a batch the state is read again before some of the first calls, to detect changes by other
   rollouts. */
static int reread_state(struct rollout *r, struct str state, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	bool acted;

	if (!shared || !state.p || r->steps == 0 || r->steps > REREAD_STEPS ||
	    !is_requested(rollout_env_facts(r)->state_kind)) {
		return 0;
	}
	if (r->is_control && r->steps == 1) {
		return reread_as_control(r, err);
	}
	if (r->rereads == REREADS_EACH || !rereads_may_read(shared, false)) {
		return 0;
	}
	if (await_others(r, &acted, err)) {
		return -1;
	}
	if (!acted || !rereads_may_read(shared, true)) {
		return 0;
	}
	r->rereads++;
	return put_second_read(r, false, err);
}

static void note_state_read(struct rollout *r)
{
	if (r->conf->rereads) {
		r->calls_before = rereads_calls_sent(r->conf->rereads);
	}
}

static void note_sent(const struct rollout *r)
{
	if (r->conf->rereads) {
		rereads_sent(r->conf->rereads);
	}
}

static void note_answered(const struct rollout *r)
{
	if (r->conf->rereads) {
		rereads_answered(r->conf->rereads);
		rereads_count(r->conf->rereads, 2); /* the call and the state after it, or more */
	}
}

struct sent {
	uint64_t at_ms;    /* by the wall clock */
	uint64_t began_ns; /* by the monotonic one */
};

static uint64_t unix_ms(const struct rollout *r)
{
	return r->writer.clock.unix_ms(r->writer.clock.ctx);
}

/* Not inlined: its frame would be on the stack while each of a thousand rollouts waits. */
static __attribute__((noinline)) int put_step(struct rollout *r, const struct decision *d,
                                              struct str state, const struct env_reply *reply,
                                              const struct sent *sent, struct error *err)
{
	struct step_fields f = step_fields(r, d, state);
	struct call_fields call = lines_call(d);

	f.at_ms = sent->at_ms;
	f.latency_us = r->latency_us = (io_now_ns(r->conf->io) - sent->began_ns) / 1000;
	record_reply(r, reply);
	f.more_messages = observed(r, &(struct policy_result){.decision = d,
	                                                      .outcome = reply->outcome,
	                                                      .observation = reply->observation,
	                                                      .structured = reply->structured,
	                                                      .raw = reply->raw,
	                                                      .message = reply->error.message});
	f.call = &call;
	f.reply = reply;
	return line_writer_step(&r->writer, &f, err);
}

static int call_tool(struct rollout *r, const struct decision *d, struct str state,
                     struct env_reply *reply, struct error *err)
{
	struct sent sent = {.at_ms = unix_ms(r), .began_ns = io_now_ns(r->conf->io)};

	note_sent(r);
	int failed = env_step(r->env, d->name, d->arguments, reply, err);

	if (failed && !env_reply_of_failed_step(err, reply)) {
		return -1;
	}
	note_answered(r);
	if (put_step(r, d, state, reply, &sent, err)) {
		return -1;
	}
	r->steps++;
	int unwritten = rollout_put_events(r, err); /* before the next turn's lines */
	count_turn(r, d);
	return failed || unwritten ? -1 : 0;
}

/* A decision without a call. */
static int put_turn(struct rollout *r, const struct decision *d, struct str state,
                    struct error *err)
{
	struct step_fields f = step_fields(r, d, state);
	struct call_fields call = lines_call(d);
	struct env_reply unsent = lines_unsent(d);

	f.at_ms = unix_ms(r);
	if (d->kind == DECIDE_UNSENT || d->kind == DECIDE_NOTHING) {
		f.more_messages = observed(r, &(struct policy_result){.decision = d,
		                                                      .outcome = d->outcome,
		                                                      .message = d->message});
	}
	if (d->kind == DECIDE_UNSENT) {
		f.call = &call;
		f.reply = &unsent;
	}
	if (line_writer_turn(&r->writer, &f, err) || rollout_put_events(r, err)) {
		return -1;
	}
	count_turn(r, d);
	return 0;
}

struct ending {
	bool done, state_read; /* state_read: the last decision had no call */
	struct str state;
	enum end_status status;
	const char *reason;
};

static void end_with(struct ending *e, enum end_status status, const char *reason)
{
	e->done = true;
	e->status = status;
	e->reason = reason;
}

static void end_if_over(struct rollout *r, const struct env_reply *reply, struct ending *end)
{
	if (reply->terminated > 0) {
		end_with(end, END_TERMINATED, "the environment reported terminated");
	} else if (reply->truncated > 0) {
		end_with(end, END_TRUNCATED, "the environment reported truncated");
	} else if (r->lost >= LOST_STEPS_MAX) {
		end_with(end, END_UNREACHABLE, buf_cstr(&r->last_error));
	}
}

static bool script_is_done(const struct rollout *r)
{
	return r->policy_facts.length >= 0 && r->turns >= r->policy_facts.length;
}

static const enum end_status endings[] = {
	[DECIDE_FINISHED] = END_FINISHED,
	[DECIDE_STOPPED] = END_STOPPED,
	[DECIDE_REFUSED] = END_REFUSED,
	[DECIDE_LOST] = END_UNREACHABLE,
};

/* The policy ended the rollout. If its model replied, that is also recorded as a turn. */
static int end_by_policy(struct rollout *r, const struct decision *d, struct str state,
                         struct ending *end, struct error *err)
{
	bool spoke = d->messages.n || d->llm.n;

	end->state_read = true;
	end->state = state;
	end_with(end, endings[d->kind], d->reason);
	if (d->kind == DECIDE_LOST || d->kind == DECIDE_REFUSED) {
		error_set(&r->result->peer, FAIL_TRANSPORT, "%s", d->reason);
		r->result->lost_policy = true;
	}
	return spoke ? put_turn(r, d, state, err) : 0;
}

/* One decision and its result. */
static int play_turn(struct rollout *r, struct ending *end, struct error *err)
{
	struct policy_view view = {.turn = r->turns,
	                           .observation = r->observation,
	                           .last = r->last,
	                           .last_error = buf_view(&r->last_error),
	                           .over = end->done};
	struct decision d = {0};
	struct env_reply reply;

	if (!r->more && r->turns >= r->max_turns && !script_is_done(r)) {
		end_with(end, END_MAX_TURNS,
		         r->max_turns > 0 ? "the turn limit was reached" : "the turn limit is 0");
		return 0;
	}
	/* after two calls without a reply the state is not requested either */
	bool gone = end->done && end->status == END_UNREACHABLE;
	if (!gone && rollout_read_state(r, &view.state, err)) {
		return -1;
	}
	note_state_read(r);
	if (rollout_put_events(r, err) || r->policy->ops->decide(r->policy, &view, &d, err) ||
	    rollout_put_env_events(r, err)) { /* messages received while the policy was deciding */
		return -1;
	}
	r->is_fresh = false;
	r->more = d.more;
	if (d.kind >= DECIDE_FINISHED) {
		return end_by_policy(r, &d, view.state, end, err);
	}
	if (d.kind != DECIDE_CALL) {
		return put_turn(r, &d, view.state, err);
	}
	if (await_control(r, err) || reread_state(r, view.state, err) ||
	    call_tool(r, &d, view.state, &reply, err)) {
		return -1;
	}
	end_if_over(r, &reply, end);
	return 0;
}

/* If the last call got no answer, the environment was lost, and the rollout did not finish. */
static void check_ending(struct rollout *r, struct ending *end)
{
	if (r->lost > 0 && end->status != END_UNREACHABLE) {
		end_with(end, END_UNREACHABLE, buf_cstr(&r->last_error));
	}
	if (end->status == END_UNREACHABLE && r->result->peer.kind == FAIL_NONE) {
		error_set(&r->result->peer,
		          r->last == OUTCOME_TIMEOUT ? FAIL_TIMEOUT : FAIL_TRANSPORT, "%s",
		          buf_cstr(&r->last_error));
	}
}

int rollout_play(struct rollout *r, struct error *err)
{
	struct ending end = {.done = false};

	while (!end.done || r->more) { /* also records the calls beyond the limit */
		if (play_turn(r, &end, err)) {
			return -1;
		}
	}
	check_ending(r, &end);
	if (end.status != END_UNREACHABLE && !end.state_read &&
	    rollout_read_state(r, &end.state, err)) {
		return -1;
	}
	return rollout_put_end(r, end.status, end.reason, end.state, err);
}
