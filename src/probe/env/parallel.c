/* Parallel sessions: opened one by one; the first makes calls, the state of the others is read
   before and after, then each of them makes one call. What that means is judged by properties. */
#include "base/text.h"
#include "policy/policy.h"
#include "probe/probe_internal.h"
#include "protocol/tool_list.h"

#define RETRY_MS  250        /* time a session that just ended may keep its slot */
#define DRAWN     "random:1" /* the policy, unless the user chose one */
#define AGAIN_MAX 2          /* calls, after which the first session should not be at its start */
#define TICK_MS   1100       /* long enough for a clock with a resolution of one second to change */

/* ---- opening ---- */

/* Was the session that timed out waiting for another one to end? */
static int ask_queue(struct probe *p, struct error *err)
{
	struct session *last = &p->sessions[--p->opened];

	session_close(last);
	if (session_open(&p->pool, last, NULL, err))
		return -1;
	p->queued = session_is_open(last);
	p->opened += p->queued;
	return 0;
}

static int open_next(struct probe *p, struct session *s, struct error *err)
{
	if (session_open(&p->pool, s, NULL, err))
		return -1;
	if (s->status == SESSION_REFUSED && s->last.outcome != OUTCOME_CAPACITY &&
	    !p->conf->env.has_seed && p->opened == 0) {
		p->env.has_seed = false; /* perhaps it takes none */
		return session_open(&p->pool, s, NULL, err);
	}
	if (s->status == SESSION_REFUSED && s->last.outcome == OUTCOME_CAPACITY)
		return io_wait(p->conf->io, NULL, RETRY_MS, err) ||
		       session_open(&p->pool, s, NULL, err);
	return 0;
}

int probe_open_sessions(struct probe *p, struct error *err)
{
	struct session *s = p->sessions;

	while (p->tried < p->conf->sessions) {
		s = &p->sessions[p->tried++];
		if (open_next(p, s, err))
			return -1;
		if (!session_is_open(s))
			break;
		p->opened++;
	}
	p->refused_status = s->status;
	p->refusal = s->last;
	p->limited = s->status == SESSION_REFUSED || s->status == SESSION_LATE;
	return s->status == SESSION_LATE && p->opened ? ask_queue(p, err) : 0;
}

/* ---- which calls to make ---- */

static bool user_has_calls(const struct probe *p)
{
	return p->conf->policy.actions || p->conf->policy.call_text_count || p->conf->policy.spec;
}

/* Calling is what environments are for. Tools of other servers may have side effects: random
   calls are only made if the user selected a state source, which shows their effect. */
static bool may_draw(const struct env_facts *f)
{
	return f->traits.has_episodes || f->state_kind != STATE_NONE;
}

static void add_writing_tools(struct probe *p, struct str tools, struct buf *out)
{
	struct str tool;
	size_t cursor = 0;

	buf_char(out, '[');
	while (json_next(tools, &cursor, &tool)) {
		if (!tool_is_read_only(tools, json_text(&p->arena, JSON_GET(tool, "name")))) {
			buf_text(out, out->n > 1 ? "," : "");
			buf_str(out, tool);
		}
	}
	buf_char(out, ']');
}

static int open_policy(struct probe *p, struct policy **out, struct error *err)
{
	const struct env_facts *f = session_facts(&p->sessions[0]);
	struct policy_conf conf = p->conf->policy;
	AUTO_BUF writing = BUF(BUF_MAX_MESSAGE);

	conf.tools = f->tools;
	if (!json_count(f->tools)) {
		p->not_called = "the server offers no tools";
	} else if (!user_has_calls(p) && !may_draw(f)) {
		p->not_called = "no state source shows what a call does, and no calls were given";
	} else if (!user_has_calls(p) && conf.tool) {
		conf.spec = DRAWN;
	} else if (!user_has_calls(p)) {
		add_writing_tools(p, f->tools, &writing);
		conf.tools = buf_view(&writing);
		conf.spec = DRAWN;
		p->not_called = json_count(conf.tools) ? NULL : "every tool is marked read-only";
	}
	return p->not_called ? 0 : policy_open(&conf, out, err);
}

/* ---- calls in the first session ---- */

struct exploring {
	struct policy *policy;
	struct snapshot now;
	struct buf last_error;
	size_t ok, lost; /* lost: consecutive calls without a reply */
	bool done;
};

struct str probe_keep(struct probe *p, const struct buf *b)
{
	return b->n ? arena_str(&p->arena, buf_view(b)) : STR_NONE;
}

int probe_read(struct probe *p, struct session *s, struct snapshot *to, struct str *out,
               struct error *err)
{
	if (session_read_state(&p->pool, s, to, err))
		return -1;
	*out = to->known ? arena_str(&p->arena, buf_view(&to->json)) : STR_NONE;
	return 0;
}

