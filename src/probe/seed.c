/* A seed decides the episode: the same one twice, another one, and the first again while
   a neighbour acts in between, each in a session of its own. */
#include "probe/inside.h"

#include <inttypes.h>

/* What one episode showed: its start, and after each of the good calls. */
struct trace {
	bool got; /* there was a session for it */
	struct answer why;
	size_t count;
	char seen[GOOD_MAX + 1][HASH_HEX + 1];
	struct buf start; /* the state, for saying where two differ */
};

enum likeness { LIKE, OTHER_START, OTHER_STEPS };

static void note(struct trace *t, const struct moment *m, const struct answer *a)
{
	const char *hash = m->known ? m->whole : a->has_observation ? a->observation : "";

	memcpy(t->seen[t->count], hash, strlen(hash) + 1);
	t->count++;
}

static int disturb(struct probe *p, struct session *neighbour, size_t i,
                   struct error *err)
{
	struct answer ignored;
	const struct act *act = p->good_count ? probe_good(p, i % p->good_count) : NULL;

	return neighbour && act && session_is_open(neighbour)
	               ? session_step(&p->asking, neighbour, act->name, act->arguments,
	                              &ignored, err)
	               : 0;
}

static int play(struct probe *p, struct session *s, struct session *neighbour,
                struct trace *t, struct error *err)
{
	struct answer a;

	for (size_t i = 0; i < p->good_count && session_is_open(s); i++) {
		const struct act *act = probe_good(p, i);

		if (disturb(p, neighbour, i, err) ||
		    session_step(&p->asking, s, act->name, act->arguments, &a, err) ||
		    session_look(&p->asking, s, &s->later, err)) {
			return -1;
		}
		note(t, &s->later, &a);
		if (a.over) {
			break;
		}
	}
	return 0;
}

static int record(struct probe *p, int64_t seed, struct session *neighbour,
                  struct trace *t, struct error *err)
{
	struct session *s = &p->sessions[0];

	*t = (struct trace){.start = BUF(BUF_MAX_SMALL)};
	if (probe_reopen(p, s, &seed, probe_settle_deadline(p), err)) {
		return -1;
	}
	t->got = session_is_open(s);
	t->why = s->last;
	if (!t->got) {
		return 0;
	}
	if (session_look(&p->asking, s, &s->start, err)) {
		return -1;
	}
	note(t, &s->start, &t->why);
	buf_str(&t->start, buf_view(&s->start.json));
	int failed = play(p, s, neighbour, t, err);
	session_close(s);
	return failed;
}

static enum likeness compare(const struct trace *a, const struct trace *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count && !strcmp(a->seen[i], b->seen[i])) {
		i++;
	}
	if (i == a->count && i == b->count) {
		return LIKE;
	}
	return i == 0 ? OTHER_START : OTHER_STEPS;
}

/* The first member of the start that is not the same. */
static void say_where(const struct trace *a, const struct trace *b, struct property *out)
{
	struct str one = buf_view(&a->start), two = buf_view(&b->start);
	struct json_member m;
	size_t cursor = 0;

	while (json_type(one) == JSON_OBJECT && json_type(two) == JSON_OBJECT &&
	       json_next_member(one, &cursor, &m)) {
		if (!str_is(m.key, "episode_id") &&
		    !str_eq(m.value, json_get(two, m.key))) {
			property_saw(out, "they differ at /%.*s", STR_ARG(m.key));
			return;
		}
	}
}

/* ---- the verdict ---- */

static int64_t other_seed(const struct probe *p, int64_t step)
{
	return p->seed > INT64_MAX - step ? p->seed - step : p->seed + step;
}

struct traces {
	struct trace first, again, other, busy, zero[2];
};

static bool judge_alone(struct probe *p, const struct traces *t, struct property *out)
{
	switch (compare(&t->first, &t->again)) {
	case LIKE:
		return false;
	case OTHER_START:
		property_judge(out, PROPERTY_RED, "not honoured");
		property_saw(out, "seed %" PRId64 " led to two different starts",
		             p->seed);
		say_where(&t->first, &t->again, out);
		property_advise(out,
		                "reset(seed=..) has to seed whatever draws the "
		                "episode; if the state holds a clock or an id, leave "
		                "it out: --ignore POINTER");
		break;
	case OTHER_STEPS:
		property_judge(out, PROPERTY_UNKNOWN, "decides the start only");
		property_saw(out,
		             "seed %" PRId64 " led to the same start twice, and the same "
		             "calls to other states: chance that it does not govern",
		             p->seed);
		break;
	}
	return true;
}

