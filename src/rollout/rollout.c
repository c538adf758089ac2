/* The life of one rollout, from the session to its end: see rollout.h. */
#include "rollout/inside.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/write.h"
#include "rollout/replies.h"

#include <stdio.h>
#include <stdlib.h>

const struct env_facts *rollout_facts_of(const struct rollout *r)
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
	const struct env_facts *e = rollout_facts_of(r);
	struct str name = e->name.n ? e->name : STR("env");

	rollout_task_name(r->conf->task ? str_from(r->conf->task) : name, r->task);
	snprintf(r->id, sizeof(r->id), "%s.%lld", r->task, (long long)r->conf->sample);
	r->writer.rollout = r->id;
}

/* ---- lines that need more than one fact ---- */

static int put_header(struct rollout *r, struct error *err)
{
	const struct rollout_conf *c = r->conf;
	const struct env_facts *e = rollout_facts_of(r);

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

int rollout_put_env_events(struct rollout *r, struct error *err)
{
	struct event e;

	while (r->env && r->conf->env_ops->event(r->env, &e)) {
		if (put_event(r, &e, err)) {
			return -1;
		}
	}
	return 0;
}

int rollout_put_events(struct rollout *r, struct error *err)
{
	struct policy *p = r->policy;
	struct event e;

	if (rollout_put_env_events(r, err)) {
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
	const struct env_facts *e = rollout_facts_of(r);
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

int rollout_put_end(struct rollout *r, enum end_status status, const char *reason,
                    struct str state, struct error *err)
{
	const struct env_facts *e = rollout_facts_of(r);
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
	return rollout_put_events(r, err) || write_end(&r->writer, &f, err) ? -1 : 0;
}

/* The step line needs the state when the call that follows has been made, and the env
   keeps it only until then. */
int rollout_read_state(struct rollout *r, struct str *state, struct error *err)
{
	if (r->conf->env_ops->state(r->env, state, err)) {
		return -1;
	}
	arena_reset(&r->now);
	*state = arena_str(&r->now, *state);
	return 0;
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
	return rollout_put_end(r,
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
	int failed = rollout_put_end(r, reply_came(reply) ? END_REFUSED : END_UNREACHABLE,
	                             buf_cstr(&reason), none, err);
	buf_release(&reason);
	return failed;
}

static int end_refused(struct rollout *r, const struct env_reply *refusal,
                       struct error *err)
{
	static const struct str none = {NULL, 0};
	bool auth = refusal->error.class == CLASS_AUTH;
	int status = refusal->http_status;
	bool elsewhere = status == 404 || status == 405 || status == 501;
	struct buf why = BUF(BUF_MAX_MESSAGE);

	buf_str(&why, refusal->error.message);
	if (status >= 400 && !strstr(buf_cstr(&why), "HTTP ")) {
		buf_printf(&why, " (HTTP %d)", status);
	}
	buf_text(&why,
	         elsewhere ? " (is it an environment server, and the path right?)" : "");
	buf_text(&why, auth ? " (credentials go with --header or --header-env)" : "");
	int failed = put_header(r, err) || write_reset(&r->writer, refusal, none, err)
	                     ? -1
	                     : end_unwanted(r, refusal, "the server gave no session: ",
	                                    buf_view(&why), err);
	buf_release(&why);
	return failed;
}

static int open_policy(struct rollout *r, struct error *err)
{
	struct policy_conf conf = r->conf->policy;

	conf.tools = rollout_facts_of(r)->tools;
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

static int end_interrupted(struct rollout *r, struct error *err)
{
	io_ignore_stop(r->conf->io);
	return rollout_put_end(r, END_INTERRUPTED, "interrupted", (struct str){NULL, 0},
	                       err);
}

/* Without tools there is nothing a policy could fit: that is a fact about the server, and
   belongs into the recording. */
static bool nothing_to_call(const struct rollout *r)
{
	return !r->conf->policy.force_call && json_count(rollout_facts_of(r)->tools) == 0;
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
	if (rollout_read_state(r, &view.state, err)) {
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
	    write_reset(&r->writer, &reply, messages, err) ||
	    rollout_put_events(r, err)) {
		return -1;
	}
	if (refused) {
		return end_unwanted(r, &reply,
		                    "the reset failed: ", buf_view(&r->last_error), err);
	}
	r->result->opened = true;
	if (no_tools) {
		return rollout_put_end(r, END_STOPPED, "the server offers no tools",
		                       unknown, err);
	}
	return rollout_play(r, err);
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
		return begun ? rollout_put_end(r, END_UNREACHABLE, why.text,
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
