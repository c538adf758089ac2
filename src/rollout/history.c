/* The history experiment: see history.h. */
#include "rollout/history.h"

#include "base/log.h"
#include "base/rng.h"
#include "base/text.h"
#include "env/environments.h"
#include "evidence/limits.h"
#include "policy/policy.h"
#include "protocol/tool_list.h"

#include <stdio.h>
#include <stdlib.h>

#define SESSION_DIGITS 32
#define PAUSE_MS       50
#define DRAWN_TURNS    24 /* of which those that fail at the start are no calls of the script */

enum part { PART_REPLY, PART_STATE, PARTS };

/* What a call, or the start of a session, showed. */
struct shown {
	bool known; /* there was a reply */
	enum outcome outcome;
	struct str part[PARTS];
};

struct repeated_call {
	struct str name, arguments;
	bool idle;
	size_t first; /* index of the first equal call: its session stands for both */
	struct shown script;
	/* only of a first one: the start of a fresh session, the call in it, and once more */
	struct shown start, alone, again;
};

struct history_script {
	struct arena arena;
	const struct explaining *explaining;
	struct str state_ignore;
	struct repeated_call calls[1 + HISTORY_CALLS];
	size_t count;
	bool over;                   /* no more calls of the episode follow */
	bool has_episodes;           /* as the server's protocol says */
	struct series series[PARTS]; /* of the script */
	char refused[120];           /* why a session could not be opened; "": none was refused */
};

struct history_script *history_new(const struct explaining *e, struct str state_ignore)
{
	struct history_script *h = mem_new(sizeof(*h));

	h->explaining = e;
	h->state_ignore = arena_str(&h->arena, state_ignore);
	return h;
}

void history_free(struct history_script *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < PARTS; i++)
		series_release(&h->series[i]);
	arena_release(&h->arena);
	free(h);
}

static struct shown keep_reply(struct history_script *h, enum outcome outcome, struct str reply,
                               struct str state)
{
	return (struct shown){.known = true,
	                      .outcome = outcome,
	                      .part = {[PART_REPLY] = arena_str(&h->arena, reply),
	                               [PART_STATE] = arena_str(&h->arena, state)}};
}

bool history_add(struct history_script *h, const struct history_step *step)
{
	struct repeated_call *c = &h->calls[h->count];
	size_t first = 0;

	if (h->over || h->count == ARRAY_LEN(h->calls))
		return false;
	h->over = step->over;
	if (step->outcome != OUTCOME_OK && (step->outcome != OUTCOME_TOOL_ERROR || !h->count))
		return true;
	*c = (struct repeated_call){
		.name = arena_str(&h->arena, step->name),
		.arguments = arena_str(&h->arena, step->arguments),
		.idle = step->idle,
		.script = keep_reply(h, step->outcome, step->observation, step->state)};
	while (first < h->count && !(str_eq(h->calls[first].name, c->name) &&
	                             str_eq(h->calls[first].arguments, c->arguments))) {
		first++;
	}
	c->first = first;
	h->count++;
	return h->count < ARRAY_LEN(h->calls);
}

/* ---- before the experiment ---- */

static size_t succeeded(const struct history_script *h)
{
	size_t count = 0;

	for (size_t i = 0; i < h->count; i++)
		count += h->calls[i].script.outcome == OUTCOME_OK;
	return count;
}

static bool all_idle(const struct history_script *h)
{
	for (size_t i = 0; i < h->count; i++)
		if (!h->calls[i].idle)
			return false;
	return true;
}

static bool is_constant(const struct history_script *h)
{
	for (size_t i = 1; i < h->count; i++) {
		for (size_t part = 0; part < PARTS; part++)
			if (!str_eq(h->calls[i].script.part[part], h->calls[0].script.part[part]))
				return false;
	}
	return true;
}

const char *history_plan(const struct history_script *h, size_t *sessions, size_t *calls)
{
	*sessions = 0;
	*calls = h->count;
	for (size_t i = 0; i < h->count; i++)
		*sessions += h->calls[i].first == i;
	return succeeded(h) < 2 ? "at least two successful calls in one episode are needed"
	       : all_idle(h)    ? "all calls are read-only"
	       : is_constant(h) ? "every call got the same reply"
	                        : NULL;
}

