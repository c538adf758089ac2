/* The loop of one rollout: see rollout.h. */
#include "rollout/rollout.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/write.h"
#include "rollout/replies.h"

#include <stdio.h>
#include <stdlib.h>

#define LOST_STEPS_MAX                                                                   \
	2 /* calls in a row without any answer: the environment is lost for good */

struct rollout {
	const struct rollout_conf *conf;
	struct env *env;
	struct policy *policy;
	struct policy_facts policy_facts;
	struct line_writer writer;
	char task[ROLLOUT_TASK_MAX + 1], id[ROLLOUT_TASK_MAX + 32];
	int64_t turns, steps, max_turns;
	double reward_sum;
	bool reward_known;
	bool more; /* the policy has more calls for this turn */
	int lost;  /* calls in a row without any answer */
	struct buf last_error, reward_text;
	enum outcome last;
	struct str observation;
	struct arena kept; /* the last observation */
	struct arena now;  /* the state of this turn */
	uint64_t began_ns;
	struct rollout_result *result;
};

/* Without a session all facts are absent. */
static const struct env_facts *facts_of(const struct rollout *r)
{
	static const struct env_facts none = {.protocol = NULL};

	return r->env ? r->conf->env_ops->facts(r->env) : &none;
}

/* ---- names ---- */

void rollout_task_name(struct str name, char out[ROLLOUT_TASK_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < name.n && n < ROLLOUT_TASK_MAX; i++) {
		unsigned char c = (unsigned char)name.p[i];

		out[n++] = c <= ' ' || c == 127 ? '_' : (char)c;
	}
	out[n] = '\0';
	/* a name cut inside a character is no JSON string */
	out[text_utf8_valid((struct str){out, n})] = '\0';
}

/* Ids are derived: the same task on the same environment has the same id in every run. */
static void name_rollout(struct rollout *r)
{
	const struct env_facts *e = facts_of(r);
	struct str name = e->name.n ? e->name : STR("env");

	rollout_task_name(r->conf->task ? str_from(r->conf->task) : name, r->task);
	snprintf(r->id, sizeof(r->id), "%s.%lld", r->task, (long long)r->conf->sample);
	r->writer.rollout = r->id;
}

/* ---- lines that need more than one fact ---- */

static int put_header(struct rollout *r, struct error *err)
{
	const struct rollout_conf *c = r->conf;
	const struct env_facts *e = facts_of(r);

	name_rollout(r);
	struct header_facts f = {.task = r->task,
	                         .vars = c->policy.vars,
	                         .sample = c->sample,
	                         .group_size = c->group_size,
	                         .has_seed = c->env.has_seed,
	                         .seed = c->env.seed,
	                         .env = e->protocol ? e : NULL,
	                         .policy = r->policy ? &r->policy_facts : NULL,
	                         .protocol = c->env_ops->name,
	                         .max_turns = r->max_turns,
	                         .timeout_ms = c->env.timeout_ms,
	                         .url = c->env.url,
	                         .version = c->env.version,
	                         .masks = c->masks};
	return write_header(&r->writer, &f, err);
}

static int put_event(struct rollout *r, const struct event *e, struct error *err)
{
	log_info("event: %s %.*s", e->name, STR_ARG(e->detail));
	return write_event(&r->writer, r->turns, e, err);
}

static int put_env_events(struct rollout *r, struct error *err)
{
	struct event e;

	while (r->env && r->conf->env_ops->event(r->env, &e)) {
		if (put_event(r, &e, err)) {
			return -1;
		}
	}
	return 0;
}

static int put_events(struct rollout *r, struct error *err)
{
	struct policy *p = r->policy;
	struct event e;

	if (put_env_events(r, err)) {
		return -1;
	}
	while (p && p->ops->event && p->ops->event(p, &e)) {
		if (put_event(r, &e, err)) {
			return -1;
		}
	}
	return 0;
}

/* The environment's own total, else the sum over ok steps, else unknown. */
static struct str total_reward(struct rollout *r)
{
	const struct env_facts *e = facts_of(r);
	struct json_writer w;

	if (e->total_reward.p) {
		return e->total_reward;
	}
	if (!r->reward_known) {
		return (struct str){NULL, 0};
	}
	buf_clear(&r->reward_text);
	jw_init(&w, &r->reward_text);
	jw_double(&w, r->reward_sum);
	return buf_view(&r->reward_text);
}

static int put_end(struct rollout *r, enum end_status status, const char *reason,
                   struct str state, struct error *err)
{
	const struct env_facts *e = facts_of(r);
	struct end_facts f = {.status = status,
	                      .reason = reason,
	                      .turns = r->turns,
	                      .steps = r->steps,
	                      .total_reward = total_reward(r),
	                      .state = state,
	                      .ignore = e->ignore_paths,
	                      .took_ms =
	                              (io_now_ns(r->conf->io) - r->began_ns) / 1000000};

