/* The load ladder: 1, 2, 4 .. sessions at the same time, each in its thread, make the calls of the
   first session. Every reply must be the one that a session alone gets: a failure, or the reply of
   another, breaks the rung. */
#include "probe/probe_internal.h"

#include <pthread.h>
#include <stdlib.h>

#define LOAD_CALLS    8
#define LOAD_SESSIONS 64

/* All threads of a rung wait for each other twice: open together, and open until all have called. The
   lock is held until their number is known. (macOS has no pthread_barrier_t.) */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t all;
	size_t expected, arrived[2];
};

static void gate_pass(struct gate *g, int which)
{
	pthread_mutex_lock(&g->lock);
	g->arrived[which]++;
	pthread_cond_broadcast(&g->all);
	while (g->arrived[which] < g->expected)
		pthread_cond_wait(&g->all, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

/* One session in its thread. */
struct load_session {
	const struct probe *p;
	struct gate *gate;
	pthread_t thread;
	struct io *io;
	struct session_pool pool;
	struct session session;
	struct arena arena;
	struct probe_reply replies[LOAD_CALLS];
	struct str observations[LOAD_CALLS];
	size_t calls; /* sent */
	bool opened;
	struct error err; /* local failure or interrupt */
};

/* The user's calls, or of the drawn ones those that succeeded. */
static size_t calls_of(const struct probe *p)
{
	size_t count = p->named ? p->call_count : p->good_count;

	return count < LOAD_CALLS ? count : LOAD_CALLS;
}

static int make_calls(struct load_session *w)
{
	const struct probe *p = w->p;
	struct session *s = &w->session;

	while (w->calls < calls_of(p) && session_is_open(s)) {
		const struct probe_call *call =
			p->named ? &p->calls[w->calls] : probe_good(p, w->calls);

		if (session_step(&w->pool, s, call->name, call->arguments, &w->replies[w->calls],
		                 &w->err)) {
			return -1;
		}
		w->observations[w->calls] =
			s->observation.n ? arena_str(&w->arena, buf_view(&s->observation))
					 : STR_NONE;
		const struct probe_reply *r = &w->replies[w->calls++];
		if (r->over || r->layer == LAYER_TRANSPORT)
			break;
	}
	return 0;
}

static void *run_session(void *arg)
{
	struct load_session *w = arg;

	/* a slot that an earlier rung has just closed may not be free yet */
	uint64_t deadline = io_now_ns(w->io) + w->p->conf->settle_ms * 1000000;
	w->opened = !session_open_when_free(&w->pool, &w->session, NULL, deadline, &w->err) &&
	            session_is_open(&w->session);
	gate_pass(w->gate, 0);
	if (w->opened)
		(void)!make_calls(w);
	gate_pass(w->gate, 1);
	session_release(&w->session);
	return NULL;
}

/* ---- one rung ---- */

struct rung {
	struct load_session *sessions;
	size_t count;
};

static int start_one(struct probe *p, struct load_session *w, struct gate *gate, struct error *err)
{
	*w = (struct load_session){.p = p, .gate = gate, .pool = {.ops = p->conf->env_ops}};
	w->pool.conf = &p->env;
	if (p->conf->new_io(p->conf->ctx, &w->io, err))
		return -1;
	w->pool.io = w->io;
	if (session_pool_init(&w->pool, err))
		return -1;
	if (pthread_create(&w->thread, NULL, run_session, w))
		return error_set(err, FAIL_SYSTEM, "cannot start a thread");
	return 0;
}

static void rung_release(struct rung *r)
{
	for (size_t i = 0; i < r->count; i++) {
		session_pool_release(&r->sessions[i].pool);
		arena_release(&r->sessions[i].arena);
		io_free(r->sessions[i].io);
	}
	free(r->sessions);
	*r = (struct rung){.count = 0};
}

/* Call rung_release in any case. */
static int rung_run(struct probe *p, size_t count, struct rung *r, struct error *err)
{
	struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = PTHREAD_COND_INITIALIZER};
	size_t started = 0;
	int failed = 0;

	*r = (struct rung){.sessions = mem_array(count, sizeof(*r->sessions)), .count = count};
	pthread_mutex_lock(&gate.lock);
	while (started < count && !failed) {
		failed = start_one(p, &r->sessions[started], &gate, err);
		started += !failed;
	}
	gate.expected = started;
	pthread_mutex_unlock(&gate.lock);
	for (size_t i = 0; i < started; i++) {
		pthread_join(r->sessions[i].thread, NULL);
		if (!failed && r->sessions[i].err.kind != FAIL_NONE) {
			*err = r->sessions[i].err;
			failed = -1;
		}
	}
	return failed;
}

/* ---- what it showed ---- */

struct result {
	size_t opened, calls, failed, foreign;
	const struct probe_reply *why; /* the first failure */
	size_t foreign_step;           /* of the first foreign reply, from 1 */
	uint64_t median_us;
};

static uint64_t median_of(const struct rung *r)
{
	struct timings all = {.us = NULL};

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->sessions[i].pool.step.count; k++)
			timings_add(&all, r->sessions[i].pool.step.us[k]);
	if (!all.count)
		return 0;
	timings_sort(&all);
	uint64_t median = all.us[all.count / 2];
	free(all.us);
	return median;
}