static void note_refusal(struct probe *p, size_t session, const struct probe_reply *a)
{
	if (a->outcome == OUTCOME_CAPACITY && !p->step_refused) {
		p->step_refused = p->limited = true;
		p->refused_session = session;
		p->step_refusal = *a;
	}
}

static void note_call(struct probe *p, struct exploring *x, const struct probe_call *a)
{
	bool ok = a->reply.outcome == OUTCOME_OK;

	x->ok += ok;
	x->lost = ok || a->reply.layer != LAYER_TRANSPORT ? 0 : x->lost + 1;
	if (ok && a->changed && p->first_effect == CALLS_MAX)
		p->first_effect = p->call_count;
	note_refusal(p, 1, &a->reply);
	p->call_count++;
	x->done = a->reply.over || x->lost > 1 || p->step_refused ||
	          !session_is_open(&p->sessions[0]) || p->call_count == CALLS_MAX ||
	          (!p->named && x->ok >= GOOD_MAX && p->first_effect < CALLS_MAX &&
	           !probe_uncounted(p));
}

static int call_once(struct probe *p, struct exploring *x, const struct decision *d,
                     struct error *err)
{
	struct session *s = &p->sessions[0];
	struct probe_call *a = &p->calls[p->call_count];

	a->name = arena_str(&p->arena, d->name);
	a->arguments = arena_str(&p->arena, d->arguments);
	if (session_step(&p->pool, s, a->name, a->arguments, &a->reply, err))
		return -1;
	a->observation = probe_keep(p, &s->observation);
	buf_set(&x->last_error, str_from(a->reply.message));
	if (probe_read(p, s, &x->now, &a->state, err))
		return -1;
	series_call(&p->states, a->arguments, -1);
	series_trial(&p->states, a->state);
	a->known = p->states.trials[p->call_count].known;
	a->changed = a->known && explain_newest(&p->states, &p->explaining);
	if (a->reply.outcome == OUTCOME_OK) {
		series_call(&p->replies, a->arguments, -1);
		series_trial(&p->replies, a->observation);
	}
	note_call(p, x, a);
	return 0;
}

static int explore(struct probe *p, struct exploring *x, struct error *err)
{
	struct decision d;

	while (!x->done) {
		struct policy_view view = {.turn = (int64_t)p->call_count,
		                           .last_error = buf_view(&x->last_error)};

		if (p->call_count)
			view.last = p->calls[p->call_count - 1].reply.outcome;
		if (x->policy->ops->decide(x->policy, &view, &d, err))
			return -1;
		if (d.kind != DECIDE_CALL)
			break;
		if (call_once(p, x, &d, err))
			return -1;
	}
	return 0;
}

/* Did unlike calls all get one reply? */
static bool got_one_reply(struct probe *p)
{
	struct replies r = {.count = 0};
	const struct probe_call *first = NULL;
	bool rewards_differ = false;

	for (size_t i = 0; i < p->call_count; i++) {
		const struct probe_call *a = &p->calls[i];

		if (a->reply.outcome != OUTCOME_OK || tool_is_read_only(p->tools, a->name))
			continue;
		first = first ? first : a;
		r.count++;
		rewards_differ = rewards_differ || a->reply.reward != first->reply.reward;
		r.differ = r.differ || !str_eq(a->observation, first->observation);
		r.unlike = r.unlike || !str_eq(a->name, first->name) ||
		           !str_eq(a->arguments, first->arguments);
	}
	p->unlike = r.unlike;
	p->rewards_differ = rewards_differ;
	return replies_are_one(&r, false);
}

bool probe_names_state(const struct probe *p)
{
	return p->state_kind == STATE_TOOL || p->state_kind == STATE_RESOURCE;
}

/* As check does when a rollout is over. Until then a count was a change. */
static void decide_effects(struct probe *p)
{
	struct completed_step steps[CALLS_MAX] = {{.failed = false}};
	const struct deciding d = {.explaining = &p->explaining,
	                           .named = probe_names_state(p),
	                           .silent = got_one_reply(p),
	                           .steps = steps,
	                           .count = p->call_count};

	for (size_t i = 0; i < p->call_count; i++) {
		const struct probe_call *a = &p->calls[i];

		steps[i] = (struct completed_step){.failed = a->reply.outcome != OUTCOME_OK,
		                                   .idle = tool_is_read_only(p->tools, a->name),
		                                   .trial = (int64_t)i};
	}
	explain_members(&p->replies, &p->explaining);
	verdict_decide(&p->verdict, &p->states, &d);
	p->first_effect = CALLS_MAX;
	for (size_t i = p->call_count; i-- > 0;) {
		p->calls[i].changed = steps[i].effect == EFFECT_CHANGED;
		if (p->calls[i].changed && !steps[i].failed)
			p->first_effect = i;
	}
}

