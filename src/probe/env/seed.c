/* A seed reproduces the episode: the same seed twice, another seed, and the first again while
   another session makes calls, each in its own session. */
#include "base/hash.h"
#include "evidence/trace.h"
#include "probe/probe_internal.h"

#include <inttypes.h>

/* What one episode showed. */
struct episode {
	bool got; /* a session could be opened */
	struct probe_reply why;
	struct trace trace;
	struct buf start; /* the initial state, to report where two differ */
};

static void note(struct episode *t, const struct snapshot *m, const struct probe_reply *a)
{
	const char *hash = m->known ? m->hash : a->has_observation ? a->observation : "";

	if (hash[0])
		trace_add_hash(&t->trace, fingerprint(str_from(hash)));
}

static int call_other_session(struct probe *p, struct session *neighbor, size_t i,
                              struct error *err)
{
	struct probe_reply ignored;
	const struct probe_call *act = p->good_count ? probe_good(p, i % p->good_count) : NULL;

	return neighbor && act && session_is_open(neighbor)
	               ? session_step(&p->pool, neighbor, act->name, act->arguments, &ignored, err)
	               : 0;
}

static int play(struct probe *p, struct session *s, struct session *neighbor, struct episode *t,
                struct error *err)
{
	struct probe_reply a;

	for (size_t i = 0; i < p->good_count && session_is_open(s); i++) {
		const struct probe_call *act = probe_good(p, i);

		if (call_other_session(p, neighbor, i, err) ||
		    session_step(&p->pool, s, act->name, act->arguments, &a, err) ||
		    session_read_state(&p->pool, s, &s->later, err)) {
			return -1;
		}
		trace_call(&t->trace, i + 1);
		note(t, &s->later, &a);
		if (a.over)
			break;
	}
	return 0;
}

static int record(struct probe *p, int64_t seed, struct session *neighbor, struct episode *t,
                  struct error *err)
{
	struct session *s = &p->sessions[0];

	*t = (struct episode){.start = BUF(BUF_MAX_SMALL)};
	if (session_open_when_free(&p->pool, s, &seed, probe_settle_deadline(p), err))
		return -1;
	t->got = session_is_open(s);
	t->why = s->last;
	if (!t->got)
		return 0;
	if (session_read_state(&p->pool, s, &s->start, err))
		return -1;
	note(t, &s->start, &t->why);
	buf_str(&t->start, buf_view(&s->start.json));
	int failed = play(p, s, neighbor, t, err);
	session_close(s);
	return failed;
}

static enum trace_similarity compare_episodes(const struct episode *a, const struct episode *b)
{
	size_t calls;

	return trace_compare(&a->trace, &b->trace, &calls);
}

/* Reports the first member in which the initial states differ. */
static void report_difference(const struct episode *a, const struct episode *b,
                              struct property *out)
{
	struct str one = buf_view(&a->start), two = buf_view(&b->start);
	struct json_member m;
	size_t cursor = 0;

	while (json_type(one) == JSON_OBJECT && json_type(two) == JSON_OBJECT &&
	       json_next_member(one, &cursor, &m)) {
		if (!str_is(m.key, "episode_id") && !str_eq(m.value, json_get(two, m.key))) {
			property_evidence(out, "they differ at /%.*s", STR_ARG(m.key));
			return;
		}
	}
}

static int64_t other_seed(const struct probe *p, int64_t step)
{
	return p->seed > INT64_MAX - step ? p->seed - step : p->seed + step;
}

struct traces {
	struct episode first, again, other, busy;
};

/* A counter of the server, which no seed resets, is no randomness. */
static bool differ_in_counts(const struct probe *p, const struct episode *a,
                             const struct episode *b)
{
	return a->start.n && b->start.n &&
	       probe_compare(p, &p->states, buf_view(&a->start), buf_view(&b->start)) ==
	               MEMBER_COUNT;
}

