/* Rule frozen-state: nothing fails and nothing moves, from the start or from some turn
   on, or the environment starts over at each step. */
#include "check/peer.h"

#include <inttypes.h>
#include <stdio.h>

/* Different calls remembered; with more of them the rule does not speak. */
#define CALLS_MAX 64

/* One call that was made, and what it got the first time. */
struct answer {
	uint64_t call, answer;
	bool repeated;
};

/* For steps whose state is unknown: do repeats get the first answer again? */
struct answers {
	struct answer list[CALLS_MAX];
	size_t count;
	bool too_many;
	int64_t calls, repeats, same;
};

/* Calls at the end that an environment which counts did not count any more. */
struct stop {
	struct span vain; /* answered ok, not counted, state unchanged */
	uint64_t tools;   /* those with a counted call, by their index */
	int64_t counted;  /* calls before them */
	bool stood;       /* the last call was one of these tools, and was not counted */
	bool choosy;      /* a call after an uncounted one was counted */
};

#define STOP_MIN 3

struct frozen {
	struct stop stop;
	struct span calls; /* answered ok, of tools not known to be read-only */
	int64_t learned;   /* not among them: of tools that only read in the baseline */
	int64_t unchanged; /* those after which the state is known to be the same */
	int64_t counted, first_count,
		last_count; /* the environment's own count of steps */
	bool count_moved;
	struct answers
		*answers; /* in the rollout's arena; NULL while the state is known */
};

static void note_answer(struct answers *a, uint64_t call, uint64_t answer)
{
	size_t i = 0;
	a->calls++;
	while (i < a->count && a->list[i].call != call)
		i++;
	if (i < a->count) {
		a->list[i].repeated = true;
		a->repeats++;
		a->same += a->list[i].answer == answer;
	} else if (i < CALLS_MAX) {
		a->list[a->count++] = (struct answer){call, answer, false};
	} else {
		a->too_many = true;
	}
}

/* With more tools than bits the rule is silent about the last ones. */
static uint64_t tool_bit(int tool)
{
	return tool >= 0 && tool < 64 ? (uint64_t)1 << tool : 0;
}

/* Before the count of this step is the last one. */
static void note_stop(struct frozen *s, const struct moment *m)
{
	struct stop *t = &s->stop;
	int64_t before = s->counted ? s->last_count : 0;

	if (m->env_steps > before) {
		t->choosy = t->choosy || t->vain.count > 0;
		t->vain = (struct span){.count = 0};
		t->tools |= tool_bit(m->tool);
		t->counted++;
	}
	t->stood = !m->idle && m->env_steps > 0 && m->env_steps == before &&
	           (t->tools & tool_bit(m->tool));
}

static void note_effect(struct stop *t, const struct past_step *p)
{
	if (p->effect == EFFECT_CHANGED)
		t->vain = (struct span){.count = 0};
	else if (p->effect == EFFECT_UNCHANGED && t->stood && !p->failed && !p->expected)
		span_add(&t->vain, p->turn, p->step);
	t->stood = false;
}

static void note_count(struct frozen *s, int64_t env_steps)
{
	if (env_steps < 0)
		return;
	if (s->counted++ == 0)
		s->first_count = env_steps;
	s->last_count = env_steps;
	s->count_moved = s->count_moved || env_steps != s->first_count;
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)out;
	struct frozen *s = state;
	if (m->after_terminal)
		return;
	note_stop(s, m);
	note_count(s, m->env_steps);
	if (m->idle) {
		s->learned += m->tool >= 0 && r->tools[m->tool].learned;
		return;
	}
	span_add(&s->calls, m->line->turn, m->line->step);
	/* with the observation as state an environment that starts over seems to move */
	bool judged =
		line_has(m->line, KEY_STATE_HASH) && r->source != SOURCE_OBSERVATION;
	if (judged || (s->answers && s->answers->too_many))
		return;
	if (!s->answers)
		s->answers = arena_new(r->arena, sizeof(*s->answers));
	note_answer(s->answers, peer_call(r->work, m),
	            peer_fingerprint(m->line->value[KEY_OBSERVATION]));
}