/* Selects the successful calls that are repeated later, with the one that changed the state. */
static void choose_good(struct probe *p)
{
	bool has_changer = p->first_effect == CALLS_MAX;

	for (size_t i = 0; i < p->call_count && p->good_count < GOOD_MAX; i++) {
		if (p->calls[i].reply.outcome == OUTCOME_OK) {
			p->good[p->good_count++] = i;
			has_changer |= i == p->first_effect;
		}
	}
	if (!has_changer && p->good_count)
		p->good[p->good_count - 1] = p->first_effect;
}

static int call_first_session(struct probe *p, struct error *err)
{
	struct exploring x = {.last_error = BUF(BUF_MAX_SMALL),
	                      .now = {.json = BUF(BUF_MAX_MESSAGE)}};

	if (open_policy(p, &x.policy, err))
		return -1;
	if (p->not_called)
		return 0;
	int failed = explore(p, &x, err);
	decide_effects(p);
	choose_good(p);
	x.policy->ops->close(x.policy);
	BUFS_RELEASE(&x.last_error, &x.now.json);
	return failed;
}

/* ---- the other sessions ---- */

/* The first one that had an effect: it, and whatever came before it, began at the start. */
const struct probe_call *probe_call_for_others(const struct probe *p)
{
	const struct probe_call *first = p->good_count ? &p->calls[p->good[0]] : NULL;

	return first && first->known && p->first_effect < CALLS_MAX ? &p->calls[p->first_effect]
	                                                            : first;
}

enum explanation probe_compare(const struct probe *p, const struct series *s, struct str a,
                               struct str b)
{
	const struct probe_call *call = probe_call_for_others(p);
	const struct member *own;

	return explain_difference(s, &p->explaining, call ? call->arguments : STR_NONE, a, b, &own);
}

/* One more call; the state and the reply after it are kept. */
static int call_again(struct probe *p, const struct probe_call *call, struct error *err)
{
	struct session *s = &p->sessions[0];
	struct probe_reply reply;

	if (session_step(&p->pool, s, call->name, call->arguments, &reply, err) ||
	    probe_read(p, s, &s->later, &p->later, err)) {
		return -1;
	}
	p->again_count++;
	p->again = probe_keep(p, &s->observation);
	return 0;
}

/* Do state or reply show that the first session is not as it was at its start? */
static bool has_left_start(const struct probe *p, const struct probe_call *call)
{
	/* a shared state shows in no other session if it is read from a session's own replies */
	return p->start.p && p->later.p && p->state_kind != STATE_OBSERVATION
	               ? probe_compare(p, &p->states, p->start, p->later) == MEMBER_EFFECT
	               : p->again_count && probe_compare(p, &p->replies, call->observation,
	                                                 p->again) == MEMBER_EFFECT;
}

/* If the calls of the first session led back to its first state, or that is unknown, it makes more:
   the others could not see that they share a state which is as before. */
static int leave_start(struct probe *p, struct error *err)
{
	const struct probe_call *call = probe_call_for_others(p);
	struct session *s = &p->sessions[0];

	if (probe_read(p, s, &s->later, &p->later, err))
		return -1;
	while (call && p->again_count < AGAIN_MAX && session_is_open(s) && !s->last.over &&
	       !has_left_start(p, call)) {
		if (call_again(p, call, err))
			return -1;
	}
	return 0;
}

/* Does the member change without a call? Then its change proves nothing. */
static int check_drift(struct probe *p, struct session *s, struct neighbor *v,
                       const struct member *moved, struct error *err)
{
	struct snapshot now = {.json = BUF(BUF_MAX_MESSAGE)};
	const struct member *own = NULL;
	int failed = io_wait(p->conf->io, NULL, TICK_MS, err) ||
	             session_read_state(&p->pool, s, &now, err);

	if (!failed && now.known &&
	    explain_difference(&p->states, &p->explaining, STR_NONE, v->later, buf_view(&now.json),
	                       &own) == MEMBER_EFFECT &&
	    own == moved) {
		p->state_drifts = true;
		v->moved[0] = '\0';
	}
	buf_release(&now.json);
	return failed ? -1 : 0;
}

/* Did a member change that the first session's calls change by an effect? */
static int look_for_moves(struct probe *p, struct session *s, struct neighbor *v, struct error *err)
{
	const struct member *own = NULL;

	if (!v->start.p || !v->later.p || session_facts(s)->state_kind == STATE_OBSERVATION ||
	    explain_difference(&p->states, &p->explaining, STR_NONE, v->start, v->later, &own) !=
	            MEMBER_EFFECT ||
	    !own || own->trials == 0) {
		return 0;
	}
	text_copy(v->moved, sizeof(v->moved), own->pointer.n ? own->pointer : STR("the state"));
	return check_drift(p, s, v, own, err);
}

