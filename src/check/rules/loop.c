/* Rule loop: one to three calls are repeated with the same replies. */
#include "base/hash.h"
#include "check/rule.h"
#include "evidence/call.h"

#define PERIODS           3 /* maximum length of a cycle */
#define ROUNDS            3
#define ROUNDS_REPEATABLE 10 /* for read-only and idempotent calls */

#define SAMPLE ((size_t)64) /* bytes of a long value used for the quick hash */

/* A step: hashes of its call, state and result. The quick hash covers samples; equal steps are
   compared by the full hash from the second round on. */
struct loop_step {
	uint64_t quick_hash, full; /* full 0: not computed yet */
	int64_t turn, step;
};

/* One to PERIODS calls in turn, again and again. */
struct cycle {
	struct span span;    /* from the first step of the first round on */
	int64_t equal_steps; /* steps that equal the step one period before */
	int period;          /* calls in a round */
};

struct loop {
	struct loop_step last[PERIODS]; /* consecutive steps, last step first */
	int known_steps;                /* in `last` */
	struct cycle current[PERIODS];  /* by period - 1 */
	int64_t repeatable;             /* consecutive steps whose calls may be repeated */
	int64_t failed;                 /* consecutive failed steps */
	struct cycle longest;
	char tool[64];       /* its last call */
	bool learned;        /* that tool is read-only according to the baseline */
	int64_t other_loops; /* of this rollout */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0xff51afd7ed558ccdu;
	return a ^ a >> 29;
}

static uint64_t sample(struct str s)
{
	if (s.n <= 3 * SAMPLE)
		return fingerprint(s);
	uint64_t h = mix(s.n, fingerprint((struct str){s.p, SAMPLE}));
	h = mix(h, fingerprint((struct str){s.p + s.n / 2, SAMPLE}));
	return mix(h, fingerprint((struct str){s.p + s.n - SAMPLE, SAMPLE}));
}

static uint64_t quick_hash_start(struct str s)
{
	uint64_t h = 0;

	memcpy(&h, s.p, s.n < sizeof(h) ? s.n : sizeof(h));
	return h;
}

/* If the state is known, it shows progress, and numbers and ids in the reply may differ;
   otherwise the replies must be equal. */
static uint64_t quick_hash(const struct derived_line *m)
{
	struct str hash = line_state_hash(m->line);

	return mix(m->call,
	           hash.n ? quick_hash_start(hash) : sample(m->line->value[KEY_OBSERVATION]));
}

static uint64_t full_hash(const struct rollout_facts *r, const struct derived_line *m)
{
	struct str answer = m->line->value[KEY_OBSERVATION];
	struct str hash = line_state_hash(m->line);
	uint64_t h = call_hash(r->work, m);

	if (hash.n)
		return mix(mix(h, fingerprint(hash)), peer_masked(r->work, answer)) | 1;
	return mix(h, fingerprint(answer)) | 1;
}

static bool is_same(const struct loop_step *a, const struct loop_step *b)
{
	return a->quick_hash == b->quick_hash && (!a->full || !b->full || a->full == b->full);
}

/* A single repeated call is a loop of period 1, not 2 or 3. */
static bool is_uniform(const struct loop *s, int period)
{
	return period > 1 && s->current[0].equal_steps >= period - 1;
}

static bool is_loop(const struct loop *s, const struct cycle *c)
{
	int64_t rounds = s->repeatable >= c->period ? ROUNDS_REPEATABLE : ROUNDS;

	if (c->equal_steps < (rounds - 1) * c->period || is_uniform(s, c->period))
		return false;
	return c->period > 1 || s->failed == 0; /* otherwise it is retry-same-error */
}

/* Adds the step to the cycle of that period, or begins a new one. */
static struct cycle *extend_cycle(struct loop *s, const struct loop_step *now, int period)
{
	struct cycle *c = &s->current[period - 1];
	const struct loop_step *before = &s->last[period - 1];

	if (s->known_steps < period || !is_same(now, before)) {
		*c = (struct cycle){.period = period};
		return c;
	}
	c->period = period;
	if (c->equal_steps++ == 0)
		span_add(&c->span, before->turn, before->step);
	span_add(&c->span, now->turn, now->step);
	return c;
}