/* ---- sending the calls ---- */

static bool is_peers(enum fail kind)
{
	return kind == FAIL_TRANSPORT || kind == FAIL_TIMEOUT || kind == FAIL_PROTOCOL;
}

/* 0 after a failure that the peer caused: `shown` stays unknown. */
static int excuse(const struct error *why, struct error *err)
{
	if (is_peers(why->kind))
		return 0;
	*err = *why;
	return -1;
}

static void drop_events(struct env *env)
{
	struct event e;

	while (events_take(&env->events, &e))
		log_info("event: %s %.*s", event_kind_name(e.kind), STR_ARG(e.detail));
}

/* What a reply and the state after it show; a refusal shows nothing, a tool's error does. */
static int look(struct history_script *h, struct env *env, const struct env_reply *reply,
                struct shown *out, struct error *err)
{
	enum outcome outcome = reply->outcome;
	struct str observation = env_reply_whole(reply->observation, reply->structured, &h->arena);
	struct str state = STR_NONE;
	struct error why = {0};

	drop_events(env);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_TOOL_ERROR)
		return 0;
	if (env_state(env, &state, &why))
		return excuse(&why, err);
	drop_events(env);
	*out = keep_reply(h, outcome, observation, state);
	return 0;
}

static int send(struct history_script *h, struct env *env, const struct repeated_call *c,
                struct shown *out, bool *over, struct error *err)
{
	struct env_reply reply;
	struct error why = {0};

	*over = true;
	if (env_step(env, c->name, c->arguments, &reply, &why))
		return excuse(&why, err);
	*over = reply.terminated > 0 || reply.truncated > 0;
	return look(h, env, &reply, out, err);
}

static int act(struct history_script *h, struct env *env, struct repeated_call *c,
               struct error *err)
{
	struct env_reply reply;
	struct error why = {0};
	bool over;

	if (env_reset(env, &reply, &why))
		return excuse(&why, err);
	if (reply.outcome != OUTCOME_OK) {
		text_copy(h->refused, sizeof(h->refused), reply.error.message);
		return 0;
	}
	if (look(h, env, &reply, &c->start, err) || send(h, env, c, &c->alone, &over, err))
		return -1;
	return c->alone.known && !over ? send(h, env, c, &c->again, &over, err) : 0;
}

/* Adds calls that are drawn from the tools' schemas, in one session. */
static int play(struct history_script *h, struct env *env, struct policy *policy, struct error *err)
{
	struct policy_view view = {.last = OUTCOME_NONE};
	struct history_step step = {.over = false};
	struct env_reply reply;
	struct decision d;
	struct shown shown;
	struct error why = {0};

	if (env_reset(env, &reply, &why))
		return excuse(&why, err);
	if (reply.outcome != OUTCOME_OK)
		return 0;
	for (; view.turn < DRAWN_TURNS && !step.over; view.turn++) {
		shown = (struct shown){0};
		if (policy->ops->decide(policy, &view, &d, err))
			return -1;
		if (d.kind != DECIDE_CALL)
			break;
		struct repeated_call c = {.name = d.name, .arguments = d.arguments};
		if (send(h, env, &c, &shown, &step.over, err))
			return -1;
		step = (struct history_step){.name = d.name,
		                             .arguments = d.arguments,
		                             .outcome = shown.outcome,
		                             .observation = shown.part[PART_REPLY],
		                             .state = shown.part[PART_STATE],
		                             .idle = tool_is_read_only(env->facts.tools, d.name),
		                             .over = step.over};
		view.last = shown.outcome;
		view.last_error = shown.part[PART_REPLY];
		if (!shown.known || !history_add(h, &step))
			break;
	}
	return 0;
}

static int draw(struct history_script *h, struct env *env, struct error *err)
{
	struct policy_conf drawn = {.spec = "random:1", .tools = env->facts.tools};
	struct policy *policy = NULL;

	if (policy_open(&drawn, &policy, err))
		return -1;
	int failed = play(h, env, policy, err);
	policy->ops->close(policy);
	return failed;
}