static int visit(struct probe *p, size_t i, struct error *err)
{
	struct session *s = &p->sessions[i];
	struct neighbor *v = &p->neighbors[i];
	const struct probe_call *a = probe_call_for_others(p);

	if (probe_read(p, s, &s->later, &v->later, err) || look_for_moves(p, s, v, err))
		return -1;
	if (!a || !session_is_open(s))
		return 0;
	v->called = true;
	if (session_step(&p->pool, s, a->name, a->arguments, &v->reply, err))
		return -1;
	v->observation = probe_keep(p, &s->observation);
	note_refusal(p, i + 1, &v->reply);
	return 0;
}

/* The first session is read twice: what differs changes without a call. */
static int read_initial_states(struct probe *p, struct error *err)
{
	struct session *first = &p->sessions[0];
	struct str again;

	for (size_t i = 0; i < p->opened; i++) {
		struct session *s = &p->sessions[i];
		struct neighbor *v = &p->neighbors[i];

		v->begin = probe_keep(p, &s->observation);
		v->same_id = s->ids[1][0] && !strcmp(s->ids[1], first->ids[1]);
		if (probe_read(p, s, &s->start, &v->start, err))
			return -1;
	}
	if (probe_read(p, first, &first->later, &again, err))
		return -1;
	p->begin = p->neighbors[0].begin;
	p->start = p->neighbors[0].start;
	if (session_is_open(first))
		p->state_ignore = arena_str(&p->arena, session_facts(first)->state_ignore);
	memcpy(p->env_id, first->ids[1], sizeof(p->env_id));
	series_ignore(&p->states, p->state_ignore, STR_NONE);
	series_start(&p->states, p->start);
	series_control(&p->states, again, false);
	p->state_drifts = first->start.known && first->later.known &&
	                  strcmp(first->start.hash, first->later.hash) != 0;
	return 0;
}

static int visit_others(struct probe *p, struct error *err)
{
	for (size_t i = 1; i < p->opened; i++)
		if (session_is_open(&p->sessions[i]) && visit(p, i, err))
			return -1;
	return 0;
}

/* An episode that is over takes no further call: of three sessions, the second shows what a second
   call is answered, which the third did not get as its first. */
static int call_second_again(struct probe *p, struct error *err)
{
	const struct probe_call *call = probe_call_for_others(p);
	struct session *s = &p->sessions[1];
	struct probe_reply reply;

	if (p->opened < 3 || p->again_count || !call || !p->neighbors[1].called ||
	    !session_is_open(s) || s->last.over) {
		return 0;
	}
	if (session_step(&p->pool, s, call->name, call->arguments, &reply, err))
		return -1;
	p->again = probe_keep(p, &s->observation);
	return 0;
}

int probe_act(struct probe *p, struct error *err)
{
	p->named = user_has_calls(p);
	p->not_called = p->opened ? NULL : "no session was opened";
	if (!p->opened)
		return 0;
	if (read_initial_states(p, err) || call_first_session(p, err))
		return -1;
	p->lost = p->sessions[0].status == SESSION_LOST;
	p->last = p->sessions[0].last;
	if (p->opened > 1 &&
	    (leave_start(p, err) || visit_others(p, err) || call_second_again(p, err))) {
		return -1;
	}
	p->seen = p->sessions[0].seen;
	return 0;
}

/* ---- sessions one after the other ---- */

/* A slot is not free while a step still runs, so waits longer than the slowest step. */
uint64_t probe_settle_deadline(const struct probe *p)
{
	uint64_t slowest = timings_longest_ms(&p->pool.step);
	uint64_t ms = p->conf->settle_ms + 2 * slowest;

	return io_now_ns(p->conf->io) + ms * 1000000;
}

int probe_fresh(struct probe *p, struct property *out, struct error *err)
{
	if (session_open_when_free(&p->pool, &p->sessions[0], &p->seed, probe_settle_deadline(p),
	                           err)) {
		return -1;
	}
	if (!session_is_open(&p->sessions[0])) {
		property_say(out, PROPERTY_UNKNOWN, "not tested", "no session could be opened",
		             NULL);
		property_quote(out, &p->sessions[0].last);
	}
	return 0;
}

bool probe_alike(const struct probe *p, const struct series *s, struct str a, struct str b)
{
	return a.n && b.n && probe_compare(p, s, a, b) < MEMBER_COUNT;
}