	r->result->status = status;
	return put_events(r, err) || write_end(&r->writer, &f, err) ? -1 : 0;
}

/* ---- opening ---- */

/* No session: the recording says what was tried and what came back. */
static int end_unopened(struct rollout *r, const struct error *why, struct error *err)
{
	struct env_reply reply;
	bool stopped = why->kind == FAIL_INTERRUPTED;
	bool ours = why->kind == FAIL_SYSTEM;

	reply_blame(why, &reply);
	if (!stopped && !ours) {
		r->result->peer = *why;
	}
	if (put_header(r, err) ||
	    write_reset(&r->writer, &reply, (struct str){NULL, 0}, err)) {
		return -1;
	}
	return put_end(r,
	               stopped ? END_INTERRUPTED
	               : ours  ? END_FAILED
	                       : END_UNREACHABLE,
	               why->text, (struct str){NULL, 0}, err);
}

/* No rule speaks of refusals but the one about capacity. */
static void tell_refusal(struct rollout *r, enum outcome outcome, struct str reason)
{
	if (outcome != OUTCOME_CAPACITY) {
		error_set(&r->result->peer, FAIL_PROTOCOL, "%.*s", STR_ARG(reason));
	}
}

/* Whoever is silent refuses nothing. */
static int end_unwanted(struct rollout *r, const struct env_reply *reply,
                        const char *what, struct str why, struct error *err)
{
	static const struct str none = {NULL, 0};
	struct buf reason = BUF(BUF_MAX_MESSAGE);

	buf_text(&reason, what);
	buf_str(&reason, why);
	tell_refusal(r, reply->outcome, buf_view(&reason));
	int failed = put_end(r, reply_came(reply) ? END_REFUSED : END_UNREACHABLE,
	                     buf_cstr(&reason), none, err);
	buf_release(&reason);
	return failed;
}

static int end_refused(struct rollout *r, const struct env_reply *refusal,
                       struct error *err)
{
	static const struct str none = {NULL, 0};

	return put_header(r, err) || write_reset(&r->writer, refusal, none, err)
	               ? -1
	               : end_unwanted(r, refusal, "the server gave no session: ",
	                              refusal->error.message, err);
}

static int open_policy(struct rollout *r, struct error *err)
{
	struct policy_conf conf = r->conf->policy;

	conf.tools = facts_of(r)->tools;
	conf.io = r->conf->io;
	conf.task = r->conf->task;
	conf.sample = r->conf->sample;
	if (policy_open(&conf, &r->policy, err)) {
		return -1;
	}
	r->policy->ops->facts(r->policy, &r->policy_facts);
	if (!r->conf->max_turns.given && r->policy_facts.length >= 0) {
		r->max_turns = r->policy_facts.length;
	}
	return 0;
}