/* c NULL: the calls are drawn. */
static int visit(struct history_script *h, const struct history_conf *conf, struct repeated_call *c,
                 bool *full, struct error *err)
{
	struct env_conf own = *conf->env;
	char id[SESSION_DIGITS + 1];
	struct env_reply refusal;
	struct error why = {0};
	struct env *env = NULL;
	int failed = 0;

	own.env_session = id;
	*full = false;
	if (rng_unique_hex(id, SESSION_DIGITS))
		return error_errno(err, "cannot get random bytes for a session id");
	if (env_open(conf->env_ops, &own, conf->io, &env, &refusal, &why)) {
		text_copy(h->refused, sizeof(h->refused), str_from(why.text));
		failed = excuse(&why, err);
	} else if (refusal.outcome != OUTCOME_OK) {
		*full = refusal.outcome == OUTCOME_CAPACITY;
		text_copy(h->refused, sizeof(h->refused), refusal.error.message);
	} else {
		h->refused[0] = '\0';
		h->has_episodes = env->facts.traits.has_episodes;
		failed = c ? act(h, env, c, err) : draw(h, env, err);
	}
	if (env)
		env->ops->close(env);
	return failed;
}

/* While the server refuses for capacity, it is asked again. */
static int visit_when_free(struct history_script *h, const struct history_conf *conf,
                           struct repeated_call *c, struct error *err)
{
	uint64_t deadline_ns = io_now_ns(conf->io) + conf->settle_ms * 1000000;
	bool full, late;

	do {
		late = io_now_ns(conf->io) >= deadline_ns;
		if (visit(h, conf, c, &full, err) ||
		    (full && !late && io_wait(conf->io, NULL, PAUSE_MS, err))) {
			return -1;
		}
	} while (full && !late);
	return 0;
}

/* ---- what the replies mean ---- */

/* The members of one part over the script's calls that succeeded, of which the first call is one; those
   in which sessions differ before any other call are volatile. */
static void follow(struct history_script *h, enum part part)
{
	struct series *s = &h->series[part];
	const struct repeated_call *first = &h->calls[0];

	if (part == PART_STATE)
		series_ignore(s, h->state_ignore, STR_NONE);
	for (size_t i = 0; i < h->count; i++) {
		if (h->calls[i].script.outcome != OUTCOME_OK)
			continue;
		series_call(s, h->calls[i].arguments, -1);
		if (i == 0)
			series_start(s, first->script.part[part]);
		else
			series_trial(s, h->calls[i].script.part[part]);
	}
	series_start(s, first->alone.part[part]);
	series_control(s, first->script.part[part], false);
	series_start(s, first->start.part[part]);
	for (size_t i = 1; i < h->count; i++)
		if (h->calls[i].first == i && h->calls[i].start.known)
			series_control(s, h->calls[i].start.part[part], false);
	explain_members(s, h->explaining);
}

/* The most telling explanation of a difference. */
static enum explanation explain_reply(const struct history_script *h, const struct repeated_call *c,
                                      const struct shown *a, const struct shown *b)
{
	enum explanation most = a->outcome != b->outcome ? MEMBER_EFFECT : MEMBER_UNEXPLAINED;
	const struct member *own;

	for (size_t part = 0; part < PARTS; part++) {
		enum explanation one =
			explain_difference(&h->series[part], h->explaining, c->arguments,
		                           a->part[part], b->part[part], &own);

		most = one > most ? one : most;
	}
	return most;
}

/* Is there a member that calls change by an effect? *repeated: there is one of words of the calls, which
   an environment that sets it and one that is new for each call show alike, whatever the user calls it.
   *unequal: one whose value sessions do not agree on. */