static void judge_other(struct probe *p, const struct traces *t, struct property *out)
{
	bool zero = t->zero[0].got && t->zero[1].got;

	if (compare(&t->first, &t->other) == LIKE) {
		property_judge(out, PROPERTY_UNKNOWN, "makes no difference");
		property_saw(out,
		             "seeds %" PRId64 " and %" PRId64
		             " led to the same: nothing is random here, or seeds are "
		             "ignored",
		             p->seed, other_seed(p, 1));
		return;
	}
	property_judge(out, PROPERTY_OK, "honoured");
	property_saw(out,
	             "seed %" PRId64 " repeats, and seed %" PRId64 " leads elsewhere",
	             p->seed, other_seed(p, 1));
	if (t->busy.got) {
		property_saw(out, "a busy neighbour changes nothing");
	}
	if (zero && compare(&t->zero[0], &t->zero[1]) != LIKE) {
		property_saw(out, "but seed 0 is taken for none");
		property_advise(out, "begin with seed 1");
	}
}

static int examine_busy(struct probe *p, struct traces *t, struct error *err)
{
	struct session *neighbour = p->conf->sessions > 1 ? &p->sessions[1] : NULL;
	int64_t elsewhere = other_seed(p, 2);

	if (!neighbour || p->got_room < 2 || p->shared || !p->good_count) {
		return 0;
	}
	if (probe_reopen(p, neighbour, &elsewhere, probe_settle_deadline(p), err) ||
	    record(p, p->seed, neighbour, &t->busy, err)) {
		return -1;
	}
	session_close(neighbour);
	return 0;
}

static int judge(struct probe *p, struct traces *t, struct property *out,
                 struct error *err)
{
	if (judge_alone(p, t, out)) {
		return 0;
	}
	if (examine_busy(p, t, err)) {
		return -1;
	}
	if (t->busy.got && compare(&t->first, &t->busy) != LIKE) {
		property_judge(out, PROPERTY_RED, "alone only");
		property_saw(out,
		             "seed %" PRId64 " repeats alone, and leads elsewhere when "
		             "another session acts in between",
		             p->seed);
		property_advise(out, "give each environment a random generator of its "
		                     "own: a module's is shared");
		return 0;
	}
	if (compare(&t->first, &t->other) != LIKE && p->seed != 0 &&
	    (record(p, 0, NULL, &t->zero[0], err) ||
	     record(p, 0, NULL, &t->zero[1], err))) {
		return -1;
	}
	judge_other(p, t, out);
	return 0;
}

static int try_seeds(struct probe *p, struct traces *t, struct property *out,
                     struct error *err)
{
	if (record(p, p->seed, NULL, &t->first, err) ||
	    record(p, p->seed, NULL, &t->again, err) ||
	    record(p, other_seed(p, 1), NULL, &t->other, err)) {
		return -1;
	}
	const struct trace *missing = !t->first.got   ? &t->first
	                              : !t->again.got ? &t->again
	                              : !t->other.got ? &t->other
	                                              : NULL;
	if (missing) {
		property_judge(out, PROPERTY_UNKNOWN, "not tried");
		property_saw(out, "no session for it");
		property_quote(out, &missing->why);
		return 0;
	}
	if (!t->first.seen[0][0] && t->first.count < 2) {
		property_judge(out, PROPERTY_UNKNOWN, "cannot be told");
		property_saw(out, "there is no state to compare");
		return 0;
	}
	return judge(p, t, out, err);
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	struct traces t = {.first.got = false};

	if (!p->got_room) {
		property_judge(out, PROPERTY_UNKNOWN, "not tried");
		property_saw(out, "%s",
		             p->opened ? "there are no sessions to speak of"
		                       : "no session was opened");
		return 0;
	}
	if (!p->takes_seed) {
		property_judge(out, PROPERTY_SKIPPED, "no such thing");
		property_saw(out, "this server has no way to be given a seed");
		return 0;
	}
	if (p->restless || p->forgets) {
		property_judge(out, PROPERTY_UNKNOWN, "cannot be told");
		property_saw(out, p->restless ? "the state moves without any call"
		                              : "not every call reaches the "
		                                "environment that was seeded");
		return 0;
	}
	int failed = try_seeds(p, &t, out, err);
	struct trace *all[] = {&t.first, &t.again,   &t.other,
	                       &t.busy,  &t.zero[0], &t.zero[1]};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		buf_release(&all[i]->start);
	}
	return failed;
}

const struct property_ops property_seed = {examine};
