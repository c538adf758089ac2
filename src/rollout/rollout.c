/* One rollout, from opening the session to the end line: see rollout.h. */
#include "rollout/rollout_internal.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/settings.h"
#include "base/text.h"
#include "env/environments.h"
#include "env/failure.h"
#include "env/ignore_paths.h"
#include "json/write.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>

#define FIT_WAIT_MS 2 /* between two looks at sessions that are being opened */

const struct env_facts *rollout_env_facts(const struct rollout *r)
{
	static const struct env_facts none = {.protocol = NULL};

	return r->env ? &r->env->facts : &none;
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
	/* a name truncated inside a character is not a JSON string */
	out[text_utf8_valid((struct str){out, n})] = '\0';
}

/* Ids are derived: the same task on the same environment has the same id in every run. */
static void name_rollout(struct rollout *r)
{
	const struct env_facts *e = rollout_env_facts(r);
	struct str name = e->name.n ? e->name : STR("env");

	rollout_task_name(r->conf->task ? str_from(r->conf->task) : name, r->task);
	snprintf(r->id, sizeof(r->id), "%s.%lld", r->task, (long long)r->conf->sample);
	r->writer.rollout = r->id;
}

/* ---- lines of the recording ---- */

static void set_env(const struct env_facts *e, struct header_fields *out)
{
	out->protocol = e->protocol;
	out->env_name = e->name;
	out->env_version = e->version;
	out->state_kind = e->state_kind;
	out->state_target = e->state_target;
	out->state_arguments = e->state_arguments;
	out->state_ignore = e->state_ignore;
	out->tools = e->tools;
	out->url = e->url.n ? e->url : out->url;
	out->session = e->session;
	out->env_session = e->env_session;
	out->revision = e->revision;
	out->era = e->era;
	out->transport = e->transport;
}

static int put_header(struct rollout *r, struct error *err)
{
	const struct rollout_conf *c = r->conf;
	const struct env_facts *e = rollout_env_facts(r);

	name_rollout(r);
	struct header_fields f = {.task = r->task,
	                          .vars = c->policy.vars,
	                          .reset_args = c->env.reset_args,
	                          .sample = c->sample,
	                          .group_size = c->group_size,
	                          .has_seed = c->env.has_seed,
	                          .seed = c->env.seed,
	                          .protocol = c->env_ops->name,
	                          .parent = c->parent,
	                          .parent_steps = c->parent_steps,
	                          .parent_file = str_from(c->parent_file),
	                          .max_turns = r->max_turns,
	                          .timeout_ms = c->env.timeout_ms,
	                          .url = str_from(c->env.url),
	                          .version = c->env.version,
	                          .masks = c->masks,
	                          .mask_count = c->mask_count};

	if (e->protocol) {
		f.seeded = r->result->seeded = c->env.has_seed && e->traits.takes_seed;
		set_env(e, &f);
		f.no_names = ignore_paths_all_count(&c->env);
		f.volatile_numbers = buf_view(&r->volatile_numbers);
		f.state_ignore = r->ignore.n ? buf_view(&r->ignore) : f.state_ignore;
	}
	if (r->policy) {
		f.policy_kind = r->policy_facts.kind;
		f.policy_name = r->policy_facts.name;
		f.policy_params = r->policy_facts.params;
	}
	return line_writer_header(&r->writer, &f, err);
}

static int put_event(struct rollout *r, const struct event *e, struct error *err)
{
	log_info("event: %s %.*s", event_kind_name(e->kind), STR_ARG(e->detail));
	return line_writer_event(&r->writer, r->turns, e, err);
}

int rollout_put_env_events(struct rollout *r, struct error *err)
{
	struct event e;

	while (r->env && events_take(&r->env->events, &e))
		if (put_event(r, &e, err))
			return -1;
	return 0;
}

int rollout_put_events(struct rollout *r, struct error *err)
{
	struct policy *p = r->policy;
	struct event e;

	if (rollout_put_env_events(r, err))
		return -1;
	while (p && p->ops->event && p->ops->event(p, &e))
		if (put_event(r, &e, err))
			return -1;
	return 0;
}