static void past(void *state, const struct rollout_facts *r, const struct past_step *p,
                 struct findings *out)
{
	(void)r, (void)out;
	struct frozen *s = state;
	note_effect(&s->stop, p);
	if (p->effect == EFFECT_UNCHANGED && !p->failed && !p->expected &&
	    !p->after_terminal && !p->idle)
		s->unchanged++;
}

/* Every call was repeated, two of them got different answers, and most repeats
   the first one again. */
static bool starts_over(const struct answers *a)
{
	bool differ = false;
	if (!a || a->too_many || a->calls < 4 || a->count < 2 ||
	    2 * a->same <= a->repeats)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!a->list[i].repeated)
			return false;
		differ = differ || a->list[i].answer != a->list[0].answer;
	}
	return differ;
}

static bool say_stop(const struct frozen *s, struct findings *out)
{
	const struct stop *t = &s->stop;

	if (t->vain.count < STOP_MIN || t->choosy)
		return false;
	finding_say(out, SEVERITY_WARNING, &t->vain, "/env_steps",
	            "the last %" PRId64 " calls succeeded, and changed nothing; the "
	            "environment counted the %" PRId64
	            " before them, and its step count stands still at %" PRId64 " since",
	            t->vain.count, t->counted, s->last_count);
	return true;
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct frozen *s = state;
	const struct episode *e = &r->episode;
	bool still = s->counted >= 2 && !s->count_moved;
	enum severity severity = still ? SEVERITY_ERROR : SEVERITY_WARNING;
	char count[96] = "", apart[96] = "";
	if (still)
		snprintf(count, sizeof(count),
		         "; its own step count stands still at %" PRId64, s->last_count);
	else if (s->counted >= 2)
		snprintf(count, sizeof(count),
		         "; its own step count went from %" PRId64 " to %" PRId64,
		         s->first_count, s->last_count);
	if (s->learned)
		snprintf(apart, sizeof(apart),
		         "; not counting %" PRId64
		         " of tools that only read, as the baseline shows",
		         s->learned);
	bool moved = e->changed > 0 || e->state_varied;
	if (moved && say_stop(s, out))
		return;
	if (moved && r->source != SOURCE_OBSERVATION)
		return;
	if (!moved && e->failed == 0 && s->unchanged >= 3)
		finding_say(out, severity, &s->calls, "/state",
		            "%" PRId64 " calls, none failed, and the environment's state "
		            "is the same from first to last%s%s",
		            s->calls.count, count, apart);
	else if (starts_over(s->answers))
		finding_say(out, severity, &s->calls, "/observation",
		            "%s; %" PRId64 " different calls, and %" PRId64 " of %" PRId64
		            " repeats got exactly the first answer again, "
		            "as if the environment starts over at each step%s",
		            moved ? "state is the observation itself" : "state unknown",
		            (int64_t)s->answers->count, s->answers->same,
		            s->answers->repeats, count);
}

const struct check check_frozen_state = {
	.id = "frozen-state",
	.title = "no step failed, and the state never moved, or stopped moving",
	.why = "Every call was answered ok, yet the state after each is the state "
	       "before it. Or the state is not known, but repeated calls keep "
	       "getting the answer they got the first time, which is what an "
	       "environment does that is created anew for each call: the session is "
	       "lost on the way, and no error says so. When the environment's own "
	       "step count stands still too, this is an error. Or both moved, and "
	       "stopped "
	       "for good: a server that ends idle environments may go on answering in "
	       "their name.\n"
	       "Look at env_steps first: when it grows, the steps arrive and merely "
	       "have no effect (walls, waiting, tools that only read; declare those "
	       "with readOnlyHint or --read-only, or let a --baseline show them). Then "
	       "look whether the state source shows the "
	       "part that moves, and at the session ids in meta.\n"
	       "Cure: hand one session id to every call of the rollout; name a state "
	       "source that sees the effect; mark read-only tools.",
	.wants = WANT_PAST | WANT_OK,
	.state_size = sizeof(struct frozen),
	.past = past,
	.line = line,
	.end = end,
};