/* ---- the loop ---- */

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
	const struct env_facts *e = facts_of(r);
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
	int unwritten = put_events(r, err); /* they belong to this turn */
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
	                       .ignore = facts_of(r)->ignore_paths,
	                       .decision = d,
	                       .at_ms = clock->unix_ms(clock->ctx)};

	if (d->kind == DECIDE_UNSENT || d->kind == DECIDE_NOTHING) {
		f.messages = observed(r, &(struct policy_result){.decision = d,
		                                                 .outcome = d->outcome,
		                                                 .message = d->message});
	}
	if (write_turn(&r->writer, &f, err) || put_events(r, err)) {
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

/* The step line needs the state when the call that follows has been made, and the env
   keeps it only until then. */
static int read_state(struct rollout *r, struct str *state, struct error *err)
{
	if (r->conf->env_ops->state(r->env, state, err)) {
		return -1;
	}
	arena_reset(&r->now);
	*state = arena_str(&r->now, *state);
	return 0;
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
	if ((!gone && read_state(r, &view.state, err)) || put_events(r, err) ||
	    r->policy->ops->decide(r->policy, &view, &d, err) ||
	    put_env_events(r, err)) { /* what it said while the policy thought */
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

static int end_interrupted(struct rollout *r, struct error *err)
{
	io_ignore_stop(r->conf->io);
	return put_end(r, END_INTERRUPTED, "interrupted", (struct str){NULL, 0}, err);
}

static int play(struct rollout *r, struct error *err)
{
	struct ending end = {.done = false};

	while (!end.done || r->more) { /* calls that come too late are recorded, too */
		if (one_turn(r, &end, err)) {
			return -1;
		}
	}
	doubt_ending(r, &end);
	if (end.status != END_UNREACHABLE && !end.state_read &&
	    read_state(r, &end.state, err)) {
		return -1;
	}
	return put_end(r, end.status, end.reason, end.state, err);
}

/* Without tools there is nothing a policy could fit: that is a fact about the server, and
   belongs into the recording. */
static bool nothing_to_call(const struct rollout *r)
{
	return !r->conf->policy.force_call && json_count(facts_of(r)->tools) == 0;
}

/* The prompt may show the state, so that is read before the reset is recorded. */
static int open_conversation(struct rollout *r, struct env_reply *reply,
                             struct str *messages, struct error *err)
{
	struct policy *p = r->policy;
	struct policy_view view = {.observation = r->observation};

	if (reply->outcome != OUTCOME_OK || !p || !p->ops->begin) {
		return 0;
	}
	reply_keep(reply, &r->kept);
	if (read_state(r, &view.state, err)) {
		return -1;
	}
	p->ops->begin(p, &view, messages);
	return 0;
}

static int start(struct rollout *r, struct error *err)
{
	static const struct str unknown = {NULL, 0};
	struct str messages = unknown;
	struct env_reply reply;
	bool no_tools = nothing_to_call(r);

	if ((!no_tools && open_policy(r, err)) ||
	    r->conf->env_ops->reset(r->env, &reply, err)) {
		return -1;
	}
	arena_release(&r->kept);
	r->observation = arena_str(&r->kept, reply.observation);
	bool refused = reply.outcome != OUTCOME_OK;
	buf_str(&r->last_error, reply.error.message);
	if (put_header(r, err) || open_conversation(r, &reply, &messages, err) ||
	    write_reset(&r->writer, &reply, messages, err) || put_events(r, err)) {
		return -1;
	}
	if (refused) {
		return end_unwanted(r, &reply,
		                    "the reset failed: ", buf_view(&r->last_error), err);
	}
	r->result->opened = true;
	if (no_tools) {
		return put_end(r, END_STOPPED, "the server offers no tools", unknown,
		               err);
	}
	return play(r, err);
}

/* Peers and interrupts end a rollout, they do not fail the program. Not inlined: its
   frame would lie on the stack while each of a thousand rollouts waits. */
static __attribute__((noinline)) int settle(struct rollout *r, struct error *err)
{
	struct error why = *err;
	bool begun = r->writer.lines > 0;

	switch (why.kind) {
	case FAIL_INTERRUPTED:
		io_ignore_stop(r->conf->io);
		return begun ? end_interrupted(r, err) : end_unopened(r, &why, err);
	case FAIL_TRANSPORT:
	case FAIL_TIMEOUT:
	case FAIL_PROTOCOL:
		r->result->peer = why;
		return begun ? put_end(r, END_UNREACHABLE, why.text,
		                       (struct str){NULL, 0}, err)
		             : end_unopened(r, &why, err);
	case FAIL_NONE:
	case FAIL_USAGE:
	case FAIL_INPUT:
	case FAIL_SYSTEM:
		break;
	}
	return -1;
}

static int run(struct rollout *r, struct error *err)
{
	struct env_reply refusal;

	if (r->conf->env_ops->open(&r->conf->env, r->conf->io, &r->env, &refusal, err)) {
		return -1;
	}
	if (refusal.outcome != OUTCOME_OK) {
		return end_refused(r, &refusal, err);
	}
	return start(r, err);
}

int rollout_run(const struct rollout_conf *conf, struct rollout_result *out,
                struct error *err)
{
	struct rollout *r = mem_new(sizeof(*r)); /* stacks of many threads stay small */

	*r = (struct rollout){.conf = conf,
	                      .last_error = BUF(BUF_MAX_MESSAGE),
	                      .reward_text = BUF(BUF_MAX_SMALL),
	                      .began_ns = io_now_ns(conf->io),
	                      .max_turns = conf->max_turns.given
	                                           ? (int64_t)conf->max_turns.value
	                                           : DEFAULT_MAX_TURNS,
	                      .result = out};

	*out = (struct rollout_result){.status = END_FAILED};
	io_heed_stop(conf->io);
	line_writer_init(&r->writer, conf->recorder, conf->sinks, conf->sink_count,
	                 conf->clock, conf->scratch);
	r->writer.order = conf->order;
	int failed = run(r, err) ? settle(r, err) : 0;
	if (r->env) {
		io_ignore_stop(conf->io); /* a goodbye has its own deadline */
		conf->env_ops->close(r->env);
	}
	if (r->policy) {
		r->policy->ops->close(r->policy);
	}
	arena_release(&r->kept);
	arena_release(&r->now);
	buf_release(&r->last_error);
	buf_release(&r->reward_text);
	free(r);
	return failed;
}