/* The environment's own total, else the sum over ok steps, else unknown. */
static struct str total_reward(struct rollout *r)
{
	const struct env_facts *e = rollout_env_facts(r);

	if (e->total_reward.p)
		return e->total_reward;
	if (!r->reward_known)
		return STR_NONE;
	buf_clear(&r->reward_text);
	json_pack(&r->reward_text, "%f", r->reward_sum);
	return buf_view(&r->reward_text);
}

int rollout_put_end(struct rollout *r, enum end_status status, const char *reason, struct str state,
                    struct error *err)
{
	struct end_fields f = {.status = status,
	                       .reason = reason,
	                       .turns = r->turns,
	                       .steps = r->steps,
	                       .total_reward = total_reward(r),
	                       .reward_components = rollout_env_facts(r)->reward_components,
	                       .state = state,
	                       .ignore = rollout_ignore(r),
	                       .took_ms = (io_now_ns(r->conf->io) - r->began_ns) / 1000000};

	r->result->status = status;
	return rollout_put_events(r, err) || line_writer_end(&r->writer, &f, err) ? -1 : 0;
}

/* The state of a step line is needed after the call, but the env keeps it only until the call. */
int rollout_read_state(struct rollout *r, struct str *state, struct error *err)
{
	if (r->is_fresh) {
		*state = r->fresh;
		return 0;
	}
	if (env_state(r->env, state, err))
		return -1;
	arena_reset(&r->now);
	*state = arena_str(&r->now, *state);
	return 0;
}

const struct json_paths *rollout_ignore(const struct rollout *r)
{
	return r->ignore_paths ? r->ignore_paths : rollout_env_facts(r)->ignore_paths;
}

/* Reads the state once more and compares it with what was read before. *reads: see
   volatile_members_compare(). */
static int read_again(struct rollout *r, struct str before, int *reads, struct error *err)
{
	r->is_fresh = false;
	if (io_wait(r->conf->io, NULL, r->conf->reads_apart_ms, err) ||
	    rollout_read_state(r, &r->fresh, err)) {
		return -1;
	}
	r->is_fresh = true;
	*reads = volatile_members_compare(r->conf->volatile_members,
	                                  &(struct reading_pair){before, r->fresh},
	                                  rollout_env_facts(r)->state_ignore);
	return 0;
}

/* The last read also serves as the state before the first call. Skipped if reading would disturb the
   episode. */
static int find_volatile_members(struct rollout *r, struct error *err)
{
	AUTO_BUF before = BUF(BUF_MAX_MESSAGE);
	struct str state;
	int reads = 2, failed = rollout_read_state(r, &state, err);

	for (int done = 1; !failed && state.n && done < reads; done++) {
		buf_set(&before, state);
		failed = read_again(r, buf_view(&before), &reads, err);
		state = r->fresh;
	}
	if (failed)
		volatile_members_skip(r->conf->volatile_members, false);
	else
		volatile_members_finish(r->conf->volatile_members);
	return failed;
}

static int choose_ignored(struct rollout *r, bool reads, struct error *err)
{
	struct volatile_members *v = r->conf->volatile_members;

	if (!v || ignore_paths_all_count(&r->conf->env))
		return 0;
	if (reads && find_volatile_members(r, err))
		return -1;
	r->ignore = r->volatile_numbers = BUF(BUF_MAX_MESSAGE);
	volatile_members_put_numbers(v, &r->volatile_numbers);
	return volatile_members_add(v, rollout_env_facts(r)->state_ignore, &r->ignore,
	                            &r->ignore_paths, err);
}

/* ---- opening ---- */

/* Without a session, the recording consists of the request and the response. */
static int end_unopened(struct rollout *r, const struct error *why, struct error *err)
{
	struct error recorded = *why;
	struct env_reply reply;
	bool stopped = why->kind == FAIL_INTERRUPTED;
	bool ours = why->kind == FAIL_SYSTEM;

	settings_unmark(recorded.text);
	env_reply_from_error(&recorded, &reply);
	if (!stopped && !ours)
		r->result->peer = *why;
	if (put_header(r, err) || line_writer_reset(&r->writer, &reply, STR_NONE, err))
		return -1;
	return rollout_put_end(r,
	                       stopped ? END_INTERRUPTED
	                       : ours  ? END_FAILED
	                               : END_UNREACHABLE,
	                       recorded.text, STR_NONE, err);
}