static bool judge_alone(struct probe *p, const struct traces *t, struct property *out)
{
	bool counts;

	switch (compare_episodes(&t->first, &t->again)) {
	case TRACE_EQUAL:
		return false;
	case TRACE_DIFFERENT_START:
		counts = differ_in_counts(p, &t->first, &t->again);
		p->seed_varies = !counts;
		property_judge(out, counts ? PROPERTY_UNKNOWN : PROPERTY_FAIL,
		               counts ? "inconclusive" : "not reproducible");
		property_evidence(out, "seed %" PRId64 " gave two different initial states%s",
		                  p->seed, counts ? ", by a count of calls" : "");
		report_difference(&t->first, &t->again, out);
		if (!counts) {
			property_fix(out, "make reset(seed=..) seed every random generator the "
			                  "episode uses; if the state contains a clock or an "
			                  "id, ignore it with \1ignore\2 POINTER");
		}
		break;
	case TRACE_DIFFERENT_STEPS:
		p->seed_varies = true;
		property_judge(out, PROPERTY_UNKNOWN, "initial state only");
		property_evidence(out,
		                  "seed %" PRId64
		                  " gave the same initial state twice, but the same calls then led "
		                  "to different states: the seed does not control all randomness",
		                  p->seed);
		break;
	}
	return true;
}

static void judge_other(struct probe *p, const struct traces *t, struct property *out)
{
	if (compare_episodes(&t->first, &t->other) == TRACE_EQUAL) {
		property_judge(out, PROPERTY_UNKNOWN, "inconclusive");
		property_evidence(
			out,
			"seeds %" PRId64 " and %" PRId64
			" gave the same episode (nothing is random, or seeds are ignored)",
			p->seed, other_seed(p, 1));
		return;
	}
	property_judge(out, PROPERTY_OK, "reproducible");
	property_evidence(out,
	                  "seed %" PRId64 " repeats its episode, and seed %" PRId64
	                  " gives a different one",
	                  p->seed, other_seed(p, 1));
	if (t->busy.got)
		property_evidence(out, "steps in another session do not affect it");
}

static int examine_busy(struct probe *p, struct traces *t, struct error *err)
{
	struct session *neighbor = p->conf->sessions > 1 ? &p->sessions[1] : NULL;
	int64_t elsewhere = other_seed(p, 2);

	if (!neighbor || p->got_env < 2 || p->shared || !p->good_count)
		return 0;
	if (session_open_when_free(&p->pool, neighbor, &elsewhere, probe_settle_deadline(p), err) ||
	    record(p, p->seed, neighbor, &t->busy, err)) {
		return -1;
	}
	session_close(neighbor);
	return 0;
}

static int judge(struct probe *p, struct traces *t, struct property *out, struct error *err)
{
	if (judge_alone(p, t, out))
		return 0;
	if (examine_busy(p, t, err))
		return -1;
	if (t->busy.got && compare_episodes(&t->first, &t->busy) != TRACE_EQUAL) {
		p->seed_varies = true;
		property_judge(out, PROPERTY_FAIL, "only without other sessions");
		property_evidence(out,
		                  "seed %" PRId64
		                  " repeats its episode alone, but not while another session calls",
		                  p->seed);
		property_fix(out, "give each environment its own random generator instead of "
		                  "a module-level one");
		return 0;
	}
	judge_other(p, t, out);
	return 0;
}

static int try_seeds(struct probe *p, struct traces *t, struct property *out, struct error *err)
{
	if (record(p, p->seed, NULL, &t->first, err) || record(p, p->seed, NULL, &t->again, err) ||
	    record(p, other_seed(p, 1), NULL, &t->other, err)) {
		return -1;
	}
	const struct episode *missing = !t->first.got   ? &t->first
	                                : !t->again.got ? &t->again
	                                : !t->other.got ? &t->other
	                                                : NULL;
	if (missing) {
		property_say(out, PROPERTY_UNKNOWN, "not tested", "no session could be opened",
		             NULL);
		property_quote(out, &missing->why);
		return 0;
	}
	if (!t->first.trace.point[0].seen && t->first.trace.calls == 0) {
		return property_say(out, PROPERTY_UNKNOWN, "inconclusive",
		                    "there is no state to compare", NULL);
	}
	return judge(p, t, out, err);
}

int property_seed(struct probe *p, struct property *out, struct error *err)
{
	struct traces t = {.first.got = false};

	if (probe_lacks_sessions(p, out))
		return 0;
	if (!p->traits.takes_seed) {
		return property_say(out, PROPERTY_SKIPPED, "not supported",
		                    "the server does not accept a seed", NULL);
	}
	if (p->state_drifts || p->loses_state) {
		return property_say(out, PROPERTY_UNKNOWN, "inconclusive",
		                    p->state_drifts
		                            ? "the state changes without a call"
		                            : "not every call reaches the seeded environment",
		                    NULL);
	}
	int failed = try_seeds(p, &t, out, err);
	struct episode *all[] = {&t.first, &t.again, &t.other, &t.busy};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		buf_release(&all[i]->start);
	return failed;
}
