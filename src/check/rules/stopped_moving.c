/* Rule stopped-moving: at first the environment changed and counted steps, then it did neither. */
#include "check/check.h"

#include "facts/peer.h"

#include <inttypes.h>
#include <stdio.h>

#define CALLS_MIN 3
#define KINDS_MAX 32 /* different calls; with more of them the finding is at most a warning */

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

static void note_counted(struct count_stop *t, uint64_t call, int tool)
{
	t->resumed = t->resumed || t->uncounted.count > 0;
	t->uncounted = (struct span){.count = 0};
	t->tried = 0;
	t->tools |= tool_bit(tool);
	t->counted++;
	if (t->too_many || call_bit(t, call)) {
		return;
	}
	t->too_many = t->call_count == KINDS_MAX;
	if (!t->too_many) {
		t->calls[t->call_count++] = call;
	}
}

/* The count before this step is the previous one. */
static void note_count(struct count_stop *t, const struct derived_line *m)
{
	int64_t before = t->known ? t->count : 0;
	uint64_t call = t->too_many ? 0 : peer_call_spelled(m);

	if (m->env_steps > before) {
		note_counted(t, call, m->tool);
	}
	t->last_uncounted = !m->idle && m->env_steps > 0 && m->env_steps == before &&
	                    (t->tools & tool_bit(m->tool));
	t->newest = t->last_uncounted ? call_bit(t, call) : 0;
	t->known = t->known || m->env_steps >= 0;
	t->count = m->env_steps >= 0 ? m->env_steps : t->count;
}

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	(void)r, (void)out;
	struct count_stop *t = state;
	if (p->effect == EFFECT_CHANGED) {
		t->uncounted = (struct span){.count = 0};
		t->tried = 0;
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
	}
}

/* At least two different calls were counted earlier and none is counted any more: a wall would
   not block all of them. */
static bool is_certain(const struct count_stop *t)
{
	uint32_t all = t->call_count < 32 ? ((uint32_t)1 << t->call_count) - 1 : UINT32_MAX;

	return !t->too_many && t->call_count >= 2 && t->tried == all;
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct count_stop *t = state;
	bool certain = is_certain(t);
	char calls[64] = "";

	if (r->movement != MOVEMENT_SEEN || t->uncounted.count < CALLS_MIN || t->resumed) {
		return;
	}
	if (certain) {
		snprintf(calls, sizeof(calls), ", all %zu different ones among them",
		         t->call_count);
	}
	finding_add(out, certain ? SEVERITY_ERROR : SEVERITY_WARNING, &t->uncounted, "/env_steps",
	            "the last %" PRId64 " calls succeeded but changed nothing; the environment "
	            "counted the %" PRId64
	            " calls before them%s, and its step count has stayed at %" PRId64,
	            t->uncounted.count, t->counted, calls, t->count);
}

const struct check check_stopped_moving = {
	.id = "stopped-moving",
	.title = "at first the environment changed and counted steps, then it did neither",
	.severity = SEVERITY_WARNING,
	.raised = "every call that had been counted, at least two different ones, was repeated "
		  "without effect",
	.explains = {&check_loop},
	.why = "Calls were answered ok to the end, but from some turn on neither the state nor "
	       "the environment's own step count changed. A server that closes idle environments "
	       "may keep answering for them; a proxy may answer from a cache; the environment "
	       "may have ended the episode without reporting it. A single call may have hit a "
	       "wall, which some environments do not count as a step; a wall does not block "
	       "every call.\n"
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