/* Refusals are reported by the rule `capacity` only. The hint about authentication is printed,
   not recorded. */
static void log_refusal(struct rollout *r, const struct env_reply *reply, struct str reason)
{
	if (reply->outcome != OUTCOME_CAPACITY) {
		error_set(&r->result->peer, FAIL_PROTOCOL, "%.*s%s", STR_ARG(reason),
		          env_refusal_advice(reply));
	}
}

/* A missing reply is not a refusal. */
static int end_without_session(struct rollout *r, const struct env_reply *reply, const char *what,
                               struct str why, struct error *err)
{
	AUTO_BUF reason = BUF(BUF_MAX_MESSAGE);

	buf_text(&reason, what);
	buf_str(&reason, why);
	log_refusal(r, reply, buf_view(&reason));
	return rollout_put_end(r, env_reply_received(reply) ? END_REFUSED : END_UNREACHABLE,
	                       buf_cstr(&reason), STR_NONE, err);
}

static int end_refused(struct rollout *r, const struct env_reply *refusal, struct error *err)
{
	int status = refusal->http_status;
	bool named = strstr(r->conf->env.url, "session_id="); /* not one that was just opened */
	bool forgot = refusal->error.class == CLASS_SESSION && !named;
	bool elsewhere = status == 404 || status == 405 || status == 501;
	AUTO_BUF why = BUF(BUF_MAX_MESSAGE);

	buf_str(&why, refusal->error.message);
	if (status >= 400 && !strstr(buf_cstr(&why), "HTTP "))
		buf_printf(&why, " (HTTP %d)", status);
	buf_text(&why, forgot      ? ": it does not know the session that it just opened; several "
	                             "workers without affinity?"
	               : elsewhere ? " (check that the URL is that of an environment server)"
	                           : "");
	return put_header(r, err) || line_writer_reset(&r->writer, refusal, STR_NONE, err)
	               ? -1
	               : end_without_session(r, refusal,
	                                     "the server refused the session: ", buf_view(&why),
	                                     err);
}

static int open_policy(struct rollout *r, struct error *err)
{
	struct policy_conf conf = r->conf->policy;

	conf.tools = rollout_env_facts(r)->tools;
	conf.io = r->conf->io;
	conf.task = r->conf->task;
	conf.sample = r->conf->sample;
	bool none =
		!conf.spec && !conf.actions && !conf.call_text_count && !conf.calls.p && !conf.llm;
	if ((!none || !r->conf->wrap) && policy_open(&conf, &r->policy, err))
		return -1;
	if (r->conf->wrap)
		r->policy = r->conf->wrap(r->conf->wrap_ctx, r->policy, conf.io);
	r->policy->ops->facts(r->policy, &r->policy_facts);
	if (!r->conf->has_max_turns && r->policy_facts.length >= 0)
		r->max_turns = r->policy_facts.length;
	return 0;
}

/* Without tools no policy can match: a fact about the server, which is recorded. */
static bool nothing_to_call(const struct rollout *r)
{
	return !r->conf->policy.force_call && json_count(rollout_env_facts(r)->tools) == 0;
}

/* The prompt may show the state, so it is read before the reset is recorded. */
static int open_conversation(struct rollout *r, struct env_reply *reply, struct str *messages,
                             struct error *err)
{
	struct policy *p = r->policy;
	struct policy_view view = {.observation = r->observation};

	if (reply->outcome != OUTCOME_OK || !p || !p->ops->begin)
		return 0;
	env_reply_keep(reply, &r->kept);
	if (rollout_read_state(r, &view.state, err))
		return -1;
	p->ops->begin(p, &view, messages);
	return 0;
}

