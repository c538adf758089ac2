/* Rule stopped-moving: at first the environment changed and counted steps, then it did neither; or
   calls that changed it no longer do. */
#include "check/check.h"

#include "facts/common_members.h"
#include "facts/fingerprint.h"
#include "facts/known_effects.h"
#include "facts/peer.h"

#include <inttypes.h>
#include <stdio.h>

#define CALLS_MIN     3
#define BARE_MIN      4
#define EFFECTIVE_MIN 2
#define CHANGED_MIN   3 /* steps that changed something before; fewer may be a motor that rests */
#define BARE_MAX      4096 /* bytes; longer answers are not examined */
#define LEARNED       8    /* answers from which common members are learned */
#define KINDS_MAX     32   /* different calls; with more of them the finding is at most a warning */

/* The last consecutive calls that changed nothing, and whose answers have no member in common with
   those of calls that changed something. */
struct bare_answers {
	struct span span;
	int64_t effective;     /* calls that had changed something before */
	uint64_t call, answer; /* the first ones */
	bool calls_differ, answers_differ;
};

struct count_stop {
	/* the last consecutive calls that were answered ok, not counted, and did not change the
	   state */
	struct span uncounted;
	uint64_t tools;      /* bit set of tools that had a counted call */
	int64_t counted;     /* number of calls before them */
	int64_t count;       /* the environment's last step count */
	bool known;          /* `count` is set */
	bool last_uncounted; /* the last call was one of these tools and was not counted */
	bool resumed;        /* a call after an uncounted one was counted */
	/* The different calls that were counted, and which of them were later not counted. */
	uint64_t calls[KINDS_MAX];
	size_t call_count;
	uint32_t tried, newest; /* one bit each */
	bool too_many;
	/* What calls that changed something were answered; with the newest answer added */
	struct common_members answers, with_newest;
	uint64_t call, answer; /* the newest */
	int learned;           /* number of answers added */
	bool newest_bare;      /* it has no member that `answers` have in common */
	struct bare_answers bare;
	bool bare_before; /* a call after such an answer was answered otherwise */
	struct known_effects effects;
	int64_t changed; /* steps that changed something */
	uint64_t state;  /* before the newest call; 0: unknown */
};

/* Tools beyond the number of bits are not reported. */
static uint64_t tool_bit(int tool)
{
	return tool >= 0 && tool < 64 ? (uint64_t)1 << tool : 0;
}

static uint32_t call_bit(const struct count_stop *t, uint64_t call)
{
	for (size_t i = 0; i < t->call_count; i++) {
		if (t->calls[i] == call) {
			return (uint32_t)1 << i;
		}
	}
	return 0;
}

static void forget_uncounted(struct count_stop *t)
{
	t->uncounted = (struct span){.count = 0};
	t->tried = 0;
}

static void note_counted(struct count_stop *t, const struct derived_line *m)
{
	t->resumed = t->resumed || t->uncounted.count > 0;
	forget_uncounted(t);
	t->tools |= tool_bit(m->tool);
	t->counted++;
	if (t->too_many || call_bit(t, m->call)) {
		return;
	}
	t->too_many = t->call_count == KINDS_MAX;
	if (!t->too_many) {
		t->calls[t->call_count++] = m->call;
	}
}

/* The count before this step is the previous one. */
static void note_count(struct count_stop *t, const struct derived_line *m)
{
	int64_t before = t->known ? t->count : 0;

	t->call = m->call;
	if (m->env_steps > before) {
		note_counted(t, m);
	}
	t->last_uncounted = !m->idle && m->env_steps > 0 && m->env_steps == before &&
	                    (t->tools & tool_bit(m->tool));
	t->newest = t->last_uncounted ? call_bit(t, m->call) : 0;
	t->known = t->known || m->env_steps >= 0;
	t->count = m->env_steps >= 0 ? m->env_steps : t->count;
}

/* What is judged when the effect of this step is known. */
static void note_answer(struct count_stop *t, const struct derived_line *m)
{
	struct str answer = m->line->value[KEY_OBSERVATION], hash = m->line->value[KEY_STATE_HASH];

	t->state = 0;
	if (m->idle || t->effects.count == KNOWN_EFFECTS_MAX || json_type(hash) != JSON_STRING) {
		return;
	}
	t->state = fingerprint(hash) | 1;
	t->newest_bare = answer.n <= BARE_MAX && common_members_lacks_all(&t->answers, answer);
	t->answer = t->newest_bare ? fingerprint(answer) : 0;
	t->with_newest = t->answers;
	if (t->learned < LEARNED) {
		common_members_add(&t->with_newest, answer);
	}
}

static void note_bare(struct count_stop *t, const struct completed_step *p)
{
	struct bare_answers *b = &t->bare;

	if (b->span.count == 0) {
		b->call = t->call;
		b->answer = t->answer;
	}
	span_add(&b->span, p->turn, p->step);
	b->effective += known_effects_has(&t->effects, t->call);
	b->calls_differ = b->calls_differ || t->call != b->call;
	b->answers_differ = b->answers_differ || t->answer != b->answer;
}

