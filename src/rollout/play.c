/* The turns of one rollout: see rollout_internal.h. */
#include "rollout/rollout_internal.h"

#include "env/failure.h"

#define LOST_STEPS_MAX 2 /* consecutive calls without a reply after which the environment is lost */

static struct call_fields call_of(const struct decision *d)
{
	return (struct call_fields){.id = d->id, .name = d->name, .arguments = d->arguments};
}

/* Stores what the next decision and the end of the rollout need of a reply. */
static void store_reply(struct rollout *r, const struct env_reply *reply)
{
	double reward;

	r->last = reply->outcome;
	buf_set(&r->last_error, reply->error.message);
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

	if (p->ops->observe)
		p->ops->observe(p, result, &messages);
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
	struct call_fields call = call_of(d);

	f.at_ms = sent->at_ms;
	f.latency_us = r->latency_us = (io_now_ns(r->conf->io) - sent->began_ns) / 1000;
	store_reply(r, reply);
	f.more_messages = observed(r, &(struct policy_result){.decision = d,
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

	second_read_call_sent(r);
	int failed = env_step(r->env, d->name, d->arguments, reply, err);

	if (failed && !env_reply_of_failed_step(err, reply))
		return -1;
	second_read_call_answered(r);
	if (put_step(r, d, state, reply, &sent, err))
		return -1;
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
	struct call_fields call = call_of(d);
	struct env_reply unsent = {
		.outcome = d->outcome,
		.error = {.class = d->class, .layer = LAYER_BODY, .message = d->message}};

	f.at_ms = unix_ms(r);
	if (d->kind == DECIDE_UNSENT || d->kind == DECIDE_NOTHING) {
		f.more_messages =
			observed(r, &(struct policy_result){.decision = d, .message = d->message});
	}
	if (d->kind == DECIDE_UNSENT) {
		f.call = &call;
		f.reply = &unsent;
	}
	if (line_writer_turn(&r->writer, &f, err) || rollout_put_events(r, err))
		return -1;
	count_turn(r, d);
	return 0;
}

struct ending {
	bool done;
	bool state_read; /* `state` is the last one: no call was sent after it was read */
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
	if (reply->terminated > 0)
		end_with(end, END_TERMINATED, "the environment reported terminated");
	else if (reply->truncated > 0)
		end_with(end, END_TRUNCATED, "the environment reported truncated");
	else if (r->lost >= LOST_STEPS_MAX)
		end_with(end, END_UNREACHABLE, buf_cstr(&r->last_error));
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
	bool unreachable = end->done && end->status == END_UNREACHABLE;
	if (!unreachable && rollout_read_state(r, &view.state, err))
		return -1;
	second_read_state_read(r);
	if (rollout_put_events(r, err) || r->policy->ops->decide(r->policy, &view, &d, err) ||
	    rollout_put_env_events(r, err)) { /* messages received while the policy was deciding */
		return -1;
	}
	r->is_fresh = false;
	r->more = d.more;
	if (d.kind >= DECIDE_FINISHED)
		return end_by_policy(r, &d, view.state, end, err);
	if (d.kind != DECIDE_CALL)
		return put_turn(r, &d, view.state, err);
	if (second_read_await_control(r, err) || second_read_if_due(r, view.state, err) ||
	    call_tool(r, &d, view.state, &reply, err)) {
		return -1;
	}
	end_if_over(r, &reply, end);
	return 0;
}

/* If the last call got no answer, the environment was lost, and the rollout did not finish. */
static void check_ending(struct rollout *r, struct ending *end)
{
	if (r->lost > 0 && end->status != END_UNREACHABLE)
		end_with(end, END_UNREACHABLE, buf_cstr(&r->last_error));
	if (end->status == END_UNREACHABLE && r->result->peer.kind == FAIL_NONE) {
		error_set(&r->result->peer,
		          r->last == OUTCOME_TIMEOUT ? FAIL_TIMEOUT : FAIL_TRANSPORT, "%s",
		          buf_cstr(&r->last_error));
	}
}

static int play_turns(struct rollout *r, struct ending *end, struct error *err)
{
	while (!end->done || r->more) /* also records the calls beyond the limit */
		if (play_turn(r, end, err))
			return -1;
	return 0;
}

int rollout_play(struct rollout *r, struct error *err)
{
	struct ending end = {.done = false};
	int failed = play_turns(r, &end, err);

	second_read_end(r);
	if (failed)
		return -1;
	check_ending(r, &end);
	if (end.status != END_UNREACHABLE && !end.state_read &&
	    rollout_read_state(r, &end.state, err)) {
		return -1;
	}
	if (end.status != END_UNREACHABLE && env_finish(r->env, err))
		return -1;
	return rollout_put_end(r, end.status, end.reason, end.state, err);
}