/* The reset, and the checks of the state right after it. */
static int reset(struct rollout *r, struct env_reply *reply, struct error *err)
{
	struct volatile_members *v = r->conf->volatile_members;
	bool reads = false;

	v = ignore_paths_all_count(&r->conf->env) ? NULL : v;
	if (v && volatile_members_wait(v, r->conf->io, &reads, err))
		return -1;
	int failed = env_reset(r->env, reply, err);
	if (!failed) {
		env_reply_keep(reply, &r->kept);
		r->observation = reply->observation;
	}
	bool ok = !failed && reply->outcome == OUTCOME_OK;
	if (reads && !ok)
		volatile_members_skip(v, !failed && env_reply_received(reply));
	return failed || choose_ignored(r, reads && ok, err) ? -1 : 0;
}

/* reply: storage for that of the reset */
static int start(struct rollout *r, struct env_reply *reply, struct error *err)
{
	struct str messages = STR_NONE;

	if (reset(r, reply, err))
		return -1;
	bool refused = reply->outcome != OUTCOME_OK;
	buf_str(&r->last_error, reply->error.message);
	if (put_header(r, err) || open_conversation(r, reply, &messages, err) ||
	    line_writer_reset(&r->writer, reply, messages, err) || rollout_put_events(r, err)) {
		return -1;
	}
	if (refused) {
		return end_without_session(r, reply, "the reset failed: ", buf_view(&r->last_error),
		                           err);
	}
	r->result->opened = true;
	second_read_begin(r);
	if (!r->policy) {
		return rollout_put_end(r, END_STOPPED,
		                       r->mismatch ? r->mismatch : "the server offers no tools",
		                       STR_NONE, err);
	}
	return rollout_play(r, err);
}

/* A local failure ends the run; this rollout records it if possible (not on a full disk). */
static void end_failed(struct rollout *r, const struct error *why)
{
	struct error ignored = {0};
	char text[sizeof(why->text)];

	memcpy(text, why->text, sizeof(text));
	settings_unmark(text);
	if (r->writer.lines > 0 && rollout_put_end(r, END_FAILED, text, STR_NONE, &ignored))
		log_debug("%s", ignored.text);
}

/* Errors of peers and interrupts end a rollout; they are not failures of the program. Not
   inlined: its frame would stay on the stack while each of a thousand rollouts waits. */
static __attribute__((noinline)) int end_after_error(struct rollout *r, struct error *err)
{
	struct error why = *err;
	bool begun = r->writer.lines > 0;

	switch (why.kind) {
	case FAIL_INTERRUPTED:
		io_ignore_stop(r->conf->io);
		return begun ? rollout_put_end(r, END_INTERRUPTED, "interrupted", STR_NONE, err)
		             : end_unopened(r, &why, err);
	case FAIL_TRANSPORT:
	case FAIL_TIMEOUT:
	case FAIL_PROTOCOL:
		r->result->peer = why;
		settings_unmark(why.text);
		return begun ? rollout_put_end(r, END_UNREACHABLE, why.text, STR_NONE, err)
		             : end_unopened(r, &r->result->peer, err);
	case FAIL_SYSTEM:
		end_failed(r, &why);
		break;
	case FAIL_NONE:
	case FAIL_USAGE:
	case FAIL_INPUT:
		break;
	}
	return -1;
}

/* The error texts of the options and of the policy file. */
static int join_error_texts(struct rollout *r, struct error *err)
{
	struct env_conf *e = &r->env_conf;
	const char *const *more;
	size_t count;
	const struct policy_conf *p = &r->conf->policy;

	/* policy_open refuses actions next to a file */
	if (policy_error_texts(p->actions || p->call_text_count ? NULL : p->spec, &r->texts, &more,
	                       &count, err)) {
		return -1;
	}
	if (!count)
		return 0;
	const char **all = arena_new(&r->texts, (e->error_text_count + count) * sizeof(*all));
	for (size_t i = 0; i < e->error_text_count; i++)
		all[i] = e->error_texts[i];
	for (size_t i = 0; i < count; i++)
		all[e->error_text_count + i] = more[i];
	e->error_texts = all;
	e->error_text_count += count;
	return 0;
}

static uint64_t offer_of(const struct rollout *r)
{
	const struct env_facts *e = rollout_env_facts(r);
	struct str protocol = e->protocol ? str_from(e->protocol) : STR_NONE;

	return (fingerprint(e->tools) ^ fingerprint(protocol)) | 1;
}