static void note_effect(struct count_stop *t, const struct completed_step *p)
{
	bool changed = p->effect == EFFECT_CHANGED;

	if (!changed && t->newest_bare) {
		note_bare(t, p);
	} else {
		t->bare_before = t->bare_before || t->bare.span.count > 0;
		t->bare = (struct bare_answers){.span = {.count = 0}};
	}
	t->changed += changed;
	if (changed && !t->newest_bare) {
		t->answers = t->with_newest;
		t->learned++;
	}
	known_effects_add(&t->effects, t->state, t->call, changed, p->turn, p->step);
}

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	(void)r, (void)out;
	struct count_stop *t = state;
	if (t->state && p->effect != EFFECT_UNKNOWN && !p->failed && !p->expected) {
		note_effect(t, p);
	}
	t->state = 0;
	if (p->effect == EFFECT_CHANGED) {
		forget_uncounted(t);
	} else if (p->effect == EFFECT_UNCHANGED && t->last_uncounted && !p->failed &&
	           !p->expected) {
		span_add(&t->uncounted, p->turn, p->step);
		t->tried |= t->newest;
	}
	t->last_uncounted = false;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)r, (void)out;
	if (!m->outside_episode) {
		note_count(state, m);
		note_answer(state, m);
	}
}

/* At least two different calls were counted earlier and none is counted any more: a wall would
   not block all of them. */
static bool is_certain(const struct count_stop *t)
{
	uint32_t all = t->call_count < 32 ? ((uint32_t)1 << t->call_count) - 1 : UINT32_MAX;

	return !t->too_many && t->call_count >= 2 && t->tried == all;
}

/* Different calls are answered without a member that effective calls were answered with: by
   something other than the environment. Two of them had been effective, or the environment does
   not count them and all get the same answer: they are not calls that merely tell something. */
static bool is_answered_by_other(const struct count_stop *t)
{
	const struct bare_answers *b = &t->bare;
	bool uncounted = t->uncounted.count >= b->span.count && !t->resumed;

	return b->span.count >= BARE_MIN && b->calls_differ && !t->bare_before &&
	       (b->effective >= EFFECTIVE_MIN ||
	        (uncounted && (b->effective > 0 || !b->answers_differ)));
}

static void report_other(const struct count_stop *t, struct findings *out)
{
	finding_add(out, SEVERITY_ERROR, &t->bare.span, "/observation",
	            "the last %" PRId64 " calls succeeded but changed nothing, and their answers "
	            "have no member in common with those of calls that changed something",
	            t->bare.span.count);
}

static void report_known(const struct count_stop *t, struct findings *out)
{
	finding_add(out, SEVERITY_ERROR, &t->effects.still, "/state",
	            "the last %" PRId64 " calls succeeded but changed nothing; %" PRId64
	            " of them had changed this very state before",
	            t->effects.still.count, t->effects.contradicted);
}

static void report_count(const struct count_stop *t, bool certain, const char *calls,
                         struct findings *out)
{
	finding_add(out, certain ? SEVERITY_ERROR : SEVERITY_WARNING, &t->uncounted, "/env_steps",
	            "the last %" PRId64 " calls succeeded but changed nothing; the environment "
	            "counted the %" PRId64
	            " calls before them%s, and its step count has stayed at %" PRId64,
	            t->uncounted.count, t->counted, calls, t->count);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct count_stop *t = state;
	bool certain = is_certain(t);
	bool rewarded = r->reward_known && r->reward_sum > 0;
	char calls[64] = "";

	if (r->movement != MOVEMENT_SEEN) {
		return;
	}
	if (!certain && !rewarded && is_answered_by_other(t)) {
		report_other(t, out);
	} else if (!certain && !rewarded && t->changed >= CHANGED_MIN &&
	           known_effects_ended(&t->effects)) {
		report_known(t, out);
	} else if (t->uncounted.count >= CALLS_MIN && !t->resumed) {
		if (certain) {
			snprintf(calls, sizeof(calls), ", all %zu different ones among them",
			         t->call_count);
		}
		report_count(t, certain, calls, out);
	}
}

const struct check check_stopped_moving = {
	.id = "stopped-moving",
	.title = "at first the environment changed and counted steps, then it did neither",
	.severity = SEVERITY_WARNING,
	.raised = "every call that had been counted, at least two different ones, was repeated "
		  "without effect; or no reward above zero was earned, and the last four or more "
		  "answers have no member in common with those before, or two of these calls had "
		  "changed the same state before",
	.explains = {&check_loop},
	.why = "Calls were answered ok to the end, but from some turn on they no longer changed "
	       "anything. Any of these is evidence:\n"
	       "- neither the state nor the environment's own step count changed any more, "
	       "although both had;\n"
	       "- the last four or more answers have no member in common with those of calls "
	       "that changed something, no earlier answer was like them, and two of these calls "
	       "had changed something before (if the environment does not count them, one such "
	       "call, or equal answers, are enough): something else answers instead of the "
	       "environment;\n"
	       "- the last four or more calls changed nothing, three had changed something, and two "
	       "of the last had changed exactly this state before. That is no evidence if some "
	       "call changed a state that it had left unchanged before.\n"
	       "A server that closes idle environments may keep answering for them; a proxy may "
	       "answer from a cache; the environment may have ended the episode without "
	       "reporting it. A single call may have hit a wall, which some environments do not "
	       "count as a step; a wall does not block every call.\n"
	       "Look at the first call that was not counted, and at the server's log at that "
	       "time: an idle timeout, an episode limit, a restart.\n"
	       "Fix: raise the timeout or the limit; make the server refuse calls to a closed "
	       "environment.",
	.wants = KIND_COMPLETED | KIND_OK,
	.state_size = sizeof(struct count_stop),
	.completed = completed,
	.line = line,
	.end = end,
};