static void keep_longest(struct loop *s, const struct rollout_facts *r,
                         const struct derived_line *m, const struct cycle *c)
{
	if (!is_loop(s, c) || c->equal_steps < s->longest.equal_steps)
		return;
	if (s->longest.equal_steps && s->longest.span.first_step != c->span.first_step)
		s->other_loops++;
	s->longest = *c;
	peer_tool(r->work, m, s->tool, sizeof(s->tool));
	s->learned = m->tool >= 0 && r->tools[m->tool].learned;
}

static bool is_repeatable(const struct rollout_facts *r, const struct derived_line *m)
{
	return m->idle || (m->tool >= 0 && r->tools[m->tool].idempotent);
}

/* Steps that failed as expected are not passed to the rule, but end every cycle. */
static void forget_unless_consecutive(struct loop *s, int64_t step)
{
	if (s->known_steps && step != s->last[0].step + 1) {
		s->known_steps = 0;
		s->repeatable = s->failed = 0;
		memset(s->current, 0, sizeof(s->current));
	}
}

/* Most steps equal none of the last ones: only the others are hashed in full. */
static bool may_equal_last(const struct loop *s, uint64_t quick)
{
	for (int i = 0; i < s->known_steps; i++)
		if (s->last[i].quick_hash == quick)
			return true;
	return false;
}

static bool in_cycle(const struct loop *s)
{
	for (int i = 0; i < PERIODS; i++)
		if (s->current[i].equal_steps)
			return true;
	return false;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct loop *s = state;

	if (m->outside_episode || r->policy == POLICY_RANDOM)
		return;
	forget_unless_consecutive(s, m->line->step);
	struct loop_step now = {quick_hash(m), 0, m->line->turn, m->line->step};
	bool again = may_equal_last(s, now.quick_hash);
	if (again)
		now.full = full_hash(r, m);
	s->repeatable = is_repeatable(r, m) ? s->repeatable + 1 : 0;
	s->failed = m->failed ? s->failed + 1 : 0;
	if (again || in_cycle(s))
		for (int period = 1; period <= PERIODS; period++)
			keep_longest(s, r, m, extend_cycle(s, &now, period));
	memmove(&s->last[1], &s->last[0], (PERIODS - 1) * sizeof(s->last[0]));
	s->last[0] = now;
	s->known_steps += s->known_steps < PERIODS;
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct loop *s = state;
	const struct cycle *c = &s->longest;
	char calls[40] = "one call", more[48] = "";

	if (c->equal_steps == 0)
		return;
	if (c->period > 1)
		snprintf(calls, sizeof(calls), "a sequence of %d calls", c->period);
	if (s->other_loops) {
		snprintf(more, sizeof(more), "; and %" PRId64 " shorter loop%s", s->other_loops,
		         plural(s->other_loops));
	}
	finding_add(out, SEVERITY_WARNING, &c->span, "/tool_call",
	            "%s (%s%s) was made %" PRId64
	            " times in a row, with the same repl%s each time%s",
	            calls, s->tool, s->learned ? ", read-only in the baseline" : "",
	            c->equal_steps / c->period + 1, c->period == 1 ? "y" : "ies", more);
}

const struct check check_loop = {
	.id = "loop",
	.title = "the same few calls were repeated with the same replies",
	.severity = SEVERITY_WARNING,
	.why = "A cycle of one to three calls was repeated for three rounds or more with the "
	       "same arguments, from the same state, and got the same replies (numbers and ids "
	       "are compared only if the state is unknown). Calls of read-only or idempotent "
	       "tools may be polling and are reported from ten rounds on; one failing call is "
	       "retry-same-error.\n"
	       "Look at the messages of these turns: is the reply in the prompt, and does it "
	       "contain anything new? If a script made the calls, correct it.\n"
	       "Fix: end rollouts that loop, tell the model what it has tried, mark read-only "
	       "tools with readOnlyHint or \1read_only\2 (or learn them: \1baseline\2), and "
	       "calls meant to do nothing with \1noop\2.",
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct loop),
	.line = line,
	.end = end,
};