/* Did the options match a session with another offer? Waits for those that are being opened. */
static int fit_another(const struct rollout *r, bool *another, struct error *err)
{
	struct options_fit *f = r->conf->options_fit;
	uint64_t offer = 0;
	bool opening = f != NULL;

	while (opening && !offer) {
		opening = atomic_load(&f->opening) > 0; /* first: the offer is set before */
		offer = atomic_load(&f->offer);
		if (opening && !offer && io_wait(r->conf->io, NULL, FIT_WAIT_MS, err))
			return -1;
	}
	*another = offer && offer != offer_of(r);
	return 0;
}

/* The policy matches other sessions of the run but not this one: the rollout continues without
   it. If the state source does not match, there is no session. Not inlined, like
   end_after_error. */
static __attribute__((noinline)) int settle_mismatch(struct rollout *r, bool opened,
                                                     struct error *err)
{
	struct error stopped = {0};
	bool another;

	if (err->kind != FAIL_USAGE && err->kind != FAIL_INPUT)
		return -1;
	if (fit_another(r, &another, &stopped)) {
		*err = stopped;
		return -1;
	}
	if (!another)
		return -1;
	error_wrap(err, "this session differs from others of the run");
	error_from_peer(err);
	stopped = *err;
	settings_unmark(stopped.text);
	r->mismatch = arena_str(&r->texts, str_from(stopped.text)).p;
	return opened ? 0 : -1;
}

/* Opens the session, and the policy for its tools. */
static int open_session(struct rollout *r, struct env_reply *refusal, struct error *err)
{
	struct options_fit *fit = r->conf->options_fit;

	if (fit)
		atomic_fetch_add(&fit->opening, 1);
	bool opened = !env_open(r->conf->env_ops, &r->env_conf, r->conf->io, &r->env, refusal, err);
	bool offers = opened && refusal->outcome == OUTCOME_OK && !nothing_to_call(r);
	bool mismatch = !opened || (offers && open_policy(r, err));
	if (fit) {
		unsigned long long none = 0;

		if (offers && !mismatch)
			atomic_compare_exchange_strong(&fit->offer, &none, offer_of(r));
		atomic_fetch_sub(&fit->opening, 1);
	}
	return mismatch ? settle_mismatch(r, opened, err) : 0;
}

static int run(struct rollout *r, struct error *err)
{
	struct env_reply reply;

	if (join_error_texts(r, err) || open_session(r, &reply, err))
		return -1;
	if (reply.outcome != OUTCOME_OK)
		return end_refused(r, &reply, err);
	return start(r, &reply, err);
}

int rollout_run(const struct rollout_conf *conf, struct rollout_result *out, struct error *err)
{
	struct rollout *r = mem_new(sizeof(*r)); /* not on the stack: there are many threads */

	*r = (struct rollout){.conf = conf,
	                      .env_conf = conf->env,
	                      .last_error = BUF(BUF_MAX_MESSAGE),
	                      .reward_text = BUF(BUF_MAX_SMALL),
	                      .began_ns = io_now_ns(conf->io),
	                      .max_turns =
	                              conf->has_max_turns ? conf->max_turns : DEFAULT_MAX_TURNS,
	                      .result = out};

	*out = (struct rollout_result){.status = END_FAILED};
	io_watch_stop(conf->io);
	line_writer_init(&r->writer, conf->recorder, conf->sinks, conf->sink_count, conf->clock,
	                 conf->scratch);
	r->writer.order = conf->order;
	int failed = run(r, err) ? end_after_error(r, err) : 0;
	out->timed_out = out->status == END_UNREACHABLE && r->last == OUTCOME_TIMEOUT;
	if (r->env) {
		io_ignore_stop(conf->io); /* closing has its own deadline */
		conf->env_ops->close(r->env);
	}
	if (r->policy)
		r->policy->ops->close(r->policy);
	arena_release(&r->texts);
	arena_release(&r->kept);
	arena_release(&r->now);
	json_paths_free(r->ignore_paths);
	BUFS_RELEASE(&r->ignore, &r->volatile_numbers, &r->last_error, &r->reward_text);
	free(r);
	return failed;
}
