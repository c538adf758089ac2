/* The turns of one rollout: see inside.h. */
#include "rollout/inside.h"

#include "rollout/replies.h"

#define LOST_STEPS_MAX                                                                   \
	2 /* calls in a row without any answer: the environment is lost for good */

static void remember(struct rollout *r, const struct env_reply *reply)
{
	double reward;

	r->last = reply->outcome;
	buf_clear(&r->last_error);
	buf_str(&r->last_error, reply->error.message);
	arena_reset(&r->kept);
	r->observation = arena_str(&r->kept, reply->observation);
	r->lost = reply_came(reply) ? 0 : r->lost + 1;
	if (reply->outcome == OUTCOME_OK && json_double(reply->reward, &reward)) {
		r->reward_sum += reward;
		r->reward_known = true;
	}
}

/* What the policy adds to its conversation now that it knows what became of its decision.
 */
static struct str observed(struct rollout *r, const struct policy_result *result)
{
	struct policy *p = r->policy;
	struct str messages = {NULL, 0};

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

static int act(struct rollout *r, const struct decision *d, struct str state,
               struct env_reply *reply, struct error *err)
{
	const struct env_facts *e = rollout_facts_of(r);
	struct clock *clock = &r->writer.clock;
	struct step_facts f = {.turn = r->turns,
	                       .step = r->steps,
	                       .state = state,
	                       .ignore = e->ignore_paths,
	                       .decision = d,
	                       .reply = reply,
	                       .at_ms = clock->unix_ms(clock->ctx)};
	uint64_t began = io_now_ns(r->conf->io);
	int failed = r->conf->env_ops->step(r->env, d->name, d->arguments, reply, err);

	if (failed && !reply_salvage(err, reply)) {
		return -1;
	}
	f.latency_us = (io_now_ns(r->conf->io) - began) / 1000;
	remember(r, reply);
	f.messages =
		observed(r, &(struct policy_result){.decision = d,
	                                            .outcome = reply->outcome,
	                                            .observation = reply->observation,
	                                            .structured = reply->structured,
	                                            .raw = reply->raw,
	                                            .message = reply->error.message});
	if (write_step(&r->writer, &f, err)) {
		return -1;
	}
	r->steps++;
	int unwritten = rollout_put_events(r, err); /* they belong to this turn */
	count_turn(r, d);
	return failed || unwritten ? -1 : 0;
}

/* A decision that sends nothing. */
static int put_turn(struct rollout *r, const struct decision *d, struct str state,
                    struct error *err)
{
	struct clock *clock = &r->writer.clock;
	struct step_facts f = {.turn = r->turns,
	                       .step = r->steps,
	                       .state = state,
	                       .ignore = rollout_facts_of(r)->ignore_paths,
	                       .decision = d,
	                       .at_ms = clock->unix_ms(clock->ctx)};

	if (d->kind == DECIDE_UNSENT || d->kind == DECIDE_NOTHING) {
		f.messages = observed(r, &(struct policy_result){.decision = d,
		                                                 .outcome = d->outcome,
		                                                 .message = d->message});
	}
	if (write_turn(&r->writer, &f, err) || rollout_put_events(r, err)) {
		return -1;
	}
	count_turn(r, d);
	return 0;
}

struct ending {
	bool done, state_read; /* state_read: the last decision was no call */
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

static void judge_reply(struct rollout *r, const struct env_reply *reply,
                        struct ending *end)
{
	if (reply->terminated > 0) {
		end_with(end, END_TERMINATED, "the environment said terminated");
	} else if (reply->truncated > 0) {
		end_with(end, END_TRUNCATED, "the environment said truncated");
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

/* The policy will not go on. What its model said for a farewell is a turn, too. */
static int give_up(struct rollout *r, const struct decision *d, struct str state,
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

/* One decision and what comes of it. */
static int one_turn(struct rollout *r, struct ending *end, struct error *err)
{
	struct policy_view view = {.turn = r->turns,
	                           .observation = r->observation,
	                           .last = r->last,
	                           .last_error = buf_view(&r->last_error),
	                           .over = end->done};
	struct decision d = {0};
	struct env_reply reply;

	if (!r->more && r->turns >= r->max_turns && !script_is_done(r)) {
		end_with(end, END_MAX_TURNS, "the limit of turns is reached");
		return 0;
	}
	/* whoever did not answer twice is not asked for a state either */
	bool gone = end->done && end->status == END_UNREACHABLE;
	if ((!gone && rollout_read_state(r, &view.state, err)) ||
	    rollout_put_events(r, err) ||
	    r->policy->ops->decide(r->policy, &view, &d, err) ||
	    rollout_put_env_events(r, err)) { /* what it said while the policy thought */
		return -1;
	}
	r->more = d.more;
	if (d.kind >= DECIDE_FINISHED) {
		return give_up(r, &d, view.state, end, err);
	}
	if (d.kind != DECIDE_CALL) {
		return put_turn(r, &d, view.state, err);
	}
	if (act(r, &d, view.state, &reply, err)) {
		return -1;
	}
	judge_reply(r, &reply, end);
	return 0;
}

/* A rollout whose last call got no answer did not finish: it was lost. */
static void doubt_ending(struct rollout *r, struct ending *end)
{
	if (r->lost > 0 && end->status != END_UNREACHABLE) {
		end_with(end, END_UNREACHABLE, buf_cstr(&r->last_error));
	}
	if (end->status == END_UNREACHABLE && r->result->peer.kind == FAIL_NONE) {
		error_set(&r->result->peer,
		          r->last == OUTCOME_TIMEOUT ? FAIL_TIMEOUT : FAIL_TRANSPORT,
		          "%s", buf_cstr(&r->last_error));
	}
}

int rollout_play(struct rollout *r, struct error *err)
{
	struct ending end = {.done = false};

	while (!end.done || r->more) { /* calls that come too late are recorded, too */
		if (one_turn(r, &end, err)) {
			return -1;
		}
	}
	doubt_ending(r, &end);
	if (end.status != END_UNREACHABLE && !end.state_read &&
	    rollout_read_state(r, &end.state, err)) {
		return -1;
	}
	return rollout_put_end(r, end.status, end.reason, end.state, err);
}