static bool find_members(const struct history_script *h, bool *repeated,
                         const struct member **unequal)
{
	bool effect = false;

	*repeated = false;
	*unequal = NULL;
	for (size_t part = 0; part < PARTS; part++) {
		const struct series *s = &h->series[part];

		for (size_t i = 0; i < s->changed_count; i++) {
			const struct member *m = s->changed[i];

			effect = effect || (m->explanation == MEMBER_EFFECT && !m->echoes);
			*repeated = *repeated || m->echoes;
			*unequal = !*unequal && m->controls && !m->always_now ? m : *unequal;
		}
	}
	return effect;
}

struct history_tally {
	size_t compared, depend, counted;
	size_t failed; /* failed calls that showed something else: their texts may name the request */
	bool repeated;
	size_t alone, unlike; /* unlike calls, alone; those that got another reply than the first */
	size_t again,
		renewed; /* calls that the script repeats; those that got another reply then */
	const struct repeated_call
		*undoing; /* left what it leaves alone: nothing of the calls before */
};

/* Did the call, alone, move the state away from the start, as it did in the script from another state? A call
   that leads back to the start just undoes. */
static bool has_past(const struct history_script *h, const struct repeated_call *c)
{
	const struct repeated_call *sent = &h->calls[c->first];
	struct str start = sent->start.part[PART_STATE];
	const struct shown *others[] = {&c[-1].script, &sent->alone};
	const struct member *own;

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (explain_difference(&h->series[PART_STATE], h->explaining, c->arguments, start,
		                       others[i]->part[PART_STATE], &own) != MEMBER_EFFECT) {
			return false;
		}
	}
	return true;
}

static struct history_tally count(const struct history_script *h)
{
	struct history_tally t = {0};

	for (size_t i = 0; i < h->count; i++) {
		const struct repeated_call *c = &h->calls[i], *sent = &h->calls[c->first];
		bool comparable = i > 0 && sent->alone.known;
		enum explanation d = comparable ? explain_reply(h, c, &c->script, &sent->alone)
		                                : MEMBER_UNEXPLAINED;

		bool failed = d == MEMBER_EFFECT && c->script.outcome != OUTCOME_OK &&
		              c->script.outcome == sent->alone.outcome;

		bool own = c->first == i && sent->alone.known;

		if (comparable && d != MEMBER_EFFECT && !c->idle && has_past(h, c))
			t.undoing = c;
		t.alone += own;
		t.unlike +=
			own && explain_reply(h, c, &h->calls[0].alone, &c->alone) == MEMBER_EFFECT;
		t.again += c->first != i;
		t.renewed += c->first != i &&
		             explain_reply(h, c, &sent->script, &c->script) == MEMBER_EFFECT;
		t.compared += comparable;
		t.depend += d == MEMBER_EFFECT && !failed;
		t.failed += failed;
		t.counted += d == MEMBER_COUNT || d == MEMBER_ECHO;
		t.repeated =
			t.repeated || (c->again.known &&
		                       explain_reply(h, c, &c->alone, &c->again) == MEMBER_EFFECT);
	}
	return t;
}

static void put_unequal(const struct member *m, struct history_verdict *out)
{
	snprintf(
		out->why, sizeof(out->why),
		"sessions do not start alike%s%.*s; give each a fresh copy of the server's data, and a seed",
		m->pointer.n ? ": they differ at " : "", STR_ARG(m->pointer));
}

/* Healthy where the call sets everything. */
static void put_undoing(const struct repeated_call *c, struct history_verdict *out)
{
	snprintf(
		out->why, sizeof(out->why),
		"%.*s %.*s left nothing of the calls before it: it does so, or the environment was "
		"replaced",
		STR_ARG(c->name), c->arguments.n < 48 ? (int)c->arguments.n : 0, c->arguments.p);
}

/* Why kept is not clean. */
static void put_doubt(const struct history_tally *t, const struct member *unequal,
                      struct history_verdict *out)
{
	out->doubtful = t->undoing || (t->again && !t->renewed && !t->repeated);
	if (unequal)
		put_unequal(unequal, out);
	else if (t->again && !t->renewed && !t->repeated)
		text_copy(out->why, sizeof(out->why),
		          STR("each call that was repeated got its earlier reply"));
	else if (t->undoing)
		put_undoing(t->undoing, out);
}

