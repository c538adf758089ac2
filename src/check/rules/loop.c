/* Rule loop: one to three calls are repeated with the same answers. */
#include "check/check.h"

#include "facts/fingerprint.h"
#include "facts/peer.h"

#include <inttypes.h>
#include <stdio.h>

#define PERIODS         3 /* maximum length of a cycle */
#define ROUNDS          3
#define ROUNDS_HARMLESS 10 /* for read-only and idempotent calls */

#define SAMPLE ((size_t)64) /* bytes of a long value used for the quick hash */

/* A step: hashes of its call, state and result. The quick hash covers samples; equal steps are
   compared by the full hash from the second round on. */
struct loop_step {
	uint64_t quick_hash, full; /* full 0: not computed yet */
	int64_t turn, step;
};

struct streak_of {
	struct span span; /* the first step of the first round */
	int64_t matches;  /* number of steps equal to the step one period before */
	int period;
};

struct loop {
	struct loop_step last[PERIODS]; /* last step first */
	int known;
	struct streak_of now[PERIODS]; /* by period - 1 */
	struct streak_of longest;
	char tool[64];    /* its last call */
	bool learned;     /* that tool is read-only according to the baseline */
	int64_t others;   /* further loops of this rollout */
	int64_t harmless; /* consecutive steps whose calls may be repeated */
	int64_t failed;   /* consecutive failed steps */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0xff51afd7ed558ccdu;
	return a ^ a >> 29;
}

static uint64_t sample(struct str s)
{
	if (s.n <= 3 * SAMPLE) {
		return fingerprint(s);
	}
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

/* If the state is known, it shows progress, and numbers and ids in the answer may differ;
   otherwise the answers must be equal. */
static uint64_t quick_hash(const struct derived_line *m)
{
	struct str hash = line_state_hash(m->line);
	uint64_t tool = m->tool >= 0 ? (uint64_t)m->tool : sample(m->tool_name);
	uint64_t h = mix(tool, sample(m->arguments));

	if (hash.n) {
		return mix(h, quick_hash_start(hash));
	}
	return mix(h, sample(m->line->value[KEY_OBSERVATION]));
}

static uint64_t full_hash(const struct rollout_facts *r, const struct derived_line *m)
{
	struct str answer = m->line->value[KEY_OBSERVATION];
	struct str hash = line_state_hash(m->line);
	uint64_t h = peer_call(r->work, m);

	if (hash.n) {
		return mix(mix(h, fingerprint(hash)), peer_masked(r->work, answer)) | 1;
	}
	return mix(h, fingerprint(answer)) | 1;
}

static bool is_same(const struct loop_step *a, const struct loop_step *b)
{
	return a->quick_hash == b->quick_hash && (!a->full || !b->full || a->full == b->full);
}

/* A single repeated call is a loop of period 1, not 2 or 3. */
static bool is_uniform(const struct loop *s, int period)
{
	return period > 1 && s->now[0].matches >= period - 1;
}

static bool is_loop(const struct loop *s, const struct streak_of *k)
{
	int64_t rounds = s->harmless >= k->period ? ROUNDS_HARMLESS : ROUNDS;

	if (k->matches < (rounds - 1) * k->period || is_uniform(s, k->period)) {
		return false;
	}
	return k->period > 1 || s->failed == 0; /* otherwise it is retry-same-error */
}

static void update_loop(struct loop *s, const struct rollout_facts *r, const struct derived_line *m,
                        const struct loop_step *now, int period)
{
	struct streak_of *k = &s->now[period - 1];
	const struct loop_step *before = &s->last[period - 1];

	if (s->known < period || !is_same(now, before)) {
		*k = (struct streak_of){.period = period};
		return;
	}
	k->period = period;
	if (k->matches++ == 0) {
		span_add(&k->span, before->turn, before->step);
	}
	span_add(&k->span, now->turn, now->step);
	if (!is_loop(s, k) || k->matches < s->longest.matches) {
		return;
	}
	if (s->longest.matches && s->longest.span.first_step != k->span.first_step) {
		s->others++;
	}
	s->longest = *k;
	peer_name(r->work, m->tool_name, s->tool, sizeof(s->tool));
	s->learned = m->tool >= 0 && r->tools[m->tool].learned;
}

static bool may_be_repeated(const struct rollout_facts *r, const struct derived_line *m)
{
	return m->idle || (m->tool >= 0 && r->tools[m->tool].idempotent);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct loop *s = state;
	if (m->outside_episode || r->policy == POLICY_RANDOM) {
		return;
	}
	struct loop_step now = {quick_hash(m), 0, m->line->turn, m->line->step};
	bool again = false;
	for (int i = 0; i < s->known; i++) {
		again = again || s->last[i].quick_hash == now.quick_hash;
	}
	if (again) {
		now.full = full_hash(r, m);
	}
	s->harmless = may_be_repeated(r, m) ? s->harmless + 1 : 0;
	s->failed = m->failed ? s->failed + 1 : 0;
	if (again || s->now[0].matches || s->now[1].matches || s->now[2].matches) {
		for (int period = 1; period <= PERIODS; period++) {
			update_loop(s, r, m, &now, period);
		}
	}
	memmove(&s->last[1], &s->last[0], (PERIODS - 1) * sizeof(s->last[0]));
	s->last[0] = now;
	s->known += s->known < PERIODS;
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)r, (void)m;
	const struct loop *s = state;
	const struct streak_of *k = &s->longest;
	char calls[40] = "one call", more[48] = "";
	if (k->matches == 0) {
		return;
	}
	if (k->period > 1) {
		snprintf(calls, sizeof(calls), "a sequence of %d calls", k->period);
	}
	if (s->others) {
		snprintf(more, sizeof(more), "; %" PRId64 " shorter loops", s->others);
	}
	finding_add(out, SEVERITY_WARNING, &k->span, "/tool_call",
	            "%s was repeated for %" PRId64 " rounds with the same answers (%s%s)%s", calls,
	            k->matches / k->period + 1, s->tool[0] ? s->tool : "a tool without a name",
	            s->learned ? ", read-only according to the baseline" : "", more);
}

const struct check check_loop = {
	.id = "loop",
	.title = "the same few calls were repeated with the same answers",
	.severity = SEVERITY_WARNING,
	.why = "One call, or a cycle of two or three, was repeated for at least three rounds "
	       "with the same arguments, from the same state, and got the same answers (if the "
	       "state is known, numbers and ids are not compared; if it is unknown, the answers "
	       "are equal byte for byte). Calls of read-only tools, or of tools with "
	       "idempotentHint, are only reported after ten rounds, because polling is not a "
	       "loop. A single failing call that is repeated is retry-same-error, and a random "
	       "policy repeats itself by chance.\n"
	       "Look at the messages of these turns: is the answer in the prompt, and does it "
	       "say anything new? If a script made the calls, correct it.\n"
	       "Fix: end rollouts that loop, tell the model what it has tried, mark read-only "
	       "tools with readOnlyHint or \1read_only\2, or detect them with a \1baseline\2, "
	       "and name calls meant to do nothing with \1noop\2.",
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct loop),
	.line = line,
	.end = end,
};