/* The first reply that differs from the one that a session alone got; LOAD_CALLS: none. */
static size_t foreign_reply(const struct probe *p, const struct load_session *alone,
                            const struct load_session *w)
{
	for (size_t i = 0; i < w->calls && i < alone->calls; i++) {
		if (w->observations[i].n && alone->observations[i].n &&
		    probe_compare(p, &p->replies, alone->observations[i], w->observations[i]) ==
		            MEMBER_EFFECT) {
			return i;
		}
	}
	return LOAD_CALLS;
}

static void count_failures(const struct load_session *alone, const struct load_session *w,
                           struct result *out)
{
	for (size_t i = 0; i < w->calls; i++) {
		bool expected = i < alone->calls && alone->replies[i].outcome != OUTCOME_OK;
		bool failed = w->replies[i].outcome != OUTCOME_OK && !expected;

		out->why = failed && !out->why ? &w->replies[i] : out->why;
		out->failed += failed;
	}
	out->calls += w->calls;
}

static struct result result_of(const struct probe *p, const struct load_session *alone,
                               const struct rung *r)
{
	struct result out = {.median_us = median_of(r)};

	for (size_t i = 0; i < r->count; i++) {
		const struct load_session *w = &r->sessions[i];
		size_t differs = foreign_reply(p, alone, w);

		out.opened += w->opened;
		if (!w->opened && !out.why)
			out.why = &w->session.last;
		count_failures(alone, w, &out);
		out.foreign_step =
			differs < LOAD_CALLS && !out.foreign ? differs + 1 : out.foreign_step;
		out.foreign += differs < LOAD_CALLS;
	}
	return out;
}

/* ---- the ladder ---- */

struct ladder {
	struct rung alone;
	bool varies; /* two sessions, one after the other, got different replies */
	size_t top;  /* the last rung without a failure */
	uint64_t first_us, top_us;
};

static void judge_break(size_t n, const struct result *r, struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "breaks at %zu sessions", n);
	if (r->opened < n) {
		property_evidence(out, "%zu of %zu sessions opened", r->opened, n);
	} else if (r->failed) {
		property_evidence(out, "%zu of %zu calls failed", r->failed, r->calls);
	} else {
		property_evidence(out,
		                  "%zu of %zu sessions got replies that a session alone does not "
		                  "get, first at call %zu",
		                  r->foreign, n, r->foreign_step);
		property_fix(out, "sessions share something: give each its own environment, and "
		                  "lock or copy what a handler uses");
		return;
	}
	if (r->why)
		property_quote(out, r->why);
	property_fix(out, "see the server's log at that load; until it is repaired, run fewer "
	                  "rollouts at a time");
}

static bool breaks(const struct ladder *l, size_t n, const struct result *r)
{
	return r->opened < n || r->failed > 0 || (r->foreign > 0 && !l->varies);
}

static int differ(struct probe *p, const struct ladder *l, size_t n, bool *out, struct error *err)
{
	struct rung r;
	int failed = rung_run(p, n, &r, err);

	*out = !failed && result_of(p, &l->alone.sessions[0], &r).foreign > 0;
	rung_release(&r);
	return failed;
}