static void judge(struct history_script *h, struct history_verdict *out)
{
	const struct member *unequal;
	bool repeated;

	follow(h, PART_REPLY);
	follow(h, PART_STATE);
	struct history_tally t = count(h);
	bool effect = find_members(h, &repeated, &unequal);

	*out = (struct history_verdict){.compared = t.compared, .depend = t.depend};
	if ((t.depend || t.repeated) && t.alone >= STILL_CALLS && !t.unlike) {
		text_copy(out->why, sizeof(out->why),
		          STR("unlike calls, each alone, got one reply: replies depend on how many "
		              "calls came before, not on which"));
	} else if (t.depend || t.repeated) {
		out->answer = HISTORY_KEPT;
		put_doubt(&t, unequal, out);
	} else if (t.compared == 0 && h->refused[0]) {
		snprintf(out->why, sizeof(out->why), "no session could be opened: %s", h->refused);
	} else if (unequal) {
		put_unequal(unequal, out);
	} else if (t.failed) {
		text_copy(out->why, sizeof(out->why),
		          STR("only what failed calls showed differs in a fresh session"));
	} else if (t.counted) {
		text_copy(out->why, sizeof(out->why),
		          STR("only counts and words of the calls depend on earlier calls"));
	} else if (t.compared && !effect) {
		snprintf(out->why, sizeof(out->why), "the replies show no effect of the calls%s",
		         repeated ? " but words of them" : "");
	} else if (t.compared + 1 < STILL_CALLS) {
		snprintf(out->why, sizeof(out->why), "%s could be compared",
		         t.compared ? "only one reply" : "no reply");
	} else {
		out->answer = HISTORY_NONE;
	}
}

/* From the last to the first: in their order they would give the script's replies where all sessions act
   on one environment, too. */
static int experiment(struct history_script *h, const struct history_conf *conf,
                      struct history_verdict *out, struct error *err)
{
	for (size_t i = h->count; i-- > 0;)
		if (h->calls[i].first == i && visit_when_free(h, conf, &h->calls[i], err))
			return -1;
	judge(h, out);
	out->has_episodes = h->has_episodes;
	return 0;
}

/* The same experiment with calls that are drawn: the script's may be just those that can move nothing, as at
   a wall, or one call again and again. */
static int try_other_calls(const struct history_script *h, const struct history_conf *conf,
                           struct history_verdict *out, struct error *err)
{
	struct history_script *drawn = history_new(h->explaining, h->state_ignore);
	struct history_verdict other = {.answer = HISTORY_UNKNOWN};
	size_t sessions, calls;

	log_warn("history: up to %d more sessions, for calls drawn from the tools' schemas",
	         1 + 1 + HISTORY_CALLS);
	int failed = visit_when_free(drawn, conf, NULL, err);
	if (!failed && !history_plan(drawn, &sessions, &calls))
		failed = experiment(drawn, conf, &other, err);
	if (!failed && other.answer == HISTORY_KEPT) {
		text_copy(
			other.why, sizeof(other.why),
			STR("the replies to the script's calls do not, those to calls drawn from the "
		            "tools' schemas do: the script may be unable to move anything, as at a "
		            "wall"));
	}
	if (other.answer == HISTORY_KEPT || (other.answer == HISTORY_NONE && is_constant(h))) {
		*out = other;
		out->drawn = true;
	}
	history_free(drawn);
	return failed;
}

int history_run(struct history_script *h, const struct history_conf *conf,
                struct history_verdict *out, struct error *err)
{
	size_t sessions, calls;
	const char *why = history_plan(h, &sessions, &calls);
	bool repeats = why && conf->episodes && succeeded(h) > 1 && !all_idle(h);

	*out = (struct history_verdict){.answer = HISTORY_UNKNOWN};
	if (why)
		text_copy(out->why, sizeof(out->why), str_from(why));
	else if (experiment(h, conf, out, err))
		return -1;
	return repeats || (out->answer == HISTORY_NONE && h->has_episodes)
	               ? try_other_calls(h, conf, out, err)
	               : 0;
}