/* What is random varies in sessions at once, too: they must get other replies each time, and sessions alone
   never. */
static int doubt(struct probe *p, struct ladder *l, size_t n, struct error *err)
{
	size_t alone = n < LOAD_CALLS ? n : LOAD_CALLS;
	bool foreign = true;

	for (int round = 0; round < ROUNDS && !l->varies; round++) {
		for (size_t i = 0; i < alone && !l->varies; i++)
			if (differ(p, l, 1, &l->varies, err))
				return -1;
		if (!l->varies && differ(p, l, n, &foreign, err))
			return -1;
		l->varies = l->varies || !foreign;
	}
	return 0;
}

/* Sets *broken if the rung breaks. */
static int climb(struct probe *p, struct ladder *l, size_t n, bool *broken, struct property *out,
                 struct error *err)
{
	struct rung r;
	int failed = rung_run(p, n, &r, err);

	if (!failed) {
		struct result found = result_of(p, &l->alone.sessions[0], &r);

		*broken = breaks(l, n, &found);
		if (*broken && found.opened == n && !found.failed) {
			failed = doubt(p, l, n, err);
			*broken = breaks(l, n, &found);
		}
		if (*broken) {
			judge_break(n, &found, out);
		} else {
			l->top = n;
			l->top_us = found.median_us;
		}
	}
	rung_release(&r);
	return failed;
}

static bool any_ok(const struct load_session *w)
{
	bool ok = false;

	for (size_t i = 0; i < w->calls; i++)
		ok = ok || w->replies[i].outcome == OUTCOME_OK;
	return ok;
}

/* Two sessions, one after the other: do they get the same replies? */
static int begin(struct probe *p, struct ladder *l, struct error *err)
{
	struct rung again = {.count = 0};
	int failed = rung_run(p, 1, &l->alone, err) || rung_run(p, 1, &again, err) ? -1 : 0;

	if (!failed) {
		struct result r = result_of(p, &l->alone.sessions[0], &again);

		l->varies = r.foreign > 0 || p->seed_varies;
		l->first_us = r.median_us;
		l->top = r.opened && any_ok(&l->alone.sessions[0]);
	}
	rung_release(&again);
	return failed;
}

static int examine_rungs(struct probe *p, struct ladder *l, struct property *out, struct error *err)
{
	size_t most = p->got_env < LOAD_SESSIONS ? p->got_env : LOAD_SESSIONS;
	bool broken = false;

	if (begin(p, l, err))
		return -1;
	if (!l->top) {
		return property_say(out, PROPERTY_UNKNOWN, "not tested",
		                    "no call of a session alone succeeded", NULL);
	}
	for (size_t n = 2; l->top < most && !broken; n *= 2)
		if (climb(p, l, n < most ? n : most, &broken, out, err))
			return -1;
	if (!broken)
		property_judge(out, PROPERTY_OK, "%zu session%s at once", l->top, plural(l->top));
	property_evidence(out, "a call takes %.3g ms alone", (double)l->first_us / 1000);
	if (l->top > 1)
		property_evidence(out, "%.3g ms in %zu sessions", (double)l->top_us / 1000, l->top);
	if (l->varies) {
		property_evidence(out, "replies vary from session to session, so a mix-up would "
		                       "go unnoticed");
	}
	return 0;
}

int property_load(struct probe *p, struct property *out, struct error *err)
{
	struct ladder l = {.top = 0};

	if (probe_lacks_sessions(p, out))
		return 0;
	const char *why = !p->conf->new_io                  ? "there are no other threads"
	                  : p->shared                       ? "sessions share their environment"
	                  : p->leaks                        ? "closed sessions keep their slots"
	                  : !p->good_count && p->not_called ? p->not_called
	                  : !p->good_count                  ? "no call succeeded"
	                                                    : NULL;
	if (why)
		return property_say(out, PROPERTY_UNKNOWN, "not tested", why, NULL);
	int failed = examine_rungs(p, &l, out, err);
	rung_release(&l.alone);
	return failed;
}
